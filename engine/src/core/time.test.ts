import { expect, test } from "vitest"
import { formatInstant, parseInstant } from "./time.ts"

test.each([
  { text: "2025-01-01T00:00:00Z", instant: "2025-01-01T00:00:00.000Z" },
  { text: "2025-01-01T00:00Z", instant: "2025-01-01T00:00:00.000Z" },
  { text: "2030-01-01T00:00:00+02:00", instant: "2029-12-31T22:00:00.000Z" },
  { text: "2025-01-01T00:00:00.123456789Z", instant: "2025-01-01T00:00:00.123Z" },
  { text: "2024-02-29T23:59:59-0500", instant: "2024-03-01T04:59:59.000Z" },
  { text: "0001-01-01T00:00:00Z", instant: "0001-01-01T00:00:00.000Z" },
])("$text is $instant", ({ text, instant }) => {
  expect(formatInstant(parseInstant(text) ?? Number.NaN)).toBe(instant)
})

test.each([
  "",
  "2025-01-01",
  "2025-01-01T00:00:00",
  "2025-02-30T00:00:00Z",
  "2025-02-29T00:00:00+01:00",
  "2025-04-31T00:00:00Z",
  "2025-00-01T00:00:00Z",
  "2025-13-01T00:00:00Z",
  "2025-01-01T25:00:00Z",
  "+275760-09-13T00:00:00Z",
  "tomorrow",
])("%j is no instant", (text) => {
  expect(parseInstant(text)).toBeUndefined()
})
