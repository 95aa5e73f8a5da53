// Webhooks send the event feed to HTTP addresses. Each has its own position in the feed, which advances when an event is delivered or given
// up.
import type { Fault } from "../../core/errors.ts"
import type { OrganizationId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"
import type { EventKind, EventPosition } from "../feed/event.ts"
import { isKnownKind } from "../feed/event-filter.ts"

export interface WebhookSettings {
  readonly name: string
  /** An http or https URL without credentials. */
  readonly url: string
  readonly enabled: boolean
  /** Filters as for followers of the feed. An empty list matches everything. */
  readonly kinds: readonly string[]
  readonly workspaces: readonly string[]
  readonly tags: readonly string[]
}

/** State of the delivery. */
export interface WebhookProgress {
  readonly enabled: boolean
  /** Reason that the server disabled it; null if it did not. */
  readonly disabledReason: string | null
  /** Position up to which all events are delivered, given up or excluded by the filter. */
  readonly cursor: EventPosition
  /** Event whose delivery failed and will be retried. */
  readonly pending: PendingEvent | null
  /** Events given up since the last one that was delivered. */
  readonly deadInARow: number
  readonly lastDeliveredAt: Instant | null
  readonly lastError: string | null
  /** Time of the first failure after the last delivery. */
  readonly failingSince: Instant | null
}

export interface PendingEvent {
  readonly position: EventPosition
  /** Number of attempts so far. */
  readonly attempts: number
  readonly dueAt: Instant
}

export interface Webhook extends WebhookSettings, WebhookProgress {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly createdAt: Instant
}

/** Webhook as it is shown to owners. */
export type WebhookView = WebhookSettings &
  Pick<Webhook, "id" | "disabledReason" | "lastDeliveredAt" | "lastError" | "failingSince" | "createdAt">

export interface CreatedWebhook extends WebhookView {
  /** Returned only once, if the server generated it; null if the caller supplied it. */
  readonly secret: string | null
}

export interface WebhookInput extends Partial<WebhookSettings> {
  readonly name: string
  readonly url: string
  /** Key that deliveries are signed with. The server generates one if it is omitted. */
  readonly secret?: string
}

export type WebhookPatch = Partial<WebhookInput>

/** Event that was given up, with the body that was sent. */
export interface DeadLetter {
  /** Id of the delivery, the same at every attempt. */
  readonly id: string
  readonly webhookId: string
  readonly eventId: string
  readonly kind: EventKind
  /** JSON body that every attempt sent. */
  readonly document: string
  readonly attempts: number
  readonly lastError: string
  readonly failedAt: Instant
  /** True while a redelivery is requested. */
  readonly redelivering: boolean
}

export type DeadLetterView = Omit<DeadLetter, "webhookId">

/** Webhooks of an organization. All operations require the right to update the organization. */
export interface Webhooks {
  create(organization: string, input: WebhookInput): Promise<CreatedWebhook>
  list(organization: string, page: PageRequest): Promise<Page<WebhookView>>
  get(organization: string, id: string): Promise<WebhookView>
  /** Changes settings. A webhook that is enabled again continues where it stopped. */
  update(organization: string, id: string, patch: WebhookPatch): Promise<WebhookView>
  delete(organization: string, id: string): Promise<void>
  deadLetters(organization: string, id: string, page: PageRequest): Promise<Page<DeadLetterView>>
  /** Sends the event once more, soon. The dead letter is deleted if that succeeds. */
  redeliver(organization: string, id: string, letterId: string): Promise<DeadLetterView>
  deleteDeadLetter(organization: string, id: string, letterId: string): Promise<void>
}

export interface WebhookRepository {
  find(id: string): Promise<Webhook | undefined>
  list(organizationId: OrganizationId, page: PageRequest): Promise<Page<Webhook>>
  /** Returns webhooks of all organizations in the order of their ids, after the id `beyond`. */
  enabled(beyond: string, limit: number): Promise<readonly Webhook[]>
  secret(id: string): Promise<string | undefined>
  /** `insert` and `save` throw `EngineError("invalid")` on `name` if the organization has another webhook of that name. */
  insert(webhook: Webhook, secret: string): Promise<void>
  /** Replaces all members. Keeps the secret if none is passed. */
  save(webhook: Webhook, secret?: string): Promise<void>
  remove(id: string): Promise<void>
  letter(webhookId: string, id: string): Promise<DeadLetter | undefined>
  /** Returns dead letters, newest first. */
  letters(webhookId: string, page: PageRequest): Promise<Page<DeadLetter>>
  /** Returns dead letters whose redelivery is requested. */
  redelivering(limit: number): Promise<readonly DeadLetter[]>
  /** Inserts the letter or replaces the one with its id. */
  saveLetter(letter: DeadLetter): Promise<void>
  removeLetter(webhookId: string, id: string): Promise<void>
  hasLettersBefore(instant: Instant): Promise<boolean>
  /** Deletes the oldest letters that failed before the instant. Returns their number. */
  sweepLetters(before: Instant, limit: number): Promise<number>
}

/** Maximum number of webhooks of an organization. */
export const maxWebhooks = 200

const maxName = 255
const maxUrl = 2_048
const maxValues = 100
const maxValue = 255
const minSecret = 16
const maxSecret = 256

/** Returns the faults of the members that are present. */
export function webhookFaults({ name, url, kinds, workspaces, tags, secret }: WebhookPatch): Fault[] {
  return [
    ...(name === undefined ? [] : nameFaults(name)),
    ...(url === undefined ? [] : urlFaults(url)),
    ...listFaults("kinds", kinds),
    ...listFaults("workspaces", workspaces),
    ...listFaults("tags", tags),
    ...(kinds ?? []).flatMap((kind, index) =>
      isKnownKind(kind)
        ? []
        : [{ field: ["kinds", index], detail: "kinds must contain kinds of events, or patterns such as workspace.*" }],
    ),
    ...(secret === undefined ? [] : secretFaults(secret)),
  ]
}

function nameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name.trim() === "") return [{ field, detail: "name can't be blank" }]
  if (/\p{Cc}/u.test(name)) return [{ field, detail: "name must not contain control characters" }]
  return name.length > maxName ? [{ field, detail: `name is too long (maximum is ${maxName} characters)` }] : []
}

// No detail repeats the URL: it may contain a secret of its owner.
function urlFaults(text: string): Fault[] {
  const field = ["url"]
  if (text.length > maxUrl) return [{ field, detail: `url is too long (maximum is ${maxUrl} characters)` }]
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text)
  if (url === null || !["http:", "https:"].includes(url.protocol))
    return [{ field, detail: "url must be an http or https URL" }]
  if (url.username !== "" || url.password !== "")
    return [{ field, detail: "url must not contain a user name or password" }]
  return []
}

function listFaults(name: "kinds" | "workspaces" | "tags", values: readonly string[] = []): Fault[] {
  if (values.length > maxValues)
    return [{ field: [name], detail: `${name} has too many entries (maximum is ${maxValues})` }]
  return values.flatMap((value, index) =>
    value.trim() === "" || value.length > maxValue
      ? [{ field: [name, index], detail: `${name} must contain values of 1 to ${maxValue} characters` }]
      : [],
  )
}

function secretFaults(secret: string): Fault[] {
  const field = ["secret"]
  if (secret.length < minSecret || secret.length > maxSecret)
    return [{ field, detail: `secret must have ${minSecret} to ${maxSecret} characters` }]
  return /\p{Cc}/u.test(secret) ? [{ field, detail: "secret must not contain control characters" }] : []
}
