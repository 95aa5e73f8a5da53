import { expect, test } from "vitest"
import { gathered } from "./timers.ts"

/** How many are there after each turn; how many turns were waited for, by a clock that goes on by so much with each of them. */
async function turnsWaited(counts: readonly number[], turnMs: number): Promise<number> {
  let turn = 0
  let waiting = true
  const goOn = () => {
    if (!waiting) return
    turn += 1
    setImmediate(goOn)
  }
  // Queued before those of `gathered`: each of its turns begins with the next count.
  setImmediate(goOn)
  await gathered(
    () => counts[Math.min(turn, counts.length - 1)] ?? 0,
    () => turn * turnMs,
  )
  waiting = false
  return turn
}

test.for([
  { what: "one that comes alone waits for a turn", counts: [1], turnMs: 1, turns: 1 },
  { what: "each turn that brings more is followed by another", counts: [1, 3, 4, 4, 5], turnMs: 1, turns: 3 },
  { what: "where nothing is there nothing is waited for", counts: [0, 1], turnMs: 1, turns: 0 },
  { what: "after ten milliseconds nobody waits for more", counts: [1, 2, 3, 4, 5, 6], turnMs: 4, turns: 3 },
])("$what", async ({ counts, turnMs, turns }) => {
  expect(await turnsWaited(counts, turnMs)).toBe(turns)
})
