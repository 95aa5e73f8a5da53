import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import { RenewalPace, type Turn } from "./renewal-pace.ts"

const issuer = "Issuer/team/ca"
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const start = Date.parse("2026-01-01T00:00:00Z")

/** Certificates of one issuer that ask for their turn at the times that they were given. */
function renewals(maxPerHour: number, ends: Readonly<Record<string, number>>) {
  let pace = new RenewalPace()
  let now = start
  let last: number | undefined
  const gone = new Set<string>()
  const paused = new Set<string>()
  const next = new Map(Object.keys(ends).map((key) => [key, start]))
  const started: { readonly key: string; readonly at: number }[] = []
  const ask = (key: string): Turn =>
    pace.turnOf(
      { issuer, key, notAfter: ends[key] ?? 0, maxPerHour, now },
      { exists: (other) => !gone.has(other), lastRenewalAt: () => last },
    )
  return {
    started,
    gone,
    paused,
    ask,
    pace: () => pace,
    pass: (ms: number) => void (now += ms),
    restart() {
      pace = new RenewalPace()
      for (const key of next.keys()) next.set(key, now)
    },
    run(ms: number) {
      for (const end = now + ms; ;) {
        const due = [...next].filter(([key]) => !gone.has(key) && !paused.has(key)).toSorted(([, a], [, b]) => a - b)[0]
        if (due === undefined || due[1] > end) break
        const [key, at] = due
        now = Math.max(now, at)
        const turn = ask(key)
        if (turn.is === "later") next.set(key, turn.at)
        else if (turn.is === "undecided") next.set(key, now + turn.againAfterMs)
        else {
          next.delete(key)
          last = now
          started.push({ key, at: now - start })
        }
      }
      now = start + Math.max(now - start, ms)
    },
  }
}

describe("renewals of an issuer with a pace", () => {
  test("start in the order of expiry, evenly spaced, when they are requested together", () => {
    const { started, run } = renewals(4, { c: 3, a: 1, d: 4, b: 2 })
    run(2 * hourMs)
    expect(started.map(({ key }) => key)).toEqual(["a", "b", "c", "d"])
    const [first = 0, ...others] = started.map(({ at }) => at)
    expect(first).toBeLessThan(minuteMs)
    expect(others.map((at) => at - first)).toEqual([15 * minuteMs, 30 * minuteMs, 45 * minuteMs])
  })

  test("keep the pace when the operator is restarted", () => {
    const it = renewals(4, { a: 1, b: 2, c: 3 })
    it.run(16 * minuteMs)
    expect(it.started.map(({ key }) => key)).toEqual(["a", "b"])
    it.restart()
    it.run(hourMs)
    const times = it.started.map(({ at }) => at)
    expect(times[2]! - times[1]!).toBe(15 * minuteMs)
  })

  test("get the same turns when the operator is restarted", () => {
    const it = renewals(4, { a: 1, b: 2, c: 3, d: 4 })
    it.run(2 * minuteMs)
    const before = ["b", "c", "d"].map((key) => it.ask(key))
    it.restart()
    for (const key of ["b", "c", "d"]) it.ask(key)
    it.pass(minuteMs)
    expect(["b", "c", "d"].map((key) => it.ask(key))).toEqual(before)
  })

  test("do not wait for one that does not use its turn, or is deleted", () => {
    const it = renewals(60, { a: 1, b: 2, c: 3, d: 4 })
    for (const key of ["a", "b", "c", "d"]) it.ask(key)
    it.paused.add("a")
    it.gone.add("b")
    it.run(10 * minuteMs)
    expect(it.started.map(({ key }) => key)).toEqual(["c", "d"])
  })

  test("keep the announced turn when they ask earlier", () => {
    const it = renewals(1, { a: 1, b: 2 })
    it.run(minuteMs)
    const turn = it.ask("b")
    expect(turn.is).toBe("later")
    it.pass(10 * minuteMs)
    expect(it.ask("b")).toEqual(turn)
  })

  test("get earlier turns when the issuer allows more", () => {
    const ends = { a: 1, b: 2 }
    const it = renewals(1, ends)
    it.run(minuteMs)
    const asked = { issuer, key: "b", notAfter: 2, maxPerHour: 60 }
    const facts = { exists: () => true, lastRenewalAt: () => undefined }
    expect(it.pace().turnOf({ ...asked, now: start + 2 * minuteMs }, facts).is).toBe("undecided")
    expect(it.pace().turnOf({ ...asked, now: start + 3 * minuteMs }, facts).is).toBe("now")
  })

  test("leave the queue when they need no renewal any more", () => {
    const it = renewals(1, { a: 1, b: 2 })
    it.ask("a")
    it.ask("b")
    it.pace().leave(issuer, "a")
    it.pass(minuteMs)
    expect(it.ask("b").is).toBe("now")
  })

  test("never exceed the limit in any hour, whatever restarts happen", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 4 }),
        (maxPerHour, count, restarts) => {
          const ends = Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, index]))
          const it = renewals(maxPerHour, ends)
          let elapsed = 0
          for (const minutes of restarts) {
            elapsed += minutes
            it.run(elapsed * minuteMs)
            it.restart()
          }
          it.run(200 * hourMs)
          expect(it.started).toHaveLength(count)
          for (const { at } of it.started)
            expect(it.started.filter((other) => other.at >= at && other.at < at + hourMs).length).toBeLessThanOrEqual(
              maxPerHour,
            )
        },
      ),
      { numRuns: 50 },
    )
  })
})
