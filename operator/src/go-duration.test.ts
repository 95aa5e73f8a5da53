import { expect, test } from "vitest"
import { parseGoDuration } from "./go-duration.ts"

test.each([
  { text: "10m", ms: 600_000 },
  { text: "1h30m", ms: 5_400_000 },
  { text: "1.5h", ms: 5_400_000 },
  { text: "250ms", ms: 250 },
  { text: "0s", ms: 0 },
  { text: "90d", ms: undefined },
  { text: "-5m", ms: undefined },
  { text: "5", ms: undefined },
  { text: "", ms: undefined },
  { text: "m5", ms: undefined },
  { text: `${"1".repeat(40)}h`, ms: undefined },
])("$text is $ms ms", ({ text, ms }) => {
  expect(parseGoDuration(text)).toBe(ms)
})
