import { expect, test, vi } from "vitest"
import { gathered, groupsShared, nextTurn } from "./timers.ts"

/** How many are there after each turn; how many turns were waited for, by a clock that goes on by so much with each of them. */
async function turnsWaited(counts: readonly number[], turnMs: number, enough?: number): Promise<number> {
  let turn = 0
  let waiting = true
  const goOn = () => {
    if (!waiting) return
    turn += 1
    setImmediate(goOn)
  }
  // Queued before those of `gathered`: each of its turns begins with the next count.
  setImmediate(goOn)
  await gathered({
    count: () => counts[Math.min(turn, counts.length - 1)] ?? 0,
    before: 0,
    patienceMs: 4,
    ...(enough === undefined ? {} : { enough }),
    nowMs: () => turn * turnMs,
  })
  waiting = false
  return turn
}

test.for([
  { what: "one that comes alone waits for a turn", counts: [1], turnMs: 1, turns: 1 },
  { what: "each turn that brings more is followed by another", counts: [1, 3, 4, 4, 5], turnMs: 1, turns: 3 },
  { what: "where nothing is there nothing is waited for", counts: [0, 1], turnMs: 1, turns: 0 },
  { what: "after ten milliseconds nobody waits for more", counts: [1, 2, 3, 4, 5, 6], turnMs: 4, turns: 3 },
  { what: "where enough are there no more are waited for", counts: [1, 3, 4, 5], turnMs: 1, enough: 3, turns: 1 },
])("$what", async ({ counts, turnMs, enough, turns }) => {
  expect(await turnsWaited(counts, turnMs, enough)).toBe(turns)
})

/** How many there were when no more were waited for, where three came together the last time, and after how many milliseconds. */
async function lookedOutFor(counts: readonly number[]) {
  vi.useFakeTimers({ toFake: ["setTimeout"] })
  try {
    let elapsedMs = 0
    let over = false
    const count = () => counts[Math.min(elapsedMs, counts.length - 1)] ?? 0
    const gathering = gathered({ count, before: 3, patienceMs: 4, nowMs: () => elapsedMs }).then(() => (over = true))
    for (;;) {
      // Of those that bring more, and of those that do not.
      for (let turn = 0; turn < 5; turn += 1) await nextTurn()
      if (over) break
      elapsedMs += 1
      vi.advanceTimersByTime(1)
    }
    await gathering
    return { count: count(), elapsedMs }
  } finally {
    vi.useRealTimers()
  }
}

test.for([
  { what: "who are there again are not waited for", counts: [3], ends: { count: 3, elapsedMs: 0 } },
  { what: "as many as the last time are waited for", counts: [1, 2, 2, 3, 4], ends: { count: 3, elapsedMs: 3 } },
  { what: "who do not come again are not waited for long", counts: [1], ends: { count: 1, elapsedMs: 4 } },
])("$what", async ({ counts, ends }) => {
  expect(await lookedOutFor(counts)).toEqual(ends)
})

test("who asks while a group gathers goes on with it, in the order of asking, and who asks later with the next", async () => {
  const group = groupsShared(3)
  const wentOn: string[] = []
  const ask = async (name: string) => {
    await group()
    wentOn.push(name)
  }
  const first = Promise.all([ask("a"), ask("b")])
  await nextTurn()
  const same = ask("c")
  await first
  expect(wentOn).toEqual(["a", "b", "c"])
  await same
  await ask("d")
  expect(wentOn).toEqual(["a", "b", "c", "d"])
})
