import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isDueAtOnce, nextAttempt, renewalTime, renewBeforeMs, windowProblem } from "./renewal.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const start = Date.UTC(2026, 0, 1)
const life = (ms: number) => ({ notBefore: start, notAfter: start + ms })
const text = (instant: number) => new Date(instant).toISOString()

test.each([
  { lifeMs: 90 * day, terms: {}, before: 30 * day, why: "a third of its life by default" },
  { lifeMs: 90 * day, terms: { renewBeforeMs: 10 * day }, before: 10 * day, why: "renewBefore" },
  { lifeMs: 90 * day, terms: { renewBeforePercentage: 50 }, before: 45 * day, why: "a share of its life" },
  { lifeMs: 10 * day, terms: { renewBeforeMs: 10 * day }, before: (10 * day) / 3, why: "not its whole life" },
  { lifeMs: 10 * day, terms: { renewBeforeMs: minute }, before: 5 * minute, why: "five minutes at least" },
  { lifeMs: 10 * day, terms: { renewBeforePercentage: 99 }, before: 9.9 * day, why: "nearly all of its life" },
  { lifeMs: 30 * minute, terms: { renewBeforeMs: minute }, before: 3 * minute, why: "a tenth of a short life" },
  { lifeMs: 30 * minute, terms: { renewBeforePercentage: 99 }, before: 29 * minute, why: "a minute is left to it" },
  { lifeMs: minute, terms: {}, before: minute / 10, why: "a tenth even of a minute" },
])("a renewal is due $before ms before the end of $lifeMs: $why", ({ lifeMs, terms, before }) => {
  expect(renewBeforeMs(life(lifeMs), terms)).toBeCloseTo(before, 6)
})

describe("the renewal time", () => {
  const windows = (...cron: string[]) => cron.map((cron) => ({ cron, durationMs: 2 * hour, timezone: "Europe/Zurich" }))
  const noon = Date.UTC(2026, 2, 2, 12)
  // The lifetime is 90 days, and the renewal is scheduled a third of it before the end.
  const due = start + 60 * day

  test.each([
    { share: 0, at: due, why: "without its share of the spread" },
    { share: 0.5, at: due - 3.75 * day, why: "half of a quarter of the third" },
    { share: 0.999_999_999, at: due - 7.5 * day, why: "no more than all of it" },
  ])("is earlier by its share: $why", ({ share, at }) => {
    const found = renewalTime(life(90 * day), { windows: [] }, share, start)
    expect(found).toEqual({ at: Math.floor(found.at / 1_000) * 1_000, isOutsideWindow: false })
    expect(Math.abs(found.at - at)).toBeLessThanOrEqual(1_000)
  })

  test.each([
    { cron: ["0 2 * * *"], now: start, at: "2026-03-02T01:00:00.000Z", why: "the window opens after it is due" },
    { cron: ["0 0 * * *"], now: start, at: text(due), why: "the window is open when it is due, since 23:00 UTC" },
    { cron: ["0 2 * * 6", "0 3 * * 4"], now: start, at: "2026-03-05T02:00:00.000Z", why: "the first of two" },
    { cron: ["0 2 * * *"], now: noon, at: "2026-03-03T01:00:00.000Z", why: "the first was missed" },
    { cron: ["0 2 * * *"], now: noon - 10 * hour, at: "2026-03-02T01:00:00.000Z", why: "the window is open now" },
    { cron: ["0 2 1 4 *"], now: start, at: text(due), outside: true, why: "none opens early enough" },
  ])("is in a window: $why", ({ cron, now, at, outside = false }) => {
    const found = renewalTime(life(90 * day), { windows: windows(...cron) }, 0, now)
    expect({ ...found, at: text(found.at) }).toEqual({ at, isOutsideWindow: outside })
  })

  test("is in a window whose opening the start of summer time skips", () => {
    const terms = { renewBeforeMs: 10 * day, windows: windows("0 2 29 3 *") }
    expect(text(renewalTime(life(90 * day), terms, 0, start).at)).toBe("2026-03-29T01:00:00.000Z")
  })

  test("is at least a day early with windows", () => {
    const found = renewalTime(life(3 * day), { windows: windows("0 2 3 1 *") }, 0, start)
    expect({ ...found, at: text(found.at) }).toEqual({ at: text(start + 2 * day), isOutsideWindow: true })
  })

  test("is within the lifetime, a whole second, and equal for equal shares", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2 * minute, max: 20_000 * day }),
        fc.option(fc.integer({ min: 5 * minute, max: 1_000 * day }), { nil: undefined }),
        fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (lifeMs, renewBeforeMs, renewBeforePercentage, share) => {
          const validity = life(lifeMs)
          const terms = { renewBeforeMs, renewBeforePercentage, windows: [] }
          const { at } = renewalTime(validity, terms, share, start)
          expect(at % 1_000).toBe(0)
          expect(at).toBeLessThan(validity.notAfter)
          expect(at).toBeGreaterThan(validity.notBefore - 1_000)
          expect(renewalTime(validity, terms, share, at + day).at).toBe(at)
        },
      ),
    )
  })
})

