import { expect, test } from "vitest"
import { maxMeasuredRuns, runMetrics } from "./run-metrics.ts"

const applied = (planDurationMs: number, applyDurationMs: number, policyFailed = false) => ({
  status: "applied" as const,
  planDurationMs,
  applyDurationMs,
  policyFailed,
})
const errored = (planDurationMs: number | null) => ({
  status: "errored" as const,
  planDurationMs,
  applyDurationMs: null,
  policyFailed: false,
})

test.each([
  {
    what: "zero counts before the first run",
    runs: [],
    metrics: {
      applyDurationAverageMs: null,
      planDurationAverageMs: null,
      policyCheckFailures: null,
      runFailures: null,
      runsCount: null,
    },
  },
  {
    what: "one applied run",
    runs: [applied(100, 200)],
    metrics: {
      applyDurationAverageMs: 200,
      planDurationAverageMs: 100,
      policyCheckFailures: 0,
      runFailures: 0,
      runsCount: 1,
    },
  },
  {
    what: "averages over the runs that reached each stage",
    runs: [applied(100, 201), errored(200), errored(null), applied(300, 300, true)],
    metrics: {
      applyDurationAverageMs: 251,
      planDurationAverageMs: 200,
      policyCheckFailures: 1,
      runFailures: 2,
      runsCount: 4,
    },
  },
  {
    what: "null averages when no run reached the stage",
    runs: [errored(null)],
    metrics: {
      applyDurationAverageMs: null,
      planDurationAverageMs: null,
      policyCheckFailures: 0,
      runFailures: 1,
      runsCount: 1,
    },
  },
])("run metrics contain $what", ({ runs, metrics }) => {
  expect(runMetrics(runs)).toEqual(metrics)
})

test("run metrics cover only the newest 30 runs", () => {
  const newest = Array.from({ length: maxMeasuredRuns }, () => applied(10, 20))
  expect(runMetrics([...newest, errored(1_000_000)])).toMatchObject({
    planDurationAverageMs: 10,
    runFailures: 0,
    runsCount: 30,
  })
})
