// Delivers events to webhooks. One server at a time does so, under a lease. After each response, the result is stored together with the
// feed position in one transaction. No event is therefore skipped, and another server can continue where this one stopped. Each webhook is
// served separately, so that a slow one does not delay others.
import { isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { type Instant, minuteMs, secondMs } from "../../core/time.ts"
import { nextTurn, type Timers } from "../../core/timers.ts"
import { apart } from "../../core/tracing.ts"
import type { OrganizationRepository } from "../../organizations/organization.ts"
import { formatCursor } from "../feed/cursor.ts"
import { type EventPosition, type EventRepository, isBefore, type StoredEvent } from "../feed/event.ts"
import { viewOf } from "../feed/event-feed.ts"
import { fits, keysOf } from "../feed/event-filter.ts"
import type { EventView } from "../feed/events.ts"
import type { WebhookMetrics } from "./webhook-metrics.ts"
import type { DeadLetter, Webhook, WebhookRepository } from "./webhook.ts"
import { type DeliveryOutcome, isAttemptDue, stepAfter } from "./webhook-progress.ts"

export interface Delivery {
  /** Id that is the same at every attempt. */
  readonly id: string
  readonly webhookId: string
  readonly url: string
  readonly secret: string
  readonly body: string
}

/** Sends each delivery once, without retries. */
export interface WebhookClient {
  /** Returns the request body of an event. */
  body(event: EventView): Promise<string>
  deliver(delivery: Delivery): Promise<DeliveryOutcome>
}

interface UsedRepositories {
  readonly events: EventRepository
  readonly organizations: OrganizationRepository
  readonly webhooks: WebhookRepository
}

interface Context {
  readonly storage: Storage<UsedRepositories>
  readonly runtime: Pick<Runtime, "clock" | "digest" | "log" | "random" | "tracer">
  readonly timers: Timers
  readonly client: WebhookClient
  /** Retention of events, and of dead letters. */
  readonly eventRetentionMs: number
  readonly metrics: WebhookMetrics
  /** Starts the job again when its run ends with work left. */
  readonly wakeJob: (name: string) => void
}

export const webhooksJob = { name: "webhooks", everyMs: 10 * secondMs, timeoutMs: 10 * minuteMs } as const

/** A run ends by itself after this time, so that another server can take the lease. */
const runMs = 5 * minuteMs
/** Interval of the checks for commits of other servers and for retries. */
const pollMs = secondMs
/** Commits seldom come alone. Those within this time are read together. */
const gatherMs = 20
/** Maximum of webhooks and dead letters that are served concurrently. */
const maxAtWork = 32
/** The same limit for one organization, and for all redeliveries together. Slow webhooks of one organization do not delay others. */
const maxAtWorkInGroup = 8
/** Deliveries to one webhook before others get a turn. */
const deliveriesPerTurn = 20
/** Maximum duration of a turn. One delivery may exceed it. */
const turnMs = 5 * secondMs
const eventsPerLook = 500
/** Reads of one turn in which the filter matches no event. */
const looksPerTurn = 10
const webhooksPerRead = 500
/** Reads of one pass over all webhooks. */
const maxReads = 200
const lettersPerWrite = 500
/** Transactions of one run of the job. */
const maxWrites = 1_000

/** Pause after a failure that the receiver did not cause, such as a secret that cannot be unsealed. */
const restMs = 30 * secondMs

/** Position of a webhook beyond its stored cursor, and the number of events before it that the filter excluded. */
interface ScannedPosition {
  readonly position: EventPosition
  readonly skipped: number
}

interface Due {
  readonly webhook: Webhook
  readonly event: StoredEvent
  readonly view: EventView
  readonly secret: string
}

export class WebhookDelivery {
  readonly #context: Context
  readonly #atWork = new Map<string, { readonly group: string; readonly done: Promise<void> }>()
  /** Ends of the pauses after failures in this process, by webhook or dead letter. */
  readonly #resting = new Map<string, Instant>()
  readonly #looked = new Map<string, ScannedPosition>()
  /** Webhook that was started last. The next pass begins after it. */
  #last = ""
  #woken = false
  #resume = () => {}

  constructor(context: Context) {
    this.#context = context
  }

  /** Starts a pass soon if this server runs the job; otherwise does nothing. */
  wake(): void {
    this.#woken = true
    this.#resume()
  }

  async run({ signal }: Pick<HeldLease, "signal">): Promise<void> {
    const { runtime, wakeJob } = this.#context
    await this.#sweepLetters(signal)
    // Another server may have served the webhooks since, with other filters.
    this.#looked.clear()
    this.#resting.clear()
    const until = runtime.clock.now() + runMs
    const stop = () => this.wake()
    signal.addEventListener("abort", stop, { once: true })
    let hasWork = true
    try {
      while (!signal.aborted && runtime.clock.now() < until) {
        this.#woken = false
        hasWork = await this.begin(signal)
        if (!hasWork) break
        await this.#pause(this.#woken)
      }
    } finally {
      signal.removeEventListener("abort", stop)
      await this.settled()
    }
    if (hasWork && !signal.aborted) wakeJob(webhooksJob.name)
  }

  /** Resolves when no delivery is running. */
  async settled(): Promise<void> {
    while (this.#atWork.size > 0) await Promise.all(Array.from(this.#atWork.values(), ({ done }) => done))
  }

  /** Starts the deliveries that are possible now. Returns false if no webhook is enabled and no redelivery is requested. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const { storage, runtime } = this.#context
    const { enabled, letters, end } = await storage.read(async ({ webhooks, events }) => ({
      enabled: await everyEnabled(webhooks),
      letters: await webhooks.redelivering(maxAtWorkInGroup),
      end: await events.end(),
    }))
    const now = runtime.clock.now()
    const known = new Set(enabled.map(({ id }) => id))
    for (const id of this.#looked.keys()) if (!known.has(id)) this.#looked.delete(id)
    for (const letter of letters) this.#work(letter.id, "letters", signal, () => this.#redeliver(letter, signal))
    const last = this.#last
    const inTurn = [...enabled.filter(({ id }) => id > last), ...enabled.filter(({ id }) => id <= last)]
    for (const webhook of inTurn) {
      const { id, organizationId, pending } = webhook
      const isDue = pending === null ? isBefore(this.#placeOf(webhook), end) : isAttemptDue(pending.dueAt, now)
      if (isDue && this.#work(id, organizationId, signal, () => this.#serve(id, signal))) this.#last = id
    }
    return enabled.length > 0 || letters.length > 0
  }

  #pause(isWoken: boolean): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        cancel()
        this.#resume = () => {}
        resolve()
      }
      const cancel = this.#context.timers.after(isWoken ? gatherMs : pollMs, resume)
      if (!isWoken) this.#resume = resume
    })
  }

  /** Starts work in the background. Returns false if it is already running or paused, or if a limit is reached. */
  #work(key: string, group: string, signal: AbortSignal, work: () => Promise<void>): boolean {
    const { clock, log, tracer } = this.#context.runtime
    if (this.#atWork.has(key) || this.#atWork.size >= maxAtWork || signal.aborted) return false
    if ((this.#resting.get(key) ?? 0) > clock.now()) return false
    const inGroup = Array.from(this.#atWork.values()).filter((one) => one.group === group)
    if (inGroup.length >= maxAtWorkInGroup) return false
    const done = apart(tracer, "webhook", work)
      .catch((error: unknown) => {
        // A result that was not stored leads to another attempt, so an event may be delivered twice.
        this.#resting.set(key, clock.now() + restMs)
        if (!signal.aborted && !isEngineError(error, "busy"))
          logFailure(log, "error", "webhook-not-served", { key, error })
      })
      .finally(() => {
        this.#atWork.delete(key)
        this.wake()
      })
    this.#atWork.set(key, { group, done })
    return true
  }

  /** Delivers events in order, until none is left, a delivery fails, or the turn of the webhook ends. */
  async #serve(id: string, signal: AbortSignal): Promise<void> {
    const { runtime, client } = this.#context
    const until = runtime.clock.now() + turnMs
    for (let count = 0; count < deliveriesPerTurn && runtime.clock.now() < until; count += 1) {
      const due = await this.#next(id, signal)
      if (due === undefined || signal.aborted) return
      const { webhook, event, view, secret } = due
      const body = await client.body(view)
      const delivery = { id: this.#deliveryId(webhook, event), webhookId: id, url: webhook.url, secret, body }
      const outcome = await unlessAborted(client.deliver(delivery), signal)
      if (outcome === undefined) return
      await this.#settle(due, delivery, outcome)
      if (!outcome.delivered) return
    }
  }

  /** Returns the next event to deliver. Stores the position of a webhook after many events that its filter excludes. */
  async #next(id: string, signal: AbortSignal): Promise<Due | undefined> {
    const { storage, runtime } = this.#context
    for (let looks = 0; looks < looksPerTurn && !signal.aborted; looks += 1) {
      const look = await storage.read(async ({ webhooks, organizations, events }) => {
        const webhook = await webhooks.find(id)
        if (webhook === undefined || !webhook.enabled) return undefined
        const { pending, organizationId } = webhook
        if (pending !== null && !isAttemptDue(pending.dueAt, runtime.clock.now())) return undefined
        const found = await events.after(organizationId, this.#placeOf(webhook), eventsPerLook)
        const place = found.findIndex((event) => fits(webhook, keysOf(event)))
        const event = found[place]
        if (event === undefined)
          return { webhook, found, end: found.length < eventsPerLook ? await events.end() : undefined }
        const organization = await organizations.find(organizationId)
        const secret = await webhooks.secret(id)
        if (organization === undefined || secret === undefined) return undefined
        return { due: { webhook, event, view: viewOf(event, organization.name), secret } }
      })
      if (look === undefined) return undefined
      if (look.due !== undefined) return look.due
      const { webhook, found, end } = look
      const last = found.at(-1)?.position ?? webhook.cursor
      const position = end === undefined || isBefore(end, last) ? last : end
      const skipped = (this.#looked.get(id)?.skipped ?? 0) + found.length
      this.#looked.set(id, { position, skipped })
      // The pending event no longer matches the filter, or was swept.
      if (skipped >= eventsPerLook || webhook.pending !== null) await this.#moveOn(webhook, position)
      if (end !== undefined) return undefined
    }
    return undefined
  }

  async #moveOn(seen: Webhook, cursor: EventPosition): Promise<void> {
    await this.#context.storage.transact(async ({ webhooks }) => {
      const webhook = await webhooks.find(seen.id)
      if (webhook !== undefined && isAt(webhook, seen)) await webhooks.save({ ...webhook, cursor, pending: null })
    })
    this.#looked.set(seen.id, { position: cursor, skipped: 0 })
  }

  async #settle({ webhook: seen, event, view }: Due, { id, body }: Delivery, outcome: DeliveryOutcome): Promise<void> {
    const { storage, runtime, metrics } = this.#context
    const now = runtime.clock.now()
    const [octet = 0] = runtime.random.bytes(1)
    const { position } = event
    const step = await storage.transact(async ({ webhooks, events }) => {
      const webhook = await webhooks.find(seen.id)
      // The webhook was deleted, or another server took over and has stored its own result.
      if (webhook === undefined || !isAt(webhook, seen)) return undefined
      const step = stepAfter(webhook, outcome, { position, now, chance: octet / 256 })
      await webhooks.save(step.webhook)
      if (step.letter !== undefined)
        await webhooks.saveLetter({
          ...step.letter,
          id,
          webhookId: webhook.id,
          eventId: view.id,
          kind: event.kind,
          document: body,
          failedAt: now,
          redelivering: false,
        })
      if (step.disabled)
        await events.append({
          kind: "webhook.disabled",
          organizationId: webhook.organizationId,
          subject: { type: "webhooks", id: webhook.id },
          changed: ["enabled", "disabledReason"],
        })
      return step
    })
    this.#looked.delete(seen.id)
    metrics.deliveries.add(1, { outcome: outcome.delivered ? "delivered" : "failed" })
    if (step?.letter !== undefined) metrics.deadLetters.add(1)
    if (step?.disabled === true) metrics.disabled.add(1)
  }

  async #redeliver({ webhookId, id }: DeadLetter, signal: AbortSignal): Promise<void> {
    const { storage, runtime, client, metrics } = this.#context
    const found = await storage.read(async ({ webhooks }) => ({
      webhook: await webhooks.find(webhookId),
      secret: await webhooks.secret(webhookId),
      letter: await webhooks.letter(webhookId, id),
    }))
    const { webhook, secret, letter } = found
    if (webhook === undefined || secret === undefined || letter?.redelivering !== true) return
    const delivery = { id, webhookId, url: webhook.url, secret, body: letter.document }
    const outcome = await unlessAborted(client.deliver(delivery), signal)
    if (outcome === undefined) return
    const now = runtime.clock.now()
    await storage.transact(async ({ webhooks }) => {
      const letter = await webhooks.letter(webhookId, id)
      if (letter === undefined) return
      if (outcome.delivered) return webhooks.removeLetter(webhookId, id)
      const attempts = letter.attempts + 1
      await webhooks.saveLetter({ ...letter, attempts, lastError: outcome.error, failedAt: now, redelivering: false })
    })
    metrics.deliveries.add(1, { outcome: outcome.delivered ? "delivered" : "failed" })
  }

  async #sweepLetters(signal: AbortSignal): Promise<void> {
    const { storage, runtime, eventRetentionMs } = this.#context
    const before = runtime.clock.now() - eventRetentionMs
    for (let writes = 0; writes < maxWrites && !signal.aborted; writes += 1) {
      const old = await storage.read(({ webhooks }) => webhooks.hasLettersBefore(before))
      if (!old) return
      await storage.transact(({ webhooks }) => webhooks.sweepLetters(before, lettersPerWrite))
      await nextTurn()
    }
  }

  #placeOf({ id, cursor }: Webhook): EventPosition {
    const looked = this.#looked.get(id)?.position
    return looked !== undefined && isBefore(cursor, looked) ? looked : cursor
  }

  /** Derives the id from facts that are unique to the delivery, so that a server that takes over computes the same id. */
  #deliveryId({ id }: Webhook, { position, at }: StoredEvent): string {
    return `whd-${this.#context.runtime.digest(`${id} ${formatCursor(position)} ${at}`).slice(0, deliveryIdLength)}`
  }
}

/** Number of hex digits. */
const deliveryIdLength = 32

async function everyEnabled(webhooks: UsedRepositories["webhooks"]): Promise<readonly Webhook[]> {
  const all: Webhook[] = []
  for (let reads = 0; reads < maxReads; reads += 1) {
    const some = await webhooks.enabled(all.at(-1)?.id ?? "", webhooksPerRead)
    all.push(...some)
    if (some.length < webhooksPerRead) break
  }
  return all
}

/** Returns true if the delivery has not advanced since `webhook` was read. */
const isAt = (webhook: Webhook, { cursor, pending }: Webhook): boolean =>
  !isBefore(webhook.cursor, cursor) &&
  !isBefore(cursor, webhook.cursor) &&
  (webhook.pending?.attempts ?? 0) === (pending?.attempts ?? 0)

/** Returns undefined once the signal is aborted. A closing engine does not wait for the response; its delivery is tried again later. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const stop = () => resolve(undefined)
  signal.addEventListener("abort", stop, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
