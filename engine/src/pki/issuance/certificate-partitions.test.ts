import { describe, expect, test } from "vitest"
import { dayMs, hourMs, minuteMs } from "../../core/time.ts"
import { filedAt, filingRangeAt, missingRanges } from "./certificate-partitions.ts"

const weekMs = 7 * dayMs
const monday = Date.UTC(2030, 0, 7)

describe("a certificate is stored in the partition", () => {
  test.each([
    { lives: hourMs, isFiled: true },
    { lives: 90 * dayMs + hourMs, isFiled: true },
    { lives: 13 * weekMs, isFiled: true },
    { lives: 13 * weekMs + 1, isFiled: false },
    { lives: 10 * 365 * dayMs, isFiled: false },
  ])("of its expiry ($isFiled) when its lifetime is $lives ms", ({ lives, isFiled }) => {
    expect(filedAt({ notBefore: monday, notAfter: monday + lives })).toBe(isFiled ? monday + lives : 0)
  })

  test("0 when it expired before 1970", () => {
    expect(filedAt({ notBefore: -hourMs, notAfter: -minuteMs })).toBe(0)
  })
})

test.each([
  { instant: monday, from: monday },
  { instant: monday - 1, from: monday - weekMs },
  { instant: monday + weekMs - 1, from: monday },
  { instant: 0, from: Date.UTC(1969, 11, 29) },
])("a partition is a week from Monday to Monday: $instant", ({ instant, from }) => {
  expect(filingRangeAt(instant)).toEqual({ from, to: from + weekMs })
  expect(new Date(from).getUTCDay()).toBe(1)
})

describe("partitions are created", () => {
  const all = missingRanges(monday + dayMs, [])

  test("for all certificates that are issued within the next week", () => {
    expect(all[0]).toEqual({ from: monday, to: monday + weekMs })
    for (const [index, range] of all.entries()) expect(range.from).toBe(all[0]!.from + index * weekMs)
    const latest = filedAt({ notBefore: monday + dayMs + weekMs, notAfter: monday + dayMs + 14 * weekMs })
    expect(latest).toBeLessThan(all.at(-1)!.to)
    expect(all).toHaveLength(15)
  })

  test("one per week when the others exist", () => {
    expect(missingRanges(monday + dayMs, all)).toEqual([])
    expect(missingRanges(monday + weekMs - 1, all)).toEqual([])
    expect(missingRanges(monday + weekMs, all)).toEqual([filingRangeAt(all.at(-1)!.to)])
  })

  test("only where they overlap no other partition", () => {
    const long = { from: monday + weekMs + 1, to: monday + 3 * weekMs - 1 }
    const made = missingRanges(monday, [long])
    expect(made.some(({ from, to }) => from < long.to && long.from < to)).toBe(false)
    expect(made).toHaveLength(13)
  })
})
