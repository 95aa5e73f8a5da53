// Queue of objects to reconcile. A key is queued once however often it is added, and one worker processes it at a time. More urgent keys
// come first. Within an urgency, namespaces take turns, so that thousands of changes in one namespace do not delay others. Waiting keys
// become more urgent, so that none starves.
import { type ObjectKey, parseKey } from "../kube/kubernetes-object.ts"
import type { OperatorRuntime } from "../runtime.ts"

/** `change`: an object was edited. `retry`: a reconciliation failed. `resync`: a poll. */
export type Urgency = "change" | "retry" | "resync"

const urgencies: readonly Urgency[] = ["change", "retry", "resync"]

export interface WorkQueueOptions extends Pick<OperatorRuntime, "stopwatch" | "timers" | "random"> {
  readonly backoffBaseMs?: number
  readonly maxBackoffMs?: number
  /** Limit over all keys, so that an engine that recovers does not get all retries at once. */
  readonly retriesPerSecond?: number
  /** Maximum number of retries at once. */
  readonly retryBurst?: number
  /** Time after which a key moves up by one urgency. */
  readonly ageingMs?: number
  readonly observer?: WorkQueueObserver
}

export interface WorkQueueObserver {
  added(): void
  taken(waitedMs: number): void
  retried(): void
}

interface Entry {
  readonly key: ObjectKey
  readonly tenant: string
  /** Times of being added, and of reaching its current urgency. */
  readonly addedAt: number
  readonly since: number
}

interface Delayed {
  readonly key: ObjectKey
  readonly dueAt: number
  readonly urgency: Urgency
}

/** Timers are checked at least this often, because the clock may jump and the machine may sleep. */
const longestTimerMs = 60_000
/** Random share of a backoff, in both directions. */
const jitter = 0.2
/** Each failure doubles the backoff. More doublings exceed any maximum. */
const maxDoublings = 30

