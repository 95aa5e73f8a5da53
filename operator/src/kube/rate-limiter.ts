// Limits the requests to one engine over all objects. A caller that would wait long gets an error with a time to retry at. If it waited, it
// would block work on objects of other engines.
import { EngineError, type Pace } from "@chancery/engine"
import { type OperatorRuntime, pause } from "../runtime.ts"

export interface RateLimit {
  /** Sustained requests per second. */
  readonly rps: number
  /** Maximum number of requests at once after an idle time. */
  readonly burst: number
}

const timeoutMs = 500
const longestDeferralMs = 300_000
const longestReturnMs = 60_000

export class RequestRateLimiter implements Pace {
  readonly #runtime: Pick<OperatorRuntime, "stopwatch" | "timers">
  readonly #intervalMs: number
  readonly #burst: number
  /** Time at which the bucket is full again (generic cell rate algorithm, ITU-T I.371). */
  #fullAt = Number.NEGATIVE_INFINITY
  #deferredUntil = Number.NEGATIVE_INFINITY
  /** Time at which the last rejected caller retries. */
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
    if (waitMs > timeoutMs) throw this.#later(waitMs)
    const before = this.#turn
    const ended = Promise.withResolvers<void>()
    this.#turn = ended.promise
    this.#waiting += 1
    try {
      await before
      const turnMs = this.#waitMs(0)
      if (turnMs > 0) await pause(turnMs, this.#runtime, signal)
      signal.throwIfAborted()
      // The limiter may have been deferred while this caller waited.
      const moreMs = this.#waitMs(0)
      if (moreMs > timeoutMs) throw this.#later(moreMs)
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

  /** Returns the wait with `count` callers ahead. */
  #waitMs(count: number): number {
    const now = this.#runtime.stopwatch()
    const fullAt = Math.max(this.#fullAt, now) + count * this.#intervalMs
    return Math.max(fullAt - (this.#burst - 1) * this.#intervalMs, this.#deferredUntil) - now
  }

  /** Spreads the retries, one after another at the permitted rate. */
  #later(waitMs: number): EngineError {
    const now = this.#runtime.stopwatch()
    this.#lastReturnAt = Math.max(now + waitMs, this.#lastReturnAt + this.#intervalMs)
    const retryAfterMs = Math.min(this.#lastReturnAt - now, longestReturnMs)
    return new EngineError("rate-limited", "The rate limit of the connection is reached.", { retryAfterMs })
  }
}
