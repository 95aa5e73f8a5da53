// A queue in the database: rows with the time of their next attempt. A server claims a row by postponing the next attempt until this one
// must have ended. If the server crashes, another server, or the same one after a restart, claims the row then.
import { logFailure } from "../core/failure-log.ts"
import type { Runtime } from "../core/runtime.ts"
import { formatInstant, type Instant, isAhead, secondMs } from "../core/time.ts"
import { type Timers, within } from "../core/timers.ts"
import { apart, untraced } from "../core/tracing.ts"
import { type AttemptSchedule, turnToleranceMs } from "./acme.ts"

export interface DueWork<Item, Outcome> {
  /** Prefix of log events. */
  readonly name: string
  /** Longer than any attempt. */
  readonly leaseMs: number
  /** Returns the time of the next attempt on any row. */
  nextAt(): Promise<Instant | undefined>
  /** Claims at most `limit` due rows exclusively. */
  claim(now: Instant, leasedUntil: Instant, limit: number): Promise<readonly Item[]>
  attempt(item: Item): Promise<Outcome>
  /** Returns fields for the log. */
  describe(item: Item): object
}

/** Concurrent attempts. */
const maxConcurrency = 64
/** Maximum delay until rows of other servers are found. */
const pollMs = 10 * secondMs
/** Attempts that have not ended by then are repeated after their lease. */
const stopTimeoutMs = 10 * secondMs

export class DueQueue<Item, Outcome> {
  readonly #work: DueWork<Item, Outcome>
  readonly #runtime: Pick<Runtime, "clock" | "log" | "tracer">
  readonly #timers: Timers
  readonly #inFlight = new Set<Promise<unknown>>()
  #reserved = 0
  /** True if due rows wait in the database for a free place. */
  #crowded = false
  #wakesAt = Number.POSITIVE_INFINITY
  #looking: Promise<void> | undefined
  #again = false
  #stopped = false
  #cancel = () => {}

  constructor(work: DueWork<Item, Outcome>, { runtime, timers }: { runtime: Runtime; timers: Timers }) {
    this.#work = work
    this.#runtime = runtime
    this.#timers = timers
    this.#schedule(this.#runtime.clock.now() + pollMs)
  }

  /** Checks for due rows now. */
  kick(): void {
    if (this.#stopped) return
    if (this.#looking !== undefined) {
      this.#again = true
      return
    }
    this.#looking = untraced(this.#runtime.tracer, () => this.#look()).finally(() => {
      this.#looking = undefined
      if (this.#again) {
        this.#again = false
        this.kick()
      }
    })
  }

  /** Reserves a place for a row that is inserted with its first turn claimed. Returns undefined if the row must wait in the database. */
  reserve(): Place<Item, Outcome> | undefined {
    if (this.#stopped) return undefined
    if (this.#free() <= 0) {
      this.#crowded = true
      return undefined
    }
    this.#reserved += 1
    let isReserved = true
    const release = () => {
      if (isReserved) this.#reserved -= 1
      isReserved = false
    }
    return {
      start: (item) => {
        release()
        return this.#start(item)
      },
      [Symbol.dispose]: release,
    }
  }

  /** Schedules a check at an instant at which a row will be due. */
  expect(at: Instant): void {
    if (at < this.#wakesAt) this.#schedule(at)
  }

  /** Returns the result of `work`, or undefined if it takes longer than `timeoutMs`. */
  within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
    return within(this.#timers, timeoutMs, work)
  }

  /** Stops claiming, and waits for running attempts up to a limit. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#looking
    if (this.#inFlight.size === 0) return
    await this.within(stopTimeoutMs, Promise.all(this.#inFlight))
  }

  #free(): number {
    return maxConcurrency - this.#inFlight.size - this.#reserved
  }

  async #look(): Promise<void> {
    this.#cancel()
    const now = this.#runtime.clock.now()
    this.#wakesAt = now + pollMs
    try {
      const next = await this.#work.nextAt()
      const free = this.#free()
      const leasedUntil = now + this.#work.leaseMs
      const isPutOffByWrongClock = next !== undefined && isAhead(next, leasedUntil, turnToleranceMs)
      if (isPutOffByWrongClock)
        this.#runtime.log.warn(`${this.#work.name}-turn-ahead`, { attemptAt: formatInstant(next) })
      if (next !== undefined && (next <= now || isPutOffByWrongClock) && free > 0) {
        const claimed = await this.#work.claim(now, leasedUntil, free)
        for (const item of claimed) void this.#start(item)
        // Further due rows are claimed when one of these has ended.
        this.#crowded = claimed.length === free
      } else if (next !== undefined) {
        this.#crowded = next <= now
        if (next > now) this.#wakesAt = Math.min(this.#wakesAt, next)
      } else this.#crowded = false
    } catch (error) {
      if (!this.#stopped) logFailure(this.#runtime.log, "error", `${this.#work.name}-queue-unread`, { error })
    }
    this.#schedule(this.#wakesAt)
  }

  #schedule(at: Instant): void {
    this.#cancel()
    this.#wakesAt = at
    const delayMs = Math.max(0, Math.ceil(at - this.#runtime.clock.now()))
    if (!this.#stopped) this.#cancel = this.#timers.after(delayMs, () => this.kick())
  }

  /** Runs an attempt. Returns undefined if it failed; the row can be claimed again when its lease ends. */
  #start(item: Item): Promise<Outcome | undefined> {
    const work = apart(this.#runtime.tracer, this.#work.name, () => this.#work.attempt(item))
      .catch((error: unknown) => {
        if (!this.#stopped)
          logFailure(this.#runtime.log, "error", `${this.#work.name}-attempt-failed`, {
            ...this.#work.describe(item),
            error,
          })
        return undefined
      })
      .finally(() => {
        this.#inFlight.delete(work)
        if (this.#crowded) this.kick()
      })
    this.#inFlight.add(work)
    return work
  }
}

export interface Place<Item, Outcome> extends Disposable {
  /** Starts the attempt. Call it after the row is committed. */
  start(item: Item): Promise<Outcome | undefined>
}

/** Returns the first turn of a new row: claimed if there is a place, due at once otherwise. */
export const turnOf = (place: object | undefined, now: Instant, leaseMs: number): AttemptSchedule =>
  place === undefined ? { attempts: 0, attemptAt: now } : { attempts: 1, attemptAt: now + leaseMs }