export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #levels = new Map(urgencies.map((urgency) => [urgency, new Level()]))
  readonly #urgencyOf = new Map<ObjectKey, Urgency>()
  readonly #processing = new Set<ObjectKey>()
  /** Keys that were added while a worker processed them. */
  readonly #again = new Map<ObjectKey, Urgency>()
  readonly #failures = new Map<ObjectKey, number>()
  readonly #delayed = new Map<ObjectKey, Delayed>()
  readonly #due = new DueHeap()
  readonly #takers: ((key: ObjectKey | undefined) => void)[] = []
  /** Earliest time of the next retry (generic cell rate algorithm, ITU-T I.371). */
  #nextRetryAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #closed = false

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  get depth(): number {
    return this.#urgencyOf.size
  }

  /** True if no key is being processed or waits, except for a delay. */
  get isIdle(): boolean {
    return this.#urgencyOf.size + this.#processing.size === 0
  }

  add(key: ObjectKey, urgency: Urgency): void {
    if (this.#closed) return
    if (this.#processing.has(key)) {
      this.#again.set(key, moreUrgent(urgency, this.#again.get(key)))
      return
    }
    const present = this.#urgencyOf.get(key)
    if (present !== undefined && moreUrgent(urgency, present) === present) return
    const now = this.#options.stopwatch()
    const entry = present === undefined ? undefined : this.#level(present).remove(key)
    this.#put({ key, tenant: parseKey(key).namespace ?? "", addedAt: entry?.addedAt ?? now, since: now }, urgency)
    if (present === undefined) this.#options.observer?.added()
    this.#serve()
  }

  /** Adds a key after a delay. If the key is delayed already, the earlier time counts. */
  addAfter(key: ObjectKey, delayMs: number, urgency: Urgency): void {
    if (this.#closed) return
    if (delayMs <= 0) return this.add(key, urgency)
    const dueAt = this.#options.stopwatch() + delayMs
    const present = this.#delayed.get(key)
    if (present !== undefined && present.dueAt <= dueAt) return
    const delayed = { key, dueAt, urgency }
    this.#delayed.set(key, delayed)
    this.#due.push(delayed)
    this.#due.compact((each) => this.#delayed.get(each.key) === each, this.#delayed.size)
    this.#arm()
  }

  /** Counts a failure. Returns the delay of the next attempt in milliseconds, which grows with each failure. */
  backoff(key: ObjectKey): number {
    const { backoffBaseMs = 1_000, maxBackoffMs = 300_000, random, observer } = this.#options
    const failed = this.#failures.get(key) ?? 0
    this.#failures.set(key, Math.min(failed + 1, maxDoublings))
    observer?.retried()
    const ownMs = Math.min(backoffBaseMs * 2 ** failed, maxBackoffMs) * (1 + jitter * (2 * random() - 1))
    return Math.max(ownMs, this.#turnMs())
  }

  /** Returns the delay by the limit over all keys, and reserves that slot. */
  #turnMs(): number {
    const { stopwatch, retriesPerSecond = 100, retryBurst = 500 } = this.#options
    const intervalMs = 1_000 / retriesPerSecond
    const now = stopwatch()
    this.#nextRetryAt = Math.max(this.#nextRetryAt, now - retryBurst * intervalMs) + intervalMs
    return this.#nextRetryAt - now
  }

  /** Adds a key after a failure, delayed by its backoff. Returns the delay in milliseconds. */
  retry(key: ObjectKey): number {
    const delayMs = this.backoff(key)
    this.addAfter(key, delayMs, "retry")
    return delayMs
  }

  /** Resets the count of failures. */
  forget(key: ObjectKey): void {
    this.#failures.delete(key)
  }

  /** Waits for the next key. The caller owns it until `done`. Resolves to undefined once the queue is closed. */
  take(): Promise<ObjectKey | undefined> {
    if (this.#closed) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      this.#takers.push(resolve)
      this.#serve()
    })
  }

  done(key: ObjectKey): void {
    this.#processing.delete(key)
    const again = this.#again.get(key)
    this.#again.delete(key)
    if (again !== undefined) this.add(key, again)
  }

  /** Closes the queue. Keys in progress are not affected. */
  close(): void {
    this.#closed = true
    this.#cancelTimer?.()
    for (const taker of this.#takers.splice(0)) taker(undefined)
  }

  #level(urgency: Urgency): Level {
    const level = this.#levels.get(urgency)
    if (level === undefined) throw new Error(`no level ${urgency}`)
    return level
  }

  #put(entry: Entry, urgency: Urgency): void {
    this.#level(urgency).add(entry)
    this.#urgencyOf.set(entry.key, urgency)
  }

  #serve(): void {
    while (this.#takers.length > 0) {
      const entry = this.#next()
      if (entry === undefined) return
      this.#urgencyOf.delete(entry.key)
      // This reconciliation replaces the delayed one.
      this.#delayed.delete(entry.key)
      this.#processing.add(entry.key)
      this.#options.observer?.taken(this.#options.stopwatch() - entry.addedAt)
      this.#takers.shift()?.(entry.key)
    }
  }

  #next(): Entry | undefined {
    this.#promote()
    for (const urgency of urgencies) {
      const entry = this.#level(urgency).shift()
      if (entry !== undefined) return entry
    }
    return undefined
  }

  /** Moves old entries up. An entry moves at most once per urgency. */
  #promote(): void {
    const now = this.#options.stopwatch()
    const { ageingMs = 10_000 } = this.#options
    for (const [index, urgency] of urgencies.entries()) {
      const above = urgencies[index - 1]
      if (above === undefined) continue
      for (;;) {
        const oldest = this.#level(urgency).oldest()
        if (oldest === undefined || now - oldest.since < ageingMs) break
        this.#level(urgency).remove(oldest.key)
        this.#put({ ...oldest, since: now }, above)
      }
    }
  }

  #arm(): void {
    const next = this.#due.peek()
    if (next === undefined || next.dueAt >= this.#timerAt) return
    this.#cancelTimer?.()
    const now = this.#options.stopwatch()
    const delayMs = Math.min(Math.max(next.dueAt - now, 0), longestTimerMs)
    this.#timerAt = now + delayMs
    this.#cancelTimer = this.#options.timers.after(delayMs, () => this.#ring())
  }

  #ring(): void {
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#options.stopwatch()
    for (let next = this.#due.peek(); next !== undefined && next.dueAt <= now; next = this.#due.peek()) {
      this.#due.pop()
      if (this.#delayed.get(next.key) !== next) continue
      this.#delayed.delete(next.key)
      this.add(next.key, next.urgency)
    }
    this.#arm()
  }
}

