import { createHmac } from "node:crypto"
import { array, assert, nat, oneof, property, string, uint8Array } from "fast-check"
import { expect, test } from "vitest"
import { saltedHash } from "./salted-hash.ts"

const salts = uint8Array({ minLength: 1, maxLength: 64 })

test("the hash is HMAC-SHA256 of the text in UTF-8, for any length and any previous text", () => {
  const text = oneof(
    string({ unit: "binary", maxLength: 200 }),
    nat({ max: 3_000 }).map((length) => "ä€😀x".repeat(length)),
  )
  assert(
    property(salts, array(text, { minLength: 1, maxLength: 5 }), (salt, texts) => {
      const hash = saltedHash(salt)
      for (const each of texts) expect(hash(each)).toBe(createHmac("sha256", salt).update(each).digest("hex"))
    }),
    { numRuns: 200 },
  )
})

test("the hash is correct at the buffer size and one byte above", () => {
  const salt = Buffer.alloc(32, 1)
  const hash = saltedHash(salt)
  for (const length of [1_364, 1_365, 1_366, 4_096, 4_097]) {
    const text = "€".repeat(length)
    expect(hash(text)).toBe(createHmac("sha256", salt).update(text).digest("hex"))
  }
})

test("a salt longer than a block is rejected", () => {
  expect(() => saltedHash(new Uint8Array(65))).toThrow("longer than a block")
})
