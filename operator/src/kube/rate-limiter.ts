// How often one engine is asked, by all objects together. Who would have to wait for long is sent away with a time to come back
// at, rather than kept: it would hold up the work on objects of other engines.
import { EngineError, type Pace } from "@chancery/engine"
import { type OperatorRuntime, pause } from "../runtime.ts"

export interface RateLimit {
  /** Requests a second, over time. */
  readonly rps: number
  /** That many at once, after a silence. */
  readonly burst: number
}

const patienceMs = 500
const longestDeferralMs = 300_000
const longestReturnMs = 60_000

export class RequestPace implements Pace {
  readonly #runtime: Pick<OperatorRuntime, "stopwatch" | "timers">
  readonly #intervalMs: number
  readonly #burst: number
  /** When the bucket is full again (the generic cell rate algorithm, ITU-T I.371). */
  #fullAt = Number.NEGATIVE_INFINITY
  #deferredUntil = Number.NEGATIVE_INFINITY
  /** When the last of those that were sent away comes back. */
  #lastReturnAt = Number.NEGATIVE_INFINITY
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(limit: RateLimit | undefined, runtime: Pick<OperatorRuntime, "stopwatch" | "timers">) {
    this.#runtime = runtime
    this.#intervalMs = limit === undefined ? 0 : 1_000 / limit.rps
    this.#burst = limit?.burst ?? 1
  }

  async admit(signal: AbortSignal): Promise<void> {
    const waitMs = this.#waitMs(this.#waiting)
    if (waitMs > patienceMs) throw this.#later(waitMs)
    const before = this.#turn
    const ended = Promise.withResolvers<void>()
    this.#turn = ended.promise
    this.#waiting += 1
    try {
      await before
      const turnMs = this.#waitMs(0)
      if (turnMs > 0) await pause(turnMs, this.#runtime, signal)
      signal.throwIfAborted()
      // It was put off meanwhile.
      const moreMs = this.#waitMs(0)
      if (moreMs > patienceMs) throw this.#later(moreMs)
      this.#fullAt = Math.max(this.#runtime.stopwatch(), this.#fullAt) + this.#intervalMs
    } finally {
      this.#waiting -= 1
      ended.resolve()
    }
  }

  defer(retryAfterMs: number): void {
    const until = this.#runtime.stopwatch() + Math.min(retryAfterMs, longestDeferralMs)
    this.#deferredUntil = Math.max(this.#deferredUntil, until)
  }

  /** With so many before. */
  #waitMs(count: number): number {
    const now = this.#runtime.stopwatch()
    const fullAt = Math.max(this.#fullAt, now) + count * this.#intervalMs
    return Math.max(fullAt - (this.#burst - 1) * this.#intervalMs, this.#deferredUntil) - now
  }

  /** They come back one after another, as fast as they can be served. */
  #later(waitMs: number): EngineError {
    const now = this.#runtime.stopwatch()
    this.#lastReturnAt = Math.max(now + waitMs, this.#lastReturnAt + this.#intervalMs)
    const retryAfterMs = Math.min(this.#lastReturnAt - now, longestReturnMs)
    return new EngineError("rate-limited", "The engine is asked as often as it may be.", { retryAfterMs })
  }
}
