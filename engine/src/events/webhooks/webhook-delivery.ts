// Brings events to the addresses of webhooks. One server at a time does, under a lease; what has come of each attempt is stored
// with the place in the feed in one transaction, after the answer, so that nothing is passed over and another server goes on where
// this one stopped. Each webhook is served by itself: one that is slow holds up nobody else.
import { isEngineError } from "../../core/errors.ts"
import { logFailure } from "../../core/failure-log.ts"
import type { Held } from "../../core/leases.ts"
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
  /** The same at every attempt. */
  readonly id: string
  readonly webhookId: string
  readonly url: string
  readonly secret: string
  readonly body: string
}

/** Asks once. */
export interface WebhookClient {
  /** What is sent of an event. */
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
  /** How long events are kept, and dead letters as long. */
  readonly eventRetentionMs: number
  readonly metrics: WebhookMetrics
  /** Starts the job again, when its run ends with work left. */
  readonly wakeJob: (name: string) => void
}

/** The name of the job. */
export const webhooksJob = { name: "webhooks", everyMs: 10 * secondMs, timeoutMs: 10 * minuteMs } as const

/** A run ends by itself after this time, so that the lease goes round. */
const runMs = 5 * minuteMs
/** How often is looked for what other servers have committed, and for what is to be tried again. */
const pollMs = secondMs
/** A commit seldom comes alone; those of this time are looked at together. */
const gatherMs = 20
/** At work at the same time. */
const atWorkMaximum = 32
/** Of one organization, and of letters to be sent again: whoever has many that are slow waits for oneself. */
const atWorkInGroupMaximum = 8
/** Of one webhook before others have their turn. */
const deliveriesPerTurn = 20
/** And no longer than this; one delivery may go beyond it. */
const turnMs = 5 * secondMs
const eventsPerLook = 500
/** Of one webhook in one look: what its filter lets nothing through of. */
const looksPerTurn = 10
const webhooksPerRead = 500
/** In one read of all webhooks. */
const readsMaximum = 200
const lettersPerWrite = 500
/** In one run of the job. */
const writesMaximum = 1_000

/** After what no receiver is to blame for, such as a secret that does not open. */
const restMs = 30 * secondMs

/** Up to where a webhook has nothing that it wants, beyond what is stored; and how much that is. */
interface Looked {
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
  /** Until when what went wrong in this process is left alone. */
  readonly #resting = new Map<string, Instant>()
  readonly #looked = new Map<string, Looked>()
  /** The webhook that was set to work last: those behind it are next. */
  #last = ""
  #woken = false
  #resume = () => {}

  constructor(context: Context) {
    this.#context = context
  }

  /** There may be something to do, where this server is the one that delivers; else nothing. */
  wake(): void {
    this.#woken = true
    this.#resume()
  }

  async run({ signal }: Pick<Held, "signal">): Promise<void> {
    const { runtime, wakeJob } = this.#context
    await this.#sweepLetters(signal)
    // Another server may have served them since, under other filters.
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

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#atWork.size > 0) await Promise.all(Array.from(this.#atWork.values(), ({ done }) => done))
  }

  /** Sets to work on what is due; false where no webhook is enabled and no letter is to be sent again. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const { storage, runtime } = this.#context
    const { enabled, letters, end } = await storage.read(async ({ webhooks, events }) => ({
      enabled: await everyEnabled(webhooks),
      letters: await webhooks.redelivering(atWorkInGroupMaximum),
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

  /** False where it is at work already, or too many are. */
  #work(key: string, group: string, signal: AbortSignal, work: () => Promise<void>): boolean {
    const { clock, log, tracer } = this.#context.runtime
    if (this.#atWork.has(key) || this.#atWork.size >= atWorkMaximum || signal.aborted) return false
    if ((this.#resting.get(key) ?? 0) > clock.now()) return false
    const inGroup = Array.from(this.#atWork.values()).filter((one) => one.group === group)
    if (inGroup.length >= atWorkInGroupMaximum) return false
    const done = apart(tracer, "webhook", work)
      .catch((error: unknown) => {
        // What was not stored is tried again, and so may be delivered twice.
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

  /** One event after another, until there is none, one fails, or others are to have their turn. */
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

  /** What is to be delivered now. Past much that a webhook does not want its place moves on in the store, too. */
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
      // What waited to be tried again is not wanted any more, or was swept.
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
      // Gone, or served by another server that took over: that one's word counts.
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
    for (let writes = 0; writes < writesMaximum && !signal.aborted; writes += 1) {
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

  /** From what no two deliveries share: a server that takes over knows it, too. */
  #deliveryId({ id }: Webhook, { position, at }: StoredEvent): string {
    return `whd-${this.#context.runtime.digest(`${id} ${formatCursor(position)} ${at}`).slice(0, deliveryIdLength)}`
  }
}

/** Hex digits. */
const deliveryIdLength = 32

async function everyEnabled(webhooks: UsedRepositories["webhooks"]): Promise<readonly Webhook[]> {
  const all: Webhook[] = []
  for (let reads = 0; reads < readsMaximum; reads += 1) {
    const some = await webhooks.enabled(all.at(-1)?.id ?? "", webhooksPerRead)
    all.push(...some)
    if (some.length < webhooksPerRead) break
  }
  return all
}

/** Whether nobody has gone further with it since. */
const isAt = (webhook: Webhook, { cursor, pending }: Webhook): boolean =>
  !isBefore(webhook.cursor, cursor) &&
  !isBefore(cursor, webhook.cursor) &&
  (webhook.pending?.attempts ?? 0) === (pending?.attempts ?? 0)

/** Nobody waits for an answer when the engine closes: what has come of it is not known then, and it is tried again. */
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
