// All replicas share the key of signed URLs and nonces, so that these stay valid across restarts and on every replica.
import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto"
import type { Signer } from "../../core/signing.ts"

export const hmacSigner = (octets: Uint8Array): Signer => {
  const key = createSecretKey(octets)
  const codeOf = (message: string) => createHmac("sha256", key).update(message).digest()
  return {
    sign: (message) => codeOf(message).toString("base64url"),
    verify: (message, signature) => isSame(Buffer.from(signature, "base64url"), codeOf(message)),
  }
}

const isSame = (signature: Uint8Array, expected: Uint8Array): boolean =>
  signature.length === expected.length && timingSafeEqual(signature, expected)

/** Returns the HMAC-SHA256 in lower-case hex, as webhook receivers compute it. */
export const hmacHex = (secret: string, message: string): string =>
  createHmac("sha256", secret).update(message).digest("hex")
