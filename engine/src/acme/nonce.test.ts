import { expect, test } from "vitest"
import { systemRuntime } from "../core/runtime.ts"
import { hmacSigner } from "../storage/hmac-signer.ts"
import { newNonce, readNonce } from "./nonce.ts"

const ground = { signer: hmacSigner(Buffer.alloc(32, "key")), scope: "mount acme" }

// certbot decodes nonces, and gives up on one that is not (RFC 8555, section 6.5.1).
test("a nonce is base64url of whole octets from its beginning to its end", () => {
  const { random } = systemRuntime()
  const nonces = Array.from({ length: 100 }, () => newNonce(ground, random, Date.now()))
  expect(nonces.map((nonce) => Buffer.from(nonce, "base64url").toString("base64url"))).toEqual(nonces)
  expect(
    new Set(nonces.map((nonce) => Buffer.from(readNonce(nonce, ground, Date.now()).digest).toString("hex"))).size,
  ).toBe(100)
})
