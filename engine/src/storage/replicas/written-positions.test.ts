import { expect, test } from "vitest"
import { WrittenPositions } from "./written-positions.ts"

const places = (...written: readonly (readonly [at: number, position: number])[]) => {
  const known = new WrittenPositions()
  for (const [at, position] of written) known.add(at, position)
  return known
}

test.each([
  { written: [], replayed: 5, lagMs: 0, why: "the position of the primary is unknown" },
  { written: [[1_000, 10]], replayed: 10, lagMs: 0, why: "it has replayed all" },
  {
    written: [
      [1_000, 10],
      [2_000, 10],
      [9_000, 10],
    ],
    replayed: 10,
    lagMs: 0,
    why: "the primary is idle",
  },
  {
    written: [
      [1_000, 10],
      [2_000, 20],
      [3_000, 30],
    ],
    replayed: 10,
    lagMs: 8_000,
    why: "it lacks the writes of second 2",
  },
  {
    written: [
      [1_000, 10],
      [2_000, 20],
      [3_000, 30],
    ],
    replayed: 25,
    lagMs: 7_000,
    why: "it lacks the writes of second 3",
  },
  {
    written: [
      [1_000, 10],
      [2_000, 20],
    ],
    replayed: 3,
    lagMs: 9_000,
    why: "it lacks all recorded writes",
  },
  {
    written: [
      [1_000, 90],
      [2_000, 95],
      [3_000, 20],
    ],
    replayed: 10,
    lagMs: 7_000,
    why: "another primary began at an earlier position",
  },
] as const)("a replica lags $lagMs ms when $why", ({ written, replayed, lagMs }) => {
  expect(places(...written).lagMs(10_000, replayed)).toBe(lagMs)
})

test("written positions are bounded and approximate while a replica does not replay", () => {
  const known = new WrittenPositions()
  for (let second = 1; second <= 10_000; second += 1) known.add(second * 1_000, second)
  expect(known.lagMs(10_000_000, 0)).toBeGreaterThan(9_000_000)
  expect(known.size).toBeLessThanOrEqual(600)
})
