// Packets of OpenPGP (RFC 4880, section 4): the part that keys and detached signatures use. Lengths are checked before bytes are read.
import { ToolError } from "./tool-error.ts"

export interface Packet {
  readonly tag: number
  readonly body: Buffer
}

/** Tags of RFC 4880, section 4.3. */
export const packetTags = { signature: 2, secretKey: 5, publicKey: 6, userId: 13, publicSubkey: 14 } as const

/** A key with many certifications has a few hundred packets. */
const maxPackets = 2_000

const malformed = (problem: string): ToolError => new ToolError(`OpenPGP data is malformed: ${problem}`)

/** Reads from the start of a buffer and throws if it ends too early. */
export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** Number of bytes that were read. */
  get position(): number {
    return this.#at
  }

  take(length: number): Buffer {
    if (this.#bytes.length - this.#at < length) throw malformed("it is truncated")
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  uint8(): number {
    return this.take(1).readUInt8()
  }

  uint16(): number {
    return this.take(2).readUInt16BE()
  }

  uint32(): number {
    return this.take(4).readUInt32BE()
  }

  /** Reads a multiprecision integer (RFC 4880, section 3.2) without leading zeros. */
  integer(): Buffer {
    const bits = this.uint16()
    return this.take(Math.ceil(bits / 8))
  }
}

/** Splits bytes into packets. Partial and indeterminate lengths are rejected: keys and signatures never have them. */
export function readPackets(bytes: Buffer): readonly Packet[] {
  const reader = new ByteReader(bytes)
  const packets: Packet[] = []
  while (!reader.isAtEnd) {
    if (packets.length === maxPackets) throw malformed(`it has more than ${maxPackets} packets`)
    const first = reader.uint8()
    if ((first & 0x80) === 0) throw malformed("a packet has no tag")
    const isNewFormat = (first & 0x40) !== 0
    const tag = isNewFormat ? first & 0x3f : (first >> 2) & 0x0f
    const length = isNewFormat ? newLength(reader) : oldLength(reader, first & 0x03)
    packets.push({ tag, body: reader.take(length) })
  }
  return packets
}

function oldLength(reader: ByteReader, kind: number): number {
  if (kind === 0) return reader.uint8()
  if (kind === 1) return reader.uint16()
  if (kind === 2) return reader.uint32()
  throw malformed("a packet has no length")
}

function newLength(reader: ByteReader): number {
  const first = reader.uint8()
  if (first < 192) return first
  if (first < 224) return ((first - 192) << 8) + reader.uint8() + 192
  if (first === 255) return reader.uint32()
  throw malformed("a packet has a partial length")
}

export interface Subpacket {
  readonly type: number
  readonly isCritical: boolean
  readonly body: Buffer
}

/** Splits an area of a signature into subpackets (RFC 4880, section 5.2.3.1). */
export function readSubpackets(bytes: Buffer): readonly Subpacket[] {
  const reader = new ByteReader(bytes)
  const subpackets: Subpacket[] = []
  while (!reader.isAtEnd) {
    const first = reader.uint8()
    const length = first < 192 ? first : first < 255 ? ((first - 192) << 8) + reader.uint8() + 192 : reader.uint32()
    if (length === 0) throw malformed("a subpacket is empty")
    const type = reader.uint8()
    subpackets.push({ type: type & 0x7f, isCritical: (type & 0x80) !== 0, body: reader.take(length - 1) })
  }
  return subpackets
}

const armorBlock =
  /-----BEGIN PGP ([A-Z ]+)-----\r?\n((?:[^\n:]+:[^\n]*\n)*)\s*\n?([A-Za-z0-9+/=\s]*?)-----END PGP \1-----/g

/**
 * Returns the packets of an armored text, or of binary data. The armor's own checksum is ignored, as RFC 9580, section 6.1 demands:
 * only signatures protect the data.
 */
export function readPacketsOrArmor(bytes: Buffer): readonly Packet[] {
  const text = bytes.toString("latin1")
  if (!text.includes("-----BEGIN PGP ")) return readPackets(bytes)
  const blocks = [...text.matchAll(armorBlock)]
  if (blocks.length === 0) throw malformed("its armor is incomplete")
  return blocks.flatMap(([, , , content = ""]) =>
    // The checksum is the last line, `=` and four characters.
    readPackets(Buffer.from(content.replace(/^=[A-Za-z0-9+/]{4}\s*$/m, ""), "base64")),
  )
}
