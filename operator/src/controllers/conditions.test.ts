import { expect, test } from "vitest"
import { conditionsOf, type Health, stored } from "./conditions.ts"

const at = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second, 789)

test.each<{ is: Health["is"]; types: Record<string, string> }>([
  { is: "ready", types: { Ready: "True" } },
  { is: "reconciling", types: { Ready: "False", Reconciling: "True" } },
  { is: "stalled", types: { Ready: "False", Stalled: "True" } },
])("health $is has exactly the conditions $types", ({ is, types }) => {
  const conditions = conditionsOf({ is, reason: "EngineRefused", message: "Of that." })
  expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toEqual(types)
})

test("a condition keeps its transition time when only its message changes, and gets a new one with a new status", () => {
  const first = stored(conditionsOf({ is: "ready", reason: "Connected", message: "One." }), [], 1, at(1))
  expect(first).toMatchObject([{ lastTransitionTime: "2026-01-01T00:00:01Z", observedGeneration: 1 }])
  const second = stored(conditionsOf({ is: "ready", reason: "Connected", message: "Two." }), first, 2, at(2))
  expect(second).toMatchObject([{ lastTransitionTime: "2026-01-01T00:00:01Z", observedGeneration: 2 }])
  const third = stored(
    conditionsOf({ is: "stalled", reason: "EngineUnavailable", message: "Three." }),
    second,
    2,
    at(3),
  )
  expect(third.map((condition) => condition.lastTransitionTime)).toEqual([
    "2026-01-01T00:00:03Z",
    "2026-01-01T00:00:03Z",
  ])
})
