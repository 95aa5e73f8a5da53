// Webhooks: the feed, brought to an address of somebody's choice. Each has a place in the feed of its own, which moves on with
// what has been delivered or given up.
import type { Fault } from "../../core/errors.ts"
import type { OrganizationId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"
import type { EventKind, EventPosition } from "../feed/event.ts"
import { isKnownKind } from "../feed/event-filter.ts"

export interface WebhookSettings {
  readonly name: string
  /** http or https, without credentials. */
  readonly url: string
  readonly enabled: boolean
  /** As of a follower of events; an empty list lets everything through. */
  readonly kinds: readonly string[]
  readonly workspaces: readonly string[]
  readonly tags: readonly string[]
}

/** How far the delivery has come. */
export interface WebhookProgress {
  readonly enabled: boolean
  /** Why the server has disabled it; null where it has not. */
  readonly disabledReason: string | null
  /** Everything up to here is delivered, given up or not wanted. */
  readonly cursor: EventPosition
  /** The event that has failed and is to be tried again. */
  readonly pending: PendingEvent | null
  /** Events given up since the last that was delivered. */
  readonly deadInARow: number
  readonly lastDeliveredAt: Instant | null
  readonly lastError: string | null
  /** Since the first failure after the last delivery. */
  readonly failingSince: Instant | null
}

export interface PendingEvent {
  readonly position: EventPosition
  /** How often it was tried. */
  readonly attempts: number
  readonly dueAt: Instant
}

export interface Webhook extends WebhookSettings, WebhookProgress {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly createdAt: Instant
}

/** What owners are shown. */
export type WebhookView = WebhookSettings &
  Pick<Webhook, "id" | "disabledReason" | "lastDeliveredAt" | "lastError" | "failingSince" | "createdAt">

export interface CreatedWebhook extends WebhookView {
  /** Shown this once where the server has made it; null where the caller knows it. */
  readonly secret: string | null
}

export interface WebhookInput extends Partial<WebhookSettings> {
  readonly name: string
  readonly url: string
  /** What deliveries are signed with; made by the server when left out. */
  readonly secret?: string
}

export type WebhookPatch = Partial<WebhookInput>

/** An event that was given up, with what was sent. */
export interface DeadLetter {
  /** The id that its delivery had at every attempt. */
  readonly id: string
  readonly webhookId: string
  readonly eventId: string
  readonly kind: EventKind
  /** JSON, as every attempt has sent it. */
  readonly document: string
  readonly attempts: number
  readonly lastError: string
  readonly failedAt: Instant
  /** Asked to be sent once more. */
  readonly redelivering: boolean
}

export type DeadLetterView = Omit<DeadLetter, "webhookId">

/** The webhooks of an organization; all of it is its owners' alone. */
export interface Webhooks {
  create(organization: string, input: WebhookInput): Promise<CreatedWebhook>
  list(organization: string, page: PageRequest): Promise<Page<WebhookView>>
  get(organization: string, id: string): Promise<WebhookView>
  /** One that is enabled again goes on where it stopped. */
  update(organization: string, id: string, patch: WebhookPatch): Promise<WebhookView>
  delete(organization: string, id: string): Promise<void>
  deadLetters(organization: string, id: string, page: PageRequest): Promise<Page<DeadLetterView>>
  /** Sends it once more, soon; when that succeeds it is gone from the list. */
  redeliver(organization: string, id: string, letterId: string): Promise<DeadLetterView>
  deleteDeadLetter(organization: string, id: string, letterId: string): Promise<void>
}

export interface WebhookRepository {
  find(id: string): Promise<Webhook | undefined>
  list(organizationId: OrganizationId, page: PageRequest): Promise<Page<Webhook>>
  /** Of all organizations, by id, from beyond one on. */
  enabled(beyond: string, limit: number): Promise<readonly Webhook[]>
  secret(id: string): Promise<string | undefined>
  /** Both throw `EngineError("invalid")` on `name` when the organization has a webhook of that name. */
  insert(webhook: Webhook, secret: string): Promise<void>
  /** All that it is; keeps the secret when none is given. */
  save(webhook: Webhook, secret?: string): Promise<void>
  remove(id: string): Promise<void>
  letter(webhookId: string, id: string): Promise<DeadLetter | undefined>
  /** The newest first. */
  letters(webhookId: string, page: PageRequest): Promise<Page<DeadLetter>>
  /** Those to be sent once more. */
  redelivering(limit: number): Promise<readonly DeadLetter[]>
  /** In the place of one of its id. */
  saveLetter(letter: DeadLetter): Promise<void>
  removeLetter(webhookId: string, id: string): Promise<void>
  hasLettersBefore(instant: Instant): Promise<boolean>
  /** Takes away the oldest from before the instant; how many these were. */
  sweepLetters(before: Instant, limit: number): Promise<number>
}

/** Of one organization. */
export const webhooksMaximum = 200

const nameMaximum = 255
const urlMaximum = 2_048
const valuesMaximum = 100
const valueMaximum = 255
const secretMinimum = 16
const secretMaximum = 256

/** Of the members that are given. */
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
        : [{ field: ["kinds", index], detail: "Kinds must be kinds of events, or such as workspace.*" }],
    ),
    ...(secret === undefined ? [] : secretFaults(secret)),
  ]
}

function nameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name.trim() === "") return [{ field, detail: "Name can't be blank" }]
  if (/\p{Cc}/u.test(name)) return [{ field, detail: "Name can't hold control characters" }]
  return name.length > nameMaximum ? [{ field, detail: `Name is too long (maximum is ${nameMaximum} characters)` }] : []
}

// No detail repeats the address: it may hold what lets its owner in.
function urlFaults(text: string): Fault[] {
  const field = ["url"]
  if (text.length > urlMaximum) return [{ field, detail: `Url is too long (maximum is ${urlMaximum} characters)` }]
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text)
  if (url === null || !["http:", "https:"].includes(url.protocol))
    return [{ field, detail: "Url must be an http or https URL" }]
  if (url.username !== "" || url.password !== "") return [{ field, detail: "Url can't hold a user name or a password" }]
  return []
}

function listFaults(name: "kinds" | "workspaces" | "tags", values: readonly string[] = []): Fault[] {
  const word = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  if (values.length > valuesMaximum)
    return [{ field: [name], detail: `${word} is too long (maximum is ${valuesMaximum} values)` }]
  return values.flatMap((value, index) =>
    value.trim() === "" || value.length > valueMaximum
      ? [{ field: [name, index], detail: `${word} must each have 1 to ${valueMaximum} characters` }]
      : [],
  )
}

function secretFaults(secret: string): Fault[] {
  const field = ["secret"]
  if (secret.length < secretMinimum || secret.length > secretMaximum)
    return [{ field, detail: `Secret must have ${secretMinimum} to ${secretMaximum} characters` }]
  return /\p{Cc}/u.test(secret) ? [{ field, detail: "Secret can't hold control characters" }] : []
}