function moreUrgent(one: Urgency, other: Urgency | undefined): Urgency {
  return other !== undefined && urgencies.indexOf(other) <= urgencies.indexOf(one) ? other : one
}

/** Keys of one urgency: namespaces by turn, keys of a namespace in order of arrival. */
class Level {
  /** In the order of `since`: the first has waited longest. */
  readonly #entries = new Map<ObjectKey, Entry>()
  readonly #tenants = new Map<string, Set<ObjectKey>>()

  add(entry: Entry): void {
    this.#entries.set(entry.key, entry)
    const keys = this.#tenants.get(entry.tenant)
    if (keys === undefined) this.#tenants.set(entry.tenant, new Set([entry.key]))
    else keys.add(entry.key)
  }

  remove(key: ObjectKey): Entry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    const keys = this.#tenants.get(entry.tenant)
    keys?.delete(key)
    if (keys?.size === 0) this.#tenants.delete(entry.tenant)
    return entry
  }

  oldest(): Entry | undefined {
    return first(this.#entries.values())
  }

  /** Removes the first key of the namespace whose turn it is, and moves the namespace to the end. */
  shift(): Entry | undefined {
    const turn = first(this.#tenants.entries())
    if (turn === undefined) return undefined
    const [tenant, keys] = turn
    const key = first(keys)
    if (key === undefined) return undefined
    const entry = this.remove(key)
    if (keys.size > 0) {
      this.#tenants.delete(tenant)
      this.#tenants.set(tenant, keys)
    }
    return entry
  }
}

const first = <Item>(items: Iterable<Item>): Item | undefined => {
  for (const item of items) return item
  return undefined
}

/** Min-heap by time. */
class DueHeap {
  #items: Delayed[] = []

  peek(): Delayed | undefined {
    return this.#items[0]
  }

  push(item: Delayed): void {
    let index = this.#items.push(item) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#at(parent).dueAt <= item.dueAt) break
      this.#items[index] = this.#at(parent)
      index = parent
    }
    this.#items[index] = item
  }

  pop(): Delayed | undefined {
    const [earliest] = this.#items
    const last = this.#items.pop()
    if (last !== undefined && this.#items.length > 0) this.#sink(last)
    return earliest
  }

  /** Removes entries that were replaced by earlier ones, before they outnumber the valid ones. */
  compact(counts: (item: Delayed) => boolean, countingCount: number): void {
    if (this.#items.length <= 2 * countingCount + 64) return
    this.#items = this.#items.filter(counts).toSorted((one, other) => one.dueAt - other.dueAt)
  }

  #at(index: number): Delayed {
    const item = this.#items[index]
    if (item === undefined) throw new Error(`the heap has no item ${index}`)
    return item
  }

  #sink(item: Delayed): void {
    const { length } = this.#items
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= length) break
      if (child + 1 < length && this.#at(child + 1).dueAt < this.#at(child).dueAt) child += 1
      if (this.#at(child).dueAt >= item.dueAt) break
      this.#items[index] = this.#at(child)
      index = child
    }
    this.#items[index] = item
  }
}
