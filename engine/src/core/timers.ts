export interface Timers {
  /** Calls `work` once, after the delay. Returns a function that cancels it. */
  after(delayMs: number, work: () => void): () => void
}

/** A longer delay overflows and fires at once. */
const longestDelayMs = 2 ** 31 - 1

/** These timers do not keep the process alive. */
export const systemTimers: Timers = {
  after(delayMs, work) {
    const timer = setTimeout(work, Math.min(delayMs, longestDelayMs))
    // Outside Node, a timer is a number.
    if (typeof timer === "object") timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Keeps the process alive while it waits for an event that may never come. Returns a function that ends this. */
export function stayAlive(): () => void {
  const timer = setInterval(() => {}, longestDelayMs)
  return () => clearInterval(timer)
}

/** Returns the result of `work`, or undefined if it takes longer than `timeoutMs`. `work` is not cancelled then. */
export async function within<T>(timers: Timers, timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  let cancel = () => {}
  const late = new Promise<undefined>((resolve) => (cancel = timers.after(timeoutMs, () => resolve(undefined))))
  try {
    return await Promise.race([work, late])
  } finally {
    cancel()
  }
}

/** Yields to the event loop during long work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Returns a function whose callers during one turn of the event loop all continue in the next one, together. */
export function sharedTurn(): () => Promise<void> {
  let shared: Promise<void> | undefined
  const begin = async () => {
    await nextTurn()
    shared = undefined
  }
  return () => (shared ??= begin())
}

/**
 * For requests that sign. Those of one turn then do each step one after another, which takes a sixth less of the processor, because the code
 * and tables of a step stay in its caches (`npm run bench -- issue`).
 */
export const signingTurn = sharedTurn()
