// The only module of the operator that uses the clock, timers and randomness of the process.
import type { Runtime } from "@chancery/engine"

export interface Timers {
  /** Calls `work` once, after the delay. Returns a function that cancels it. */
  after(delayMs: number, work: () => void): () => void
}

export interface OperatorRuntime extends Pick<Runtime, "clock" | "log"> {
  /** Monotonic milliseconds from an arbitrary origin, for measuring durations. */
  readonly stopwatch: () => number
  readonly timers: Timers
  /** Returns a number in [0, 1). */
  readonly random: () => number
}

/** Maximum delay of a Node timer; a longer one would fire at once. */
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

/** Resolves after the delay, or early when the signal aborts. Never rejects. */
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
