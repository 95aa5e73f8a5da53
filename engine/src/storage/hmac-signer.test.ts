import { createCipheriv } from "node:crypto"
import { expect, test } from "vitest"
import { hmacSigner } from "./hmac-signer.ts"

const signer = hmacSigner(Buffer.alloc(32, 1))
const block = Buffer.from("sixteen octets..")

test("the code of a block is the same each time, and another for another purpose, key or block", () => {
  const codes = [
    signer.forBlocks("one").sign(block),
    signer.forBlocks("other").sign(block),
    hmacSigner(Buffer.alloc(32, 2)).forBlocks("one").sign(block),
    signer.forBlocks("one").sign(Buffer.from("other octets....")),
  ].map((code) => Buffer.from(code).toString("hex"))
  expect(new Set(codes).size).toBe(4)
  const same = signer.forBlocks("one")
  expect([1, 2, 3].map(() => Buffer.from(same.sign(block)).toString("hex"))).toEqual([codes[0], codes[0], codes[0]])
})

test("a block is enciphered under a key that is derived for the purpose", () => {
  const key = Buffer.from(signer.sign("blocks\none"), "base64url")
  const cipher = createCipheriv("aes-256-cbc", key, Buffer.alloc(16)).setAutoPadding(false)
  expect(signer.forBlocks("one").sign(block)).toEqual(Buffer.concat([cipher.update(block), cipher.final()]))
})

test("a code is that of its block alone, and of all of it", () => {
  const blocks = signer.forBlocks("one")
  const code = blocks.sign(block)
  expect(blocks.verify(block, code)).toBe(true)
  expect(blocks.verify(Buffer.from("other octets...."), code)).toBe(false)
  expect(blocks.verify(block, code.subarray(0, 15))).toBe(false)
  expect(blocks.verify(block, new Uint8Array())).toBe(false)
})

test("what is no block is refused, and is not kept for the next one", () => {
  const blocks = signer.forBlocks("one")
  const code = blocks.sign(block)
  for (const length of [0, 15, 17, 32]) expect(() => blocks.sign(Buffer.alloc(length))).toThrow(RangeError)
  expect(blocks.sign(block)).toEqual(code)
})
