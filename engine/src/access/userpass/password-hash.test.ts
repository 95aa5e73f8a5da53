import { expect, test } from "vitest"
import {
  bcryptHashFaults,
  formatScryptHash,
  parsePasswordHash,
  passwordFaults,
  unmatchedHash,
} from "./password-hash.ts"

const body = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"
const salt = new Uint8Array(16).fill(7)
const key = new Uint8Array(32).fill(9)

test("a hash of scrypt keeps its parameters when it is written and read", () => {
  const hash = { costBits: 15, blockSize: 8, parallelism: 3, salt, key }
  const text = formatScryptHash(hash)
  expect(text).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  const parsed = parsePasswordHash(text)
  expect(parsed).toMatchObject({ kind: "scrypt", costBits: 15, blockSize: 8, parallelism: 3 })
  expect(parsed).toMatchObject({ salt: Buffer.from(salt), key: Buffer.from(key) })
})

test("the hash for unknown users costs as much as a new one", () => {
  expect(parsePasswordHash(unmatchedHash)).toMatchObject({ kind: "scrypt", costBits: 14, blockSize: 8, parallelism: 5 })
})

test.each([
  ["bcrypt of PHP", `$2y$10$${body}`, "bcrypt"],
  ["bcrypt of OpenBSD", `$2b$04$${body}`, "bcrypt"],
  ["bcrypt of Python", `$2a$13$${body}`, "bcrypt"],
  ["too costly", `$2b$14$${body}`, undefined],
  ["too cheap", `$2b$03$${body}`, undefined],
  ["faulty bcrypt of 2011", `$2x$10$${body}`, undefined],
  ["too short", `$2b$10$${body.slice(1)}`, undefined],
  ["followed by a line break", `$2b$10$${body}\n`, undefined],
  ["of another kind", "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA", undefined],
  ["a password", "secret", undefined],
  ["empty", "", undefined],
])("parsePasswordHash reads text when it is %s", (_, text, kind) => {
  expect(parsePasswordHash(text)?.kind).toBe(kind)
})

test.each([
  ["is a hash", `$2y$12$${body}`, undefined],
  ["costs too much", `$2y$14$${body}`, '"password_hash" must have a cost from 4 to 13'],
  ["costs as much as can be written", `$2y$99$${body}`, '"password_hash" must have a cost from 4 to 13'],
  ["is a password", "secret", '"password_hash" must be a hash of bcrypt, which begins with "$2a$", "$2b$" or "$2y$"'],
  [
    "is of scrypt",
    unmatchedHash,
    '"password_hash" must be a hash of bcrypt, which begins with "$2a$", "$2b$" or "$2y$"',
  ],
])("bcryptHashFaults judges a text when it %s", (_, text, detail) => {
  expect(bcryptHashFaults(text)).toEqual(detail === undefined ? [] : [{ field: ["passwordHash"], detail }])
})

test.each([
  ["is one character", "x", undefined],
  ["has the maximum length", "x".repeat(1_024), undefined],
  ["is not ASCII", "pässwörd 🔑", undefined],
  ["is empty", "", '"password" must not be empty'],
  ["is too long", "x".repeat(1_025), '"password" must not be longer than 1024 bytes'],
  ["is too long in UTF-8", "ä".repeat(513), '"password" must not be longer than 1024 bytes'],
  ["has a NUL", "a\0b", '"password" must not contain the character U+0000'],
  ["has half a surrogate pair", "a\ud83d", '"password" must not contain an unpaired surrogate'],
])("passwordFaults judges a password when it %s", (_, password, detail) => {
  expect(passwordFaults(password)).toEqual(detail === undefined ? [] : [{ field: ["password"], detail }])
})
