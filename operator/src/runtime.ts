// The only place of the operator that touches the clock, timers and the random source of the process.
import type { Runtime } from "@chancery/engine"

export interface Timers {
  /** Calls `work` once, after the delay. The answer takes that back. */
  after(delayMs: number, work: () => void): () => void
}

export interface OperatorRuntime extends Pick<Runtime, "clock" | "log"> {
  /** Never goes back, counts from anywhere: for how long something took. */
  readonly stopwatch: () => number
  readonly timers: Timers
  /** At least 0, below 1. */
  readonly random: () => number
}

/** Delays are cut to what a timer can hold: a longer one would fire at once, and what was due before now is due now. */
const longestDelayMs = 2 ** 31 - 1

export const systemRuntime = (log: Runtime["log"]): OperatorRuntime => ({
  clock: { now: () => Date.now() },
  log,
  stopwatch: () => performance.now(),
  timers: {
    after(delayMs, work) {
      const timer = setTimeout(work, Math.min(Math.max(delayMs, 0), longestDelayMs))
      return () => clearTimeout(timer)
    },
  },
  random: () => Math.random(),
})

/** Ends early, without an error, when the signal does. */
export function pause(
  delayMs: number,
  { timers }: Pick<OperatorRuntime, "timers">,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener("abort", end)
      resolve()
    }
    const cancel = timers.after(delayMs, end)
    signal.addEventListener("abort", end)
  })
}
