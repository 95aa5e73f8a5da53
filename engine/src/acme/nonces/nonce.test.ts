import { expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { hmacSigner } from "../../storage/sealing/hmac-signer.ts"
import { minuteMs } from "../../core/time.ts"
import { endOfNonces, newNonce, readNonce } from "./nonce.ts"

const authorityOf = (scope: string, keyOctet = 1) => ({ signer: hmacSigner(Buffer.alloc(32, keyOctet)), scope })
const ground = authorityOf("mnt-1 acme")
const random = { bytes: (count: number) => Buffer.alloc(count, 7) }

test("a nonce contains its directory and its expiry, and has a unique digest", () => {
  const nonce = newNonce(ground, random, 0)
  expect(nonce).toMatch(/^[\w-]+$/)
  const read = readNonce(nonce, ground, 60 * minuteMs - 1)
  expect(read.expiresAt).toBe(60 * minuteMs)
  const other = newNonce(ground, { bytes: (count) => Buffer.alloc(count, 8) }, 0)
  expect(Buffer.compare(readNonce(other, ground, 0).digest, read.digest)).not.toBe(0)
})

const nonce = newNonce(ground, random, 0)
test.each([
  ["too old", nonce, ground, 60 * minuteMs],
  ["of another directory", nonce, authorityOf("mnt-1 roles/web/acme"), 0],
  ["of another mount", nonce, authorityOf("mnt-2 acme"), 0],
  ["of another server", nonce, authorityOf("mnt-1 acme", 2), 0],
  ["changed", `B${nonce.slice(1)}`, ground, 0],
  ["changed in its code", nonce.slice(0, 40) + (nonce.endsWith("AAA") ? "BBB" : "AAA"), ground, 0],
  ["cut short", nonce.slice(0, 30), ground, 0],
  ["cut to what is signed", nonce.slice(0, 22), ground, 0],
  ["longer", `${nonce}A`, ground, 0],
  ["empty", "", ground, 0],
  ["no base64url", `${nonce} `, ground, 0],
  ["[F-P15] of a time when the clock was ahead", newNonce(ground, random, 24 * 60 * minuteMs), ground, 0],
])("readNonce rejects a nonce that is %s", (_why, text, where, now) => {
  expect(() => readNonce(text, where, now)).toThrow(
    expect.objectContaining({ problem: expect.objectContaining({ type: "badNonce" }) }),
  )
})

test("a restarted server with the same key accepts nonces issued before", () => {
  expect(readNonce(nonce, authorityOf("mnt-1 acme"), 0)).toEqual(readNonce(nonce, ground, 0))
})

test.each([
  { read: "before it ends", atMs: 60 * minuteMs - 1, isOver: false },
  { read: "when it ends", atMs: 60 * minuteMs, isOver: true },
  { read: "later", atMs: 61 * minuteMs, isOver: true },
])("endOfNonces sorts after the digest of an expired nonce only: $read", ({ atMs, isOver }) => {
  expect(Buffer.compare(readNonce(nonce, ground, 0).digest, endOfNonces(atMs)) < 0).toBe(isOver)
})

// certbot decodes nonces, and fails on one that is not base64url (RFC 8555, section 6.5.1).
test("a nonce consists of base64url without padding", () => {
  const own = systemRuntime().random
  const nonces = Array.from({ length: 100 }, () => newNonce(ground, own, Date.now()))
  expect(nonces.map((nonce) => Buffer.from(nonce, "base64url").toString("base64url"))).toEqual(nonces)
  expect(
    new Set(nonces.map((nonce) => Buffer.from(readNonce(nonce, ground, Date.now()).digest).toString("hex"))).size,
  ).toBe(100)
})
