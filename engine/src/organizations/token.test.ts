import { describe, expect, test } from "vitest"
import { isEngineError } from "../core/errors.ts"
import type { UserId } from "../core/ids.ts"
import { hourMs } from "../core/time.ts"
import { seededRandom } from "../../testing/seeded-random.ts"
import { createToken, isExpired, isUseWorthRecording, newSecret, type TokenOwner } from "./token.ts"

const owner: TokenOwner = { kind: "user", userId: "user-1" as UserId }
const made = { id: "at-1", owner, createdBy: null, now: 1_000 }

test("a secret is a prefix that scanners know and 256 random bits", () => {
  const drawn: number[] = []
  const random = { bytes: (count: number) => (drawn.push(count), seededRandom(7).bytes(count)) }
  const secret = newSecret(random)
  expect(secret).toMatch(/^chy_[A-Za-z0-9_-]{43}$/)
  expect(drawn).toEqual([32])
  expect(Buffer.from(secret.slice(4), "base64url")).toEqual(Buffer.from(seededRandom(7).bytes(32)))
})

test.each([
  { expiresAt: null, now: Number.MAX_SAFE_INTEGER, expired: false },
  { expiresAt: 1_000, now: 999, expired: false },
  { expiresAt: 1_000, now: 1_000, expired: true },
  { expiresAt: 1_000, now: 1_001, expired: true },
])("a token that expires at $expiresAt is expired at $now: $expired", ({ expiresAt, now, expired }) => {
  expect(isExpired({ expiresAt }, now)).toBe(expired)
})

test.each([
  { lastUsedAt: null, now: 0, worth: true },
  { lastUsedAt: 0, now: hourMs - 1, worth: false },
  { lastUsedAt: 0, now: hourMs, worth: true },
])("a use at $now after one at $lastUsedAt is recorded: $worth", ({ lastUsedAt, now, worth }) => {
  expect(isUseWorthRecording(lastUsedAt, now)).toBe(worth)
})

describe("a new token", () => {
  test("has no description, expiry or use by default", () => {
    expect(createToken({}, made)).toEqual({
      id: "at-1",
      owner,
      description: "",
      createdBy: null,
      createdAt: 1_000,
      lastUsedAt: null,
      expiresAt: null,
    })
  })

  test.each([
    { input: { expiresAt: 1_000 }, fields: ["expiresAt"] },
    { input: { expiresAt: 1_001 }, fields: undefined },
    { input: { description: "x".repeat(255) }, fields: undefined },
    { input: { description: "x".repeat(256), expiresAt: 0 }, fields: ["description", "expiresAt"] },
  ])("with invalid attributes is rejected: $fields", ({ input, fields }) => {
    let found: unknown
    try {
      createToken(input, made)
    } catch (error) {
      found = isEngineError(error, "invalid") && error.faults.map(({ field }) => field?.join("."))
    }
    expect(found).toEqual(fields)
  })
})