test.each([
  { life: 90 * day, terms: {}, issuedAt: 0, is: false, why: "a usual one" },
  { life: minute, terms: {}, issuedAt: 0, is: false, why: "a minute is enough" },
  { life: 90 * day, terms: { renewBeforeMs: 89 * day }, issuedAt: 0, is: false, why: "half a day at least is left" },
  {
    life: 630_000,
    terms: { renewBeforeMs: 599_000 },
    issuedAt: 30_000,
    is: true,
    why: "it began before it was issued",
  },
  { life: 2 * day, terms: {}, issuedAt: 2 * day - hour, is: true, why: "most of it had passed when it was issued" },
])(
  "a certificate of $life ms issued after $issuedAt ms is due at once: $is, as $why",
  ({ life: lifeMs, terms, issuedAt, is }) => {
    for (const share of [0, 0.5, 0.999]) {
      const now = start + issuedAt
      const renewal = renewalTime(life(lifeMs), { ...terms, windows: [] }, share, now)
      expect(isDueAtOnce(life(lifeMs), renewal, now)).toBe(is)
    }
  },
)

test.each([
  { window: { cron: "0 2 * * *", durationMs: hour, timezone: "UTC" }, problem: /^$/ },
  { window: { cron: "*/15 2-4 1,15 * MON-FRI", durationMs: hour, timezone: "America/New_York" }, problem: /^$/ },
  { window: { cron: "0 2 * *", durationMs: hour, timezone: "UTC" }, problem: /^cron .* must be five fields/ },
  { window: { cron: "0 0 2 * * *", durationMs: hour, timezone: "UTC" }, problem: /must be five fields/ },
  { window: { cron: "0 25 * * *", durationMs: hour, timezone: "UTC" }, problem: /must be five fields/ },
  { window: { cron: "0 2 30 2 *", durationMs: hour, timezone: "UTC" }, problem: /names no time that there is/ },
  { window: { cron: "0 2 * * *", durationMs: hour, timezone: "Mars/Olympus" }, problem: /^timezone Mars\/Olympus/ },
  { window: { cron: "0 2 * * *", durationMs: 1_000, timezone: "UTC" }, problem: /^duration/ },
])("the window $window.cron for $window.durationMs in $window.timezone: $problem", ({ window, problem }) => {
  expect(windowProblem(window) ?? "").toMatch(problem)
})

describe("the next attempt after a failure", () => {
  const now = start
  test.each([
    { failures: 1, left: 30 * day, delay: minute, why: "a minute while the old one is good" },
    { failures: 2, left: 30 * day, delay: 2 * minute, why: "twice as long each time" },
    { failures: 9, left: 30 * day, delay: hour, why: "an hour at most" },
    { failures: 5_000, left: 30 * day, delay: hour, why: "an hour, ever after" },
    { failures: 1, left: hour, delay: 30_000, why: "half a minute when it ends soon" },
    { failures: 9, left: hour, delay: 15 * minute, why: "a quarter of what is left" },
    { failures: 9, left: 20_000, delay: 10_000, why: "not all the time in the last seconds" },
    { failures: 1, left: undefined, delay: 30_000, why: "half a minute without a certificate" },
    { failures: 9, left: -day, delay: hour, why: "an hour at most after the expiry" },
  ])("number $failures with $left ms left is after $delay ms: $why", ({ failures, left, delay }) => {
    const notAfter = left === undefined ? undefined : now + left
    expect(nextAttempt({ failures, notAfter, now, chance: 0.5 }) - now).toBe(delay)
  })

  test("is within a tenth of that, to the second", () => {
    expect(nextAttempt({ failures: 1, notAfter: now + 30 * day, now, chance: 0 }) - now).toBe(54_000)
    expect(nextAttempt({ failures: 1, notAfter: now + 30 * day, now, chance: 0.999 }) - now).toBe(66_000)
  })
})
