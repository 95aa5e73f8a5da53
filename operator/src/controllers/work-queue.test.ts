import { asyncProperty, array, assert, constantFrom, integer, oneof, record, constant } from "fast-check"
import { expect, test } from "vitest"
import { manualClock } from "../../../engine/testing/manual-clock.ts"
import { manualTimers } from "../../../engine/testing/manual-timers.ts"
import { type Urgency, WorkQueue } from "./work-queue.ts"

function openQueue(random = () => 0.5) {
  const clock = manualClock(0)
  const timers = manualTimers(clock)
  const queue = new WorkQueue({ stopwatch: () => clock.now(), timers, random })
  const take = async (): Promise<string> => {
    const key = await queue.take()
    if (key === undefined) throw new Error("the queue is closed")
    return key
  }
  const takeAll = async (): Promise<string[]> => {
    const keys: string[] = []
    while (queue.depth > 0) keys.push(await take())
    return keys
  }
  return { queue, timers, take, takeAll }
}

test("a key that is added twice is returned once, and again only after another addition", async () => {
  const { queue, take } = openQueue()
  queue.add("a/one", "change")
  queue.add("a/one", "resync")
  expect(queue.depth).toBe(1)
  expect(await take()).toBe("a/one")
  expect(queue.depth).toBe(0)
})

test("a queue is idle when no key waits or is processed, even if one is delayed", async () => {
  const { queue, take } = openQueue()
  const idle = [queue.isIdle]
  queue.add("a/one", "change")
  idle.push(queue.isIdle)
  await take()
  idle.push(queue.isIdle)
  queue.done("a/one")
  queue.addAfter("a/one", 1_000, "resync")
  idle.push(queue.isIdle)
  expect(idle).toEqual([true, false, false, true])
})

test("a key that is added while it is processed is returned once afterwards", async () => {
  const { queue, take } = openQueue()
  queue.add("a/one", "change")
  await take()
  queue.add("a/one", "resync")
  queue.add("a/one", "change")
  expect(queue.depth).toBe(0)
  queue.done("a/one")
  expect(queue.depth).toBe(1)
  expect(await take()).toBe("a/one")
})

test("changes come before retries, and retries before resyncs", async () => {
  const { queue, takeAll } = openQueue()
  queue.add("a/due", "resync")
  queue.add("a/failed", "retry")
  queue.add("a/changed", "change")
  queue.add("a/due-and-changed", "resync")
  queue.add("a/due-and-changed", "change")
  expect(await takeAll()).toEqual(["a/changed", "a/due-and-changed", "a/failed", "a/due"])
})

test("namespaces take turns, so one change does not wait for 5,000 of another namespace", async () => {
  const { queue, take } = openQueue()
  for (let index = 0; index < 5_000; index += 1) queue.add(`noisy/${index}`, "change")
  queue.add("quiet/one", "change")
  expect([await take(), await take()]).toContain("quiet/one")
})

test("a waiting key becomes more urgent, so that a stream of changes does not starve it", async () => {
  const { queue, timers, take } = openQueue()
  queue.add("a/due", "resync")
  const taken: string[] = []
  for (let second = 0; second < 25 && !taken.includes("a/due"); second += 1) {
    queue.add(`b/${second}`, "change")
    queue.add(`c/${second}`, "change")
    taken.push(await take())
    await timers.advance(1_000)
  }
  expect(taken).toContain("a/due")
})

test.each([
  { random: 0.5, failures: [1_000, 2_000, 4_000, 8_000], why: "each failure doubles the wait" },
  { random: 0, failures: [800, 1_600], why: "a fifth less at least" },
  { random: 1, failures: [1_200, 2_400], why: "a fifth more at most" },
])("work that failed waits: $why", async ({ random, failures }) => {
  const { queue, timers, take } = openQueue(() => random)
  queue.add("a/one", "change")
  for (const delayMs of failures) {
    await take()
    expect(queue.retry("a/one")).toBe(delayMs)
    queue.done("a/one")
    await timers.advance(delayMs - 1)
    expect(queue.depth).toBe(0)
    await timers.advance(1)
    expect(queue.depth).toBe(1)
  }
})

