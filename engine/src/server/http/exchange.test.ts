import { expect, test } from "vitest"
import { requestIdOf } from "./exchange.ts"

const random = { bytes: (count: number) => new Uint8Array(count).fill(0xab) }
const fresh = "abababab-abab-4bab-abab-abababababab"

test.each([
  { given: "7f3c-1", expected: "7f3c-1", why: "the client's id is kept" },
  { given: "a".repeat(128), expected: "a".repeat(128), why: "128 characters are accepted" },
  { given: null, expected: fresh, why: "the client sent none" },
  { given: "", expected: fresh, why: "the id is empty" },
  { given: "a".repeat(129), expected: fresh, why: "the id is longer than the maximum" },
  { given: 'x" level="error', expected: fresh, why: "the id could inject a log line" },
  { given: "id\u0000", expected: fresh, why: "the id contains a control character" },
])("the request id of $given is $expected: $why", ({ given, expected }) => {
  expect(requestIdOf(given, random)).toBe(expected)
})
