import { expect, test } from "vitest"
import { systemRuntime } from "../core/runtime.ts"
import { dayMs, minuteMs } from "../core/time.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { manualTimers } from "../../testing/manual-timers.ts"
import { DueQueue } from "./due-queue.ts"

test.each([
  { why: "is due", inMs: 0, warnings: [], claims: 1 },
  { why: "is leased to another server", inMs: minuteMs, warnings: [], claims: 0 },
  { why: "was put off while the clock was ahead", inMs: 400 * dayMs, warnings: ["acme-order-turn-ahead"], claims: 1 },
])("[F-P15] the queue claims $claims when its first entry $why", async ({ inMs, warnings, claims }) => {
  const clock = manualClock()
  const warned: string[] = []
  const log = { ...systemRuntime().log, warn: (event: string) => void warned.push(event) }
  let claimCount = 0
  const queue = new DueQueue(
    {
      name: "acme-order",
      leaseMs: minuteMs,
      nextAt: async () => clock.now() + inMs,
      claim: async () => {
        claimCount += 1
        return []
      },
      attempt: async () => undefined,
      describe: () => ({}),
    },
    { runtime: { ...systemRuntime(), clock, log }, timers: manualTimers(clock) },
  )
  queue.kick()
  await queue.stop()
  expect([claimCount, warned]).toEqual([claims, warnings])
})
