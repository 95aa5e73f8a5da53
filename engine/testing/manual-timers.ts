import type { Timers } from "../src/core/timers.ts"
import type { ManualClock } from "./manual-clock.ts"

export interface ManualTimers extends Timers {
  /** Moves the clock and calls the timers that expire, in order. Awaits `settled` after each call. */
  advance(milliseconds: number, settled?: () => Promise<void>): Promise<void>
  readonly pendingCount: number
}

/** Returns timers that fire when the test moves the clock past them. */
export function manualTimers(clock: ManualClock): ManualTimers {
  const pending = new Set<{ readonly at: number; readonly work: () => void }>()
  return {
    after(delayMs, work) {
      const timer = { at: clock.now() + delayMs, work }
      pending.add(timer)
      return () => void pending.delete(timer)
    },
    async advance(milliseconds, settled) {
      const until = clock.now() + milliseconds
      for (;;) {
        const [next] = [...pending].filter(({ at }) => at <= until).toSorted((one, other) => one.at - other.at)
        if (next === undefined) break
        pending.delete(next)
        clock.set(Math.max(clock.now(), next.at))
        next.work()
        await settled?.()
      }
      clock.set(until)
    },
    get pendingCount() {
      return pending.size
    },
  }
}
