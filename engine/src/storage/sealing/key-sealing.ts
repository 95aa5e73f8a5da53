// Sealing of secrets: AES-256-GCM under a key of a ring (docs/decisions/sealing.md). A sealed value is
//   version (1 byte) · key id (8) · nonce (12) · ciphertext · tag (16).
// The tag also covers the header and the record's path: a value moved to another record does not open.
// The first key of the ring seals and every key opens, so that keys rotate while servers run.
import { createCipheriv, createDecipheriv, hash } from "node:crypto"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { releaseMemory } from "../../core/chunks.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Sealer } from "../../core/sealing.ts"
import { UnusableStore } from "../sql/unusable-store.ts"

export interface SealKey {
  /** Hex of the first 8 bytes of a digest of the key: it tells keys apart and gives nothing of them away. */
  readonly id: string
  readonly secret: Uint8Array
}

export interface KeyRing {
  readonly current: SealKey
  readonly keys: ReadonlyMap<string, SealKey>
}

export const keySealer = (ring: KeyRing, random: RandomSource): Sealer => ({
  seal: (path, plain) => seal(ring.current, path, plain, random),
  open: (path, sealed) => open(ring, path, sealed),
})

/** The beginning of every value that this key has sealed. */
export const sealHeader = ({ id }: Pick<SealKey, "id">): Uint8Array =>
  Buffer.concat([Buffer.of(version), Buffer.from(id, "hex")])

/** The path of one chunk of a document that `sealDocument` has sealed; the first one is 0. */
export const chunkPath = (path: string, index: number, count: number): string => `${path}#${index + 1}/${count}`

/**
 * The path of one chunk of a document that came as a stream, which was sealed before it was known how many there are: that
 * none is missing at the end shows by the last one.
 */
export const streamChunkPath = (path: string, index: number, isLast: boolean): string =>
  `${path}#${index + 1}${isLast ? "/end" : ""}`

/**
 * Keys as text: base64 of 32 bytes each, one per line (or separated by commas, for an environment variable), the
 * current one first; `#` begins a comment. Errors never repeat what was given.
 */
export function parseKeyRing(text: string): KeyRing {
  const words = text
    .split("\n")
    .flatMap((line) => line.replace(/#.*/, "").split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "")
  const keys = words.map((word, index) => parseKey(word, index))
  const [current] = keys
  if (current === undefined) throw new UnusableStore("No seal key was given: it is the base64 of 32 random bytes.")
  return { current, keys: new Map(keys.map((key) => [key.id, key])) }
}

export const newKeyText = (random: RandomSource): string => Buffer.from(random.bytes(keyBytes)).toString("base64")

export class BrokenSeal extends Error {
  constructor(path: string, reason: string) {
    super(`the sealed value of ${path} does not open: ${reason}`)
    this.name = "BrokenSeal"
  }
}

export class UnknownSealKey extends Error {
  readonly keyId: string
  constructor(path: string, keyId: string) {
    super(`the value of ${path} was sealed under key ${keyId}, which is not among the known seal keys`)
    this.name = "UnknownSealKey"
    this.keyId = keyId
  }
}

/** The plain value, or why it does not open. */
export function tryOpen(sealer: Sealer, path: string, sealed: Uint8Array): Uint8Array | BrokenSeal | UnknownSealKey {
  try {
    return sealer.open(path, sealed)
  } catch (error) {
    if (error instanceof BrokenSeal || error instanceof UnknownSealKey) return error
    throw error
  }
}

/** Hex; undefined for what no release has sealed yet. */
export const sealKeyIdOf = (sealed: Uint8Array): string | undefined =>
  sealed[0] === version ? Buffer.from(sealed.subarray(1, headerBytes)).toString("hex") : undefined

/** Compressed, cut and sealed; each chunk is bound to its place and to their number, so that none can go missing. */
export function sealDocument(sealer: Sealer, path: string, plain: Uint8Array): readonly Uint8Array[] {
  const compressed = zstdCompressSync(plain)
  const count = Math.max(1, Math.ceil(compressed.length / chunkBytes))
  return Array.from({ length: count }, (_, index) =>
    sealer.seal(chunkPath(path, index, count), compressed.subarray(index * chunkBytes, (index + 1) * chunkBytes)),
  )
}

export function openDocument(sealer: Sealer, path: string, chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 0) throw new BrokenSeal(path, "it has no chunks")
  const opened = chunks.map((chunk, index) => sealer.open(chunkPath(path, index, chunks.length), chunk))
  return zstdDecompressSync(Buffer.concat(opened))
}

const version = 1
const idBytes = 8
const nonceBytes = 12
const tagBytes = 16
const keyBytes = 32
const headerBytes = 1 + idBytes
const overheadBytes = headerBytes + nonceBytes + tagBytes
/** A sealed chunk is at most 1 MiB. */
export const chunkBytes = 1024 * 1024 - overheadBytes

function seal(key: SealKey, path: string, plain: Uint8Array, random: RandomSource): Uint8Array {
  const header = sealHeader(key)
  const nonce = random.bytes(nonceBytes)
  const cipher = createCipheriv("aes-256-gcm", key.secret, nonce)
  cipher.setAAD(Buffer.concat([header, Buffer.from(path)]))
  const encrypted = cipher.update(plain)
  const sealed = Buffer.concat([header, nonce, encrypted, cipher.final(), cipher.getAuthTag()])
  releaseMemory(encrypted)
  return sealed
}

function open(ring: KeyRing, path: string, sealed: Uint8Array): Uint8Array {
  if (sealed.length < overheadBytes) throw new BrokenSeal(path, "it is too short")
  if (sealed[0] !== version) throw new BrokenSeal(path, "a newer release sealed it, or it is not a sealed value")
  const header = sealed.subarray(0, headerBytes)
  const keyId = Buffer.from(header.subarray(1)).toString("hex")
  const key = ring.keys.get(keyId)
  if (key === undefined) throw new UnknownSealKey(path, keyId)
  const nonce = sealed.subarray(headerBytes, headerBytes + nonceBytes)
  const decipher = createDecipheriv("aes-256-gcm", key.secret, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.concat([header, Buffer.from(path)]))
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  try {
    const plain = decipher.update(sealed.subarray(headerBytes + nonceBytes, -tagBytes))
    // In this mode nothing is left for the end but to compare the tags.
    decipher.final()
    return plain
  } catch {
    throw new BrokenSeal(path, "it was changed, or belongs to another record")
  }
}

function parseKey(word: string, index: number): SealKey {
  const secret = Buffer.from(word, "base64")
  // Node skips what is not base64; a key that does not come back the same was mistyped.
  if (secret.length !== keyBytes || secret.toString("base64").replaceAll("=", "") !== word.replaceAll("=", "")) {
    throw new UnusableStore(`Seal key ${index + 1} is not the base64 of ${keyBytes} bytes.`)
  }
  return {
    id: hash("sha256", Buffer.concat([Buffer.from("chancery seal key\0"), secret])).slice(0, idBytes * 2),
    secret,
  }
}
