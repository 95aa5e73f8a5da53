export interface Timers {
  /** Calls `work` once, after the delay. The answer takes that back. */
  after(delayMs: number, work: () => void): () => void
}

/** A longer delay overflows, and fires at once. */
const longestDelayMs = 2 ** 31 - 1

/** They keep no process alive. */
export const systemTimers: Timers = {
  after(delayMs, work) {
    const timer = setTimeout(work, Math.min(delayMs, longestDelayMs))
    // Where there is no Node, a timer is a number.
    if (typeof timer === "object") timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Lets everybody else have a turn, in the middle of long work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
