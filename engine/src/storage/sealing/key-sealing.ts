// Sealing of secrets: AES-256-GCM under a key of a ring (docs/decisions/sealing.md).
// A sealed value is version (1 byte) · key id (8) · nonce (12) · ciphertext · tag (16).
// The tag also covers the header and the record's path: a value moved to another record does not open.
// The first key of the ring seals and every key opens, so that keys rotate while servers run.
import { createCipheriv, createDecipheriv, hash } from "node:crypto"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { releaseMemory } from "../../core/chunks.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Sealer } from "../../core/sealing.ts"
import { UnusableStore } from "../sql/unusable-store.ts"

export interface SealKey {
  /** Hex of the first 8 bytes of a digest of the key. It identifies the key and reveals nothing of it. */
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

/** Returns the bytes that every value sealed under this key begins with. */
export const sealHeader = ({ id }: Pick<SealKey, "id">): Uint8Array =>
  Buffer.concat([Buffer.of(version), Buffer.from(id, "hex")])

/** Returns the path of one chunk of a document that `sealDocument` sealed; `index` begins at 0. */
export const chunkPath = (path: string, index: number, count: number): string => `${path}#${index + 1}/${count}`

/**
 * Returns the path of one chunk of a streamed document; `index` begins at 0. Chunks are sealed before their number is known, so the path of
 * the last one marks the end. A missing chunk is thereby detected.
 */
export const streamChunkPath = (path: string, index: number, isLast: boolean): string =>
  `${path}#${index + 1}${isLast ? "/end" : ""}`

/**
 * Parses keys in base64 of 32 bytes each, one per line or separated by commas (for an environment variable). The first is the current key.
 * `#` begins a comment. Throws `UnusableStore`, whose message never contains the input.
 */
export function parseKeyRing(text: string): KeyRing {
  const words = text
    .split("\n")
    .flatMap((line) => line.replace(/#.*/, "").split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "")
  const keys = words.map((word, index) => parseKey(word, index))
  const [current] = keys
  if (current === undefined) throw new UnusableStore("No seal key was given; it must be the base64 of 32 random bytes.")
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

/** Returns the plain value, or the error if it does not open. */
export function tryOpen(sealer: Sealer, path: string, sealed: Uint8Array): Uint8Array | BrokenSeal | UnknownSealKey {
  try {
    return sealer.open(path, sealed)
  } catch (error) {
    if (error instanceof BrokenSeal || error instanceof UnknownSealKey) return error
    throw error
  }
}

/** Returns the key id in hex, or undefined for a format version that this release does not know. */
export const sealKeyIdOf = (sealed: Uint8Array): string | undefined =>
  sealed[0] === version ? Buffer.from(sealed.subarray(1, headerBytes)).toString("hex") : undefined

/**
 * Compresses, splits and seals a document. Each chunk is bound to its position and to the number of chunks, so that a missing one is
 * detected.
 */
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
/** Makes a sealed chunk at most 1 MiB. */
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
    // In GCM mode, `final` returns no bytes and only verifies the tag.
    decipher.final()
    return plain
  } catch {
    throw new BrokenSeal(path, "it was changed, or belongs to another record")
  }
}

function parseKey(word: string, index: number): SealKey {
  const secret = Buffer.from(word, "base64")
  // Node skips invalid base64 characters. A key that does not round-trip was mistyped.
  if (secret.length !== keyBytes || secret.toString("base64").replaceAll("=", "") !== word.replaceAll("=", "")) {
    throw new UnusableStore(`Seal key ${index + 1} is not the base64 of ${keyBytes} bytes.`)
  }
  return {
    id: hash("sha256", Buffer.concat([Buffer.from("chancery seal key\0"), secret])).slice(0, idBytes * 2),
    secret,
  }
}
