import { setImmediate as turn } from "node:timers/promises"
import { isEngineError } from "@chancery/engine"
import { expect, test } from "vitest"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { manualTimers } from "../../../engine/testing/manual-timers.ts"
import { RequestRateLimiter } from "./rate-limiter.ts"

const { signal } = new AbortController()

function open(limit: { rps: number; burst: number } | undefined) {
  const clock = manualClock()
  const timers = manualTimers(clock)
  const begunAt = clock.now()
  const pace = new RequestRateLimiter(limit, { stopwatch: () => clock.now(), timers })
  const admitted: number[] = []
  const sentAway: number[] = []
  const ask = async () => {
    try {
      await pace.admit(signal)
      admitted.push(clock.now() - begunAt)
    } catch (error) {
      if (!isEngineError(error, "rate-limited")) throw error
      sentAway.push(error.retryAfterMs ?? 0)
    }
  }
  const settled = async () => {
    for (let index = 0; index < 4; index += 1) await turn()
  }
  const pass = async (milliseconds: number) => {
    await settled()
    await timers.advance(milliseconds, settled)
    await settled()
  }
  return { pace, ask, pass, admitted, sentAway }
}

test("requests do not wait without a limit", async () => {
  const { ask, admitted } = open(undefined)
  await Promise.all(Array.from({ length: 100 }, ask))
  expect(admitted).toEqual(Array.from({ length: 100 }, () => 0))
})

test("a burst is served immediately, a few more requests wait, and the rest are requeued", async () => {
  const { ask, pass, admitted, sentAway } = open({ rps: 10, burst: 3 })
  const asking = Promise.all(Array.from({ length: 12 }, ask))
  await pass(2_000)
  await asking
  expect(admitted).toEqual([0, 0, 0, 100, 200, 300, 400, 500])
  expect(sentAway).toEqual([600, 700, 800, 900])
})

test("the rate never exceeds the limit over time", async () => {
  const { ask, pass, admitted } = open({ rps: 20, burst: 5 })
  const asking: Promise<void>[] = []
  for (let step = 0; step < 200; step += 1) {
    asking.push(ask())
    await pass(10)
  }
  await pass(1_000)
  await Promise.all(asking)
  expect(admitted.length).toBeGreaterThan(40)
  for (const at of admitted) {
    const within = admitted.filter((other) => other >= at && other < at + 1_000)
    expect(within.length).toBeLessThanOrEqual(25)
  }
})

test("a Retry-After of the engine delays all requests", async () => {
  const { pace, ask, pass, admitted, sentAway } = open({ rps: 10, burst: 2 })
  pace.defer(3_000)
  await Promise.all([ask(), ask()])
  expect(admitted).toEqual([])
  expect(sentAway).toEqual([3_000, 3_100])
  await pass(3_000)
  await ask()
  expect(admitted).toEqual([3_000])
})
