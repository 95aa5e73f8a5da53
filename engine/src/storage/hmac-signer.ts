// The key of signed addresses and of nonces is shared by all replicas, so that each stays good across restarts and wherever it is sent to.
import { createCipheriv, createHmac, createSecretKey, timingSafeEqual } from "node:crypto"
import { type BlockSigner, blockOctets, type Signer } from "../core/signing.ts"

export const hmacSigner = (octets: Uint8Array): Signer => {
  const key = createSecretKey(octets)
  const codeOf = (message: string) => createHmac("sha256", key).update(message).digest()
  return {
    sign: (message) => codeOf(message).toString("base64url"),
    verify: (message, signature) => isSame(Buffer.from(signature, "base64url"), codeOf(message)),
    forBlocks: (purpose) => blockSigner(codeOf(`blocks\n${purpose}`)),
  }
}

/**
 * CBC-MAC with AES-256: for messages of one length it needs nothing more to be a message authentication code (Bellare, Kilian, Rogaway
 * 1994), and a message of one block is only enciphered. One cipher serves for good, because ECB keeps nothing from block to block.
 */
function blockSigner(key: Uint8Array): BlockSigner {
  const cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false)
  const sign = (block: Uint8Array) => {
    // Half a block would wait in the cipher for the other half.
    if (block.length !== blockOctets) throw new RangeError(`a block has ${blockOctets} octets`)
    return cipher.update(block)
  }
  return { sign, verify: (block, code) => isSame(code, sign(block)) }
}

const isSame = (given: Uint8Array, expected: Uint8Array): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected)

/** HMAC-SHA256 as lower-case hex, which receivers of webhooks compare with (events/webhook-delivery.ts). */
export const hmacHex = (secret: string, message: string): string =>
  createHmac("sha256", secret).update(message).digest("hex")
