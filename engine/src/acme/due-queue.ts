// A queue that lies in the store: rows whose turn comes at an instant. A turn is taken by putting the next one off until the
// attempt must have ended, so that what a server was at when it died is taken up by another, and by itself after a restart.
import { logFailure } from "../core/failure-log.ts"
import type { Runtime } from "../core/runtime.ts"
import { formatInstant, type Instant, isAhead, secondMs } from "../core/time.ts"
import { type Timers, within } from "../core/timers.ts"
import { apart, untraced } from "../core/tracing.ts"
import { type Turn, turnToleranceMs } from "./acme.ts"

export interface DueWork<Item, Outcome> {
  /** Begins the events of the log. */
  readonly name: string
  /** Longer than any attempt takes. */
  readonly leaseMs: number
  /** When the next one's turn comes. */
  nextAt(): Promise<Instant | undefined>
  /** At most `limit` of those that are due, for whoever is told of them alone. */
  claim(now: Instant, leasedUntil: Instant, limit: number): Promise<readonly Item[]>
  attempt(item: Item): Promise<Outcome>
  /** For the log. */
  describe(item: Item): object
}

/** At one time. */
const concurrencyMaximum = 64
/** How soon what other servers have left is found. */
const pollMs = 10 * secondMs
/** What has not ended by then goes on elsewhere. */
const stopPatienceMs = 10 * secondMs

export class DueQueue<Item, Outcome> {
  readonly #work: DueWork<Item, Outcome>
  readonly #runtime: Pick<Runtime, "clock" | "log" | "tracer">
  readonly #timers: Timers
  readonly #inFlight = new Set<Promise<unknown>>()
  #reserved = 0
  /** Something waits in the store for a place here. */
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

  /** Something may be due. */
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

  /** A place for what is being written down with its turn taken already; undefined where it has to wait in the store. */
  reserve(): Place<Item, Outcome> | undefined {
    if (this.#stopped) return undefined
    if (this.#free() <= 0) {
      this.#crowded = true
      return undefined
    }
    this.#reserved += 1
    let held = true
    const release = () => {
      if (held) this.#reserved -= 1
      held = false
    }
    return {
      start: (item) => {
        release()
        return this.#start(item)
      },
      [Symbol.dispose]: release,
    }
  }

  /** There will be something due at an instant. */
  expect(at: Instant): void {
    if (at < this.#wakesAt) this.#schedule(at)
  }

  /** What comes of it, unless that takes longer. */
  within<T>(patienceMs: number, work: Promise<T>): Promise<T | undefined> {
    return within(this.#timers, patienceMs, work)
  }

  /** Ends when what is under way has ended, or has had its time. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#looking
    if (this.#inFlight.size === 0) return
    await this.within(stopPatienceMs, Promise.all(this.#inFlight))
  }

  #free(): number {
    return concurrencyMaximum - this.#inFlight.size - this.#reserved
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
        // Whatever else is due is looked for when one of these has ended.
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

  /** Undefined for what could not be brought to an end; its turn comes again when this one has run out. */
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
  /** Once it is written down. */
  start(item: Item): Promise<Outcome | undefined>
}

/** The turn of what is begun at an instant: taken, where there is a place for it. */
export const turnOf = (place: object | undefined, now: Instant, leaseMs: number): Turn =>
  place === undefined ? { attempts: 0, attemptAt: now } : { attempts: 1, attemptAt: now + leaseMs }
