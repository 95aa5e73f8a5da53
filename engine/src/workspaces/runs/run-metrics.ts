// Metrics over the past 30 runs that errored or were applied (docs/compatibility.md, "Runs").
import type { Run } from "./run.ts"
import type { RunMetrics } from "../workspace/workspace.ts"

export const maxMeasuredRuns = 30

type MeasuredRun = Pick<Run, "status" | "planDurationMs" | "applyDurationMs" | "policyFailed">

/**
 * Computes the metrics. `runs` are sorted newest first, and all errored or applied. Members are null if there are no runs, or none has the
 * value.
 */
export function runMetrics(runs: readonly MeasuredRun[]): RunMetrics {
  const measured = runs.slice(0, maxMeasuredRuns)
  if (measured.length === 0) return noMetrics
  return {
    applyDurationAverageMs: average(measured.map(({ applyDurationMs }) => applyDurationMs)),
    planDurationAverageMs: average(measured.map(({ planDurationMs }) => planDurationMs)),
    policyCheckFailures: measured.filter(({ policyFailed }) => policyFailed).length,
    runFailures: measured.filter(({ status }) => status === "errored").length,
    runsCount: measured.length,
  }
}

const noMetrics: RunMetrics = {
  applyDurationAverageMs: null,
  planDurationAverageMs: null,
  policyCheckFailures: null,
  runFailures: null,
  runsCount: null,
}

/** Returns the average in whole milliseconds over the runs that have the duration. */
function average(durations: readonly (number | null)[]): number | null {
  const known = durations.filter((duration) => duration !== null)
  if (known.length === 0) return null
  return Math.round(known.reduce((total, duration) => total + duration, 0) / known.length)
}
