import * as fc from "fast-check"
import { expect, test } from "vitest"
import {
  formatDuration,
  formatInstant,
  formatInstantOrOffset,
  instantAt,
  parseDuration,
  parseInstant,
  parseInstantOrOffset,
} from "./time.ts"

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
])("%j is not a valid instant", (text) => {
  expect(parseInstant(text)).toBeUndefined()
})

test.each([
  ["90s", 90_000, "1m30s"],
  ["1h30m", 5_400_000, "1h30m"],
  ["2160h0m0s", 7_776_000_000, "2160h"],
  ["7d", 604_800_000, "168h"],
  ["2w", 1_209_600_000, "336h"],
  ["1.5h", 5_400_000, "1h30m"],
  ["500ms", 500, "500ms"],
  ["0s", 0, "0s"],
  ["0h0m0s", 0, "0s"],
])("%s is %i ms, formatted as %s", (text, durationMs, written) => {
  expect(parseDuration(text)).toBe(durationMs)
  expect(formatDuration(durationMs)).toBe(written)
})

test.each([
  "",
  "90",
  "h",
  "1x",
  "-1h",
  "1h ",
  "1 h",
  "1.h",
  ".5h",
  "1e3s",
  "1h-30m",
  "9".repeat(30) + "h",
  "1s".repeat(40),
])("%j is not a valid duration", (text) => {
  expect(parseDuration(text)).toBeUndefined()
})

test("any formatted duration is parsed as the same duration", () => {
  fc.assert(
    fc.property(fc.nat({ max: 10 ** 14 }), (durationMs) => {
      expect(parseDuration(formatDuration(durationMs))).toBe(durationMs)
    }),
  )
})

test.each([
  ["2030-01-31T12:00:00Z", Date.UTC(2030, 0, 31, 12), "2030-01-31T12:00:00.000Z"],
  ["30d", { fromNowMs: 2_592_000_000 }, "720h"],
  ["1h30m", { fromNowMs: 5_400_000 }, "1h30m"],
  ["-7d", { fromNowMs: -604_800_000 }, "-168h"],
  ["0s", { fromNowMs: 0 }, "0s"],
  ["-0s", { fromNowMs: 0 }, "0s"],
])("[F-P17] %s is parsed as a time, or a time relative to now", (text, bound, written) => {
  expect(parseInstantOrOffset(text)).toEqual(bound)
  expect(formatInstantOrOffset(bound)).toBe(written)
  expect(parseInstantOrOffset(written)).toEqual(bound)
})

test.each(["", "30", "-", "--1d", "+1d", "1 d", "tomorrow", "-2030-01-31T12:00:00Z"])(
  "[F-P17] %j is not a time or a duration",
  (text) => {
    expect(parseInstantOrOffset(text)).toBeUndefined()
  },
)

test("[F-P17] a relative time is counted from the clock, within the range of dates", () => {
  expect(instantAt(5, 1_000)).toBe(5)
  expect(instantAt({ fromNowMs: -400 }, 1_000)).toBe(600)
  expect(instantAt({ fromNowMs: Number.MAX_SAFE_INTEGER }, 1_000)).toBe(8_640_000_000_000_000)
})
