import { expect, test } from "vitest"
import { dayMs } from "../core/time.ts"
import { hmacSigner } from "../storage/sealing/hmac-signer.ts"
import { newClaimToken, openClaimToken } from "./claim-token.ts"

const signer = hmacSigner(new Uint8Array(32))
const subject = { claimId: "claim-0123456789abcdef", tokenId: "at-0123456789abcdef" }
const now = Date.UTC(2026, 0, 1)
const { secret, expiresAt } = newClaimToken(signer, subject, now)

test("newClaimToken returns a token for a week, which openClaimToken opens", () => {
  expect(expiresAt).toBe(now + 7 * dayMs)
  expect(secret).toMatch(/^chy_claim-/)
  expect(openClaimToken(signer, secret, expiresAt - 1)).toEqual({ ...subject, expiresAt })
})

test.each([
  ["it has expired", secret, expiresAt],
  ["it names another claim", secret.replace("claim-0", "claim-1"), now],
  ["it names another token", secret.replace("at-0", "at-1"), now],
  ["its expiry is later", secret.replace(String(expiresAt), String(expiresAt + 1)), now],
  ["it is longer", `${secret}A`, now],
  ["it is empty", "", now],
  ["it is another kind of token", `chy_${"a".repeat(43)}`, now],
])("openClaimToken returns undefined when %s", (_when, changed, at) => {
  expect(openClaimToken(signer, changed, at)).toBeUndefined()
})

test("openClaimToken returns undefined when another engine made the token", () => {
  expect(openClaimToken(hmacSigner(new Uint8Array(32).fill(1)), secret, now)).toBeUndefined()
})
