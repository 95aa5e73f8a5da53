// The key of signed addresses and of nonces is shared by all replicas, so that each stays good across restarts and wherever it is sent to.
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

const isSame = (given: Uint8Array, expected: Uint8Array): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected)

/** HMAC-SHA256 as lower-case hex, which receivers of webhooks compare with (events/webhook-delivery.ts). */
export const hmacHex = (secret: string, message: string): string =>
  createHmac("sha256", secret).update(message).digest("hex")
