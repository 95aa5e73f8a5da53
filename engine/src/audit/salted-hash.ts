import { hash } from "node:crypto"

export type SaltedHash = (text: string) => string

/**
 * Returns a function that computes HMAC-SHA256 (RFC 2104) in hex. Two one-shot hashes cost half of an HMAC object, and every text of every
 * request is hashed. Throws if the salt is longer than 64 bytes.
 */
export function saltedHash(salt: Uint8Array): SaltedHash {
  if (salt.length > blockBytes) throw new Error("the salt is longer than a block")
  const inner = Buffer.alloc(blockBytes + shortBytes, innerPad)
  const outer = Buffer.alloc(blockBytes + digestBytes, outerPad)
  for (const [index, byte] of salt.entries()) {
    inner[index] = byte ^ innerPad
    outer[index] = byte ^ outerPad
  }
  const prefix = Buffer.from(inner.subarray(0, blockBytes))
  return (text) => {
    // UTF-8 needs at most three bytes for each UTF-16 code unit.
    const message =
      text.length * 3 <= shortBytes
        ? inner.subarray(0, blockBytes + inner.write(text, blockBytes))
        : Buffer.concat([prefix, Buffer.from(text)])
    outer.write(hash("sha256", message, "binary"), blockBytes, "binary")
    return hash("sha256", outer, "hex")
  }
}

const blockBytes = 64
const digestBytes = 32
const innerPad = 0x36
const outerPad = 0x5c
const shortBytes = 4096
