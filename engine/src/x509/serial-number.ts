// Serial numbers of certificates (RFC 5280, section 4.1.2.2): positive, at most 20 octets, drawn at random.
import type { RandomSource } from "../core/random.ts"

declare const brand: unique symbol
/** The octets of the magnitude as lower-case hex joined by ":", without leading zeros: `4f:00:a1`. */
export type SerialNumber = string & { readonly [brand]: "serial number" }

const octetsMaximum = 20

/** 159 random bits: all that 20 octets hold of a positive INTEGER. Unique by constraint of the store, not by chance alone. */
export function newSerialNumber(random: RandomSource): SerialNumber {
  const octets = random.bytes(octetsMaximum)
  octets[0] = (octets[0] ?? 0) & 0x7f
  const serialNumber = serialNumberOf(octets)
  // A source that yields 159 zero bits is broken, and drawing again would not mend it.
  if (serialNumber === undefined) throw new Error("The random source yields nothing but zeros.")
  return serialNumber
}

/** Of a magnitude, big-endian, leading zeros allowed. Undefined for zero and for more than 20 octets. */
export function serialNumberOf(magnitude: Uint8Array): SerialNumber | undefined {
  let start = 0
  while (start < magnitude.length && magnitude[start] === 0) start += 1
  const length = magnitude.length - start
  if (length === 0 || length > octetsMaximum) return undefined
  const hex = Buffer.from(magnitude.buffer, magnitude.byteOffset + start, length).toString("hex")
  let text = hex.slice(0, 2)
  for (let at = 2; at < hex.length; at += 2) text += `:${hex.slice(at, at + 2)}`
  return text as SerialNumber
}

/** Of octets that were a serial number when they were kept. */
export function keptSerialNumber(octets: Uint8Array): SerialNumber {
  const serialNumber = serialNumberOf(octets)
  if (serialNumber === undefined) throw new Error("what was kept as a serial number is none")
  return serialNumber
}

/** Octets of the magnitude, big-endian; the first is not zero. */
export const serialNumberOctets = (serialNumber: SerialNumber): Uint8Array =>
  Buffer.from(serialNumber.replaceAll(":", ""), "hex")

/** Sign octet included, some tools write 21 octets. */
const text = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){0,19})?$/i

/** Hex octets in either case, joined by ":" or "-" throughout. Undefined when the text is no serial number. */
export function parseSerialNumber(given: string): SerialNumber | undefined {
  return text.test(given) ? serialNumberOf(Buffer.from(given.replaceAll(/[:-]/g, ""), "hex")) : undefined
}
