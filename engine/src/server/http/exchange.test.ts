import { expect, test } from "vitest"
import { requestIdOf } from "./exchange.ts"

const random = { bytes: (count: number) => new Uint8Array(count).fill(0xab) }
const fresh = "abababab-abab-4bab-abab-abababababab"

test.each([
  { given: "7f3c-1", expected: "7f3c-1", why: "the caller's own id is kept" },
  { given: "a".repeat(128), expected: "a".repeat(128), why: "128 characters are enough for every tracer" },
  { given: null, expected: fresh, why: "none was given" },
  { given: "", expected: fresh, why: "it is empty" },
  { given: "a".repeat(129), expected: fresh, why: "it is too long for a log line" },
  { given: 'x" level="error', expected: fresh, why: "it could forge a log line" },
  { given: "id\u0000", expected: fresh, why: "it holds a control character" },
])("the request id of $given is $expected: $why", ({ given, expected }) => {
  expect(requestIdOf(given, random)).toBe(expected)
})
