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

/** For whoever waits for what may never come: its process does not end meanwhile. The answer takes that back. */
export function stayAlive(): () => void {
  const timer = setInterval(() => {}, longestDelayMs)
  return () => clearInterval(timer)
}

/** What comes of it, unless that takes longer; it goes on all the same. */
export async function within<T>(timers: Timers, patienceMs: number, work: Promise<T>): Promise<T | undefined> {
  let cancel = () => {}
  const late = new Promise<undefined>((resolve) => (cancel = timers.after(patienceMs, () => resolve(undefined))))
  try {
    return await Promise.race([work, late])
  } finally {
    cancel()
  }
}

/** Lets everybody else have a turn, in the middle of long work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
