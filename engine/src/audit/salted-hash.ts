import { hash } from "node:crypto"

export type SaltedHash = (text: string) => string

/**
 * HMAC-SHA256 (RFC 2104), in hex. Two one-shot hashes cost half of what an HMAC object does, and every text of every
 * request passes through here.
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
    // UTF-8 takes at most three bytes for each unit of a string.
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
