import type { Clock, Instant } from "../src/core/time.ts"

export interface ManualClock extends Clock {
  advance(milliseconds: number): void
  set(instant: Instant): void
}

/** Returns a clock that stands still until the test moves it. */
export function manualClock(start: Instant = Date.UTC(2026, 0, 1)): ManualClock {
  let now = start
  return {
    now: () => now,
    advance: (milliseconds) => {
      now += milliseconds
    },
    set: (instant) => {
      now = instant
    },
  }
}