test("the backoff has a maximum, and ends with a success", () => {
  const { queue } = openQueue()
  let delayMs = 0
  for (let failure = 0; failure < 100; failure += 1) delayMs = queue.retry("a/one")
  expect(delayMs).toBe(300_000)
  queue.forget("a/one")
  expect(queue.retry("a/one")).toBe(1_000)
})

test("after many failures at once, some hundreds of keys are retried after their backoff, and the others at 100 a second", async () => {
  const { queue, timers } = openQueue()
  const waits = Array.from({ length: 1_000 }, (_, index) => queue.retry(`a/${index}`))
  // The burst of 500, and 100 more in the second that is the minimum delay.
  expect(waits.filter((delayMs) => delayMs === 1_000)).toHaveLength(600)
  expect(Math.max(...waits)).toBe(5_000)
  await timers.advance(10_000)
  expect(queue.retry("b/one")).toBe(1_000)
})

test("the earlier of two times for one key applies, and a reconciliation replaces both", async () => {
  const { queue, timers, take } = openQueue()
  queue.addAfter("a/one", 60_000, "resync")
  queue.addAfter("a/one", 10_000, "retry")
  queue.addAfter("a/one", 30_000, "retry")
  await timers.advance(10_000)
  expect(await take()).toBe("a/one")
  queue.done("a/one")
  await timers.advance(120_000)
  expect(queue.depth).toBe(0)

  queue.addAfter("a/one", 10_000, "resync")
  queue.add("a/one", "change")
  await take()
  queue.done("a/one")
  await timers.advance(20_000)
  expect(queue.depth).toBe(0)
})

test("the queue waits 90 days, which is longer than the maximum of a timer", async () => {
  const { queue, timers } = openQueue()
  const ninetyDaysMs = 90 * 86_400_000
  queue.addAfter("a/one", ninetyDaysMs, "resync")
  await timers.advance(ninetyDaysMs - 1)
  expect(queue.depth).toBe(0)
  await timers.advance(1)
  expect(queue.depth).toBe(1)
})

test("a closed queue returns nothing, also to pending callers", async () => {
  const { queue, timers } = openQueue()
  const waiting = queue.take()
  queue.addAfter("a/one", 1_000, "change")
  queue.close()
  expect(await waiting).toBeUndefined()
  queue.add("a/two", "change")
  await timers.advance(2_000)
  expect(await queue.take()).toBeUndefined()
  expect(timers.pendingCount).toBe(0)
})

const keys = ["a/1", "a/2", "b/1", "b/2", "cluster"] as const
const urgency = constantFrom<Urgency[]>("change", "retry", "resync")
const step = oneof(
  record({ do: constant("add" as const), key: constantFrom(...keys), urgency }),
  record({ do: constant("addAfter" as const), key: constantFrom(...keys), urgency, delayMs: integer({ max: 90_000 }) }),
  record({ do: constant("retry" as const), key: constantFrom(...keys) }),
  record({ do: constant("take" as const) }),
  record({ do: constant("done" as const), which: integer({ min: 0, max: 9 }) }),
  record({ do: constant("advance" as const), byMs: integer({ min: 0, max: 70_000 }) }),
)

test("in any order, a key is processed by one worker at a time, and again after it was added", async () => {
  await assert(
    asyncProperty(array(step, { maxLength: 60 }), async (steps) => {
      const { queue, timers } = openQueue()
      const owed = new Set<string>()
      const working = new Set<string>()
      const take = async () => {
        const key = (await queue.take()) ?? ""
        expect(working.has(key)).toBe(false)
        working.add(key)
        owed.delete(key)
      }
      for (const each of steps) {
        if (each.do === "add") queue.add(each.key, each.urgency)
        if (each.do === "addAfter") queue.addAfter(each.key, each.delayMs, each.urgency)
        if (each.do === "retry") queue.retry(each.key)
        if (each.do === "add" || each.do === "addAfter" || each.do === "retry") owed.add(each.key)
        if (each.do === "take" && queue.depth > 0) await take()
        if (each.do === "advance") await timers.advance(each.byMs)
        if (each.do === "done" && working.size > 0) {
          const key = [...working][each.which % working.size] ?? ""
          working.delete(key)
          queue.done(key)
        }
      }
      for (const key of working) queue.done(key)
      working.clear()
      await timers.advance(400_000)
      while (queue.depth > 0) await take()
      expect([...owed]).toEqual([])
      expect(timers.pendingCount).toBe(0)
    }),
  )
})
