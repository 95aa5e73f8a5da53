import { z } from "zod"
import { formatInstant, type Instant } from "../../core/time.ts"
import { eventKinds } from "../../events/event.ts"
import type { CreatedWebhook, DeadLetterView, WebhookInput, WebhookPatch, WebhookView } from "../../events/webhook.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource } from "./document.ts"
import { type Given, given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"

const instantOrNull = (instant: Instant | null): string | null => (instant === null ? null : formatInstant(instant))

export const encodeWebhook =
  (organization: string) =>
  (webhook: WebhookView): Resource => ({
    id: webhook.id,
    type: "webhooks",
    attributes: {
      name: webhook.name,
      url: webhook.url,
      enabled: webhook.enabled,
      kinds: webhook.kinds,
      workspaces: webhook.workspaces,
      tags: webhook.tags,
      "disabled-reason": webhook.disabledReason,
      "last-delivered-at": instantOrNull(webhook.lastDeliveredAt),
      "last-error": webhook.lastError,
      "failing-since": instantOrNull(webhook.failingSince),
      "created-at": formatInstant(webhook.createdAt),
    },
    links: { self: `/api/v2/organizations/${encodeURIComponent(organization)}/webhooks/${webhook.id}` },
  })

/** With the secret that the server has made: this once. */
export function encodeCreatedWebhook(organization: string, { secret, ...webhook }: CreatedWebhook): Resource {
  const resource = encodeWebhook(organization)(webhook)
  return secret === null ? resource : { ...resource, attributes: { ...resource.attributes, secret } }
}

/** The event's document stands in it as it was sent, but for spaces. */
export const encodeDeadLetter = (letter: DeadLetterView): Resource => ({
  id: letter.id,
  type: "webhook-dead-letters",
  attributes: {
    "event-id": letter.eventId,
    kind: letter.kind,
    attempts: letter.attempts,
    "last-error": letter.lastError,
    "failed-at": formatInstant(letter.failedAt),
    redelivering: letter.redelivering,
    document: JSON.parse(letter.document) as unknown,
  },
})

const texts = z.array(z.string())
const optional = {
  enabled: z.boolean().optional(),
  kinds: texts.optional(),
  workspaces: texts.optional(),
  tags: texts.optional(),
  secret: z.string().optional(),
}
const input = z.object({ attributes: z.object({ ...optional, name: z.string(), url: z.string() }) })
const patch = z.object({
  attributes: z.object({ ...optional, name: z.string().optional(), url: z.string().optional() }).prefault({}),
})
const types = { types: ["webhooks"] }

export function decodeWebhookInput(body: unknown): WebhookInput {
  const { name, url, ...others } = decodeDocument(body, input, types).attributes
  return { name, url, ...given(others) }
}

export const decodeWebhookPatch = (body: unknown): Given<WebhookPatch> =>
  given(decodeDocument(body, patch, types).attributes)

/** The other direction of all of these. */
export const encodeWebhookPatch = (patch: WebhookPatch): RequestDocument =>
  encodeDocument("webhooks", dashedMembers(patch))

export function decodeWebhook(resource: unknown): WebhookView {
  const { id, attributes: own } = readResource(resource, "webhooks")
  return {
    id,
    name: own.text("name"),
    url: own.text("url"),
    enabled: own.flag("enabled"),
    kinds: own.texts("kinds"),
    workspaces: own.texts("workspaces"),
    tags: own.texts("tags"),
    disabledReason: own.textOrNull("disabledReason"),
    lastDeliveredAt: own.instantOrNull("lastDeliveredAt"),
    lastError: own.textOrNull("lastError"),
    failingSince: own.instantOrNull("failingSince"),
    createdAt: own.instant("createdAt"),
  }
}

export function decodeCreatedWebhook(resource: unknown): CreatedWebhook {
  const { attributes: own } = readResource(resource, "webhooks")
  return { ...decodeWebhook(resource), secret: own.has("secret") ? own.text("secret") : null }
}

export function decodeDeadLetter(resource: unknown): DeadLetterView {
  const { id, attributes: own } = readResource(resource, "webhook-dead-letters")
  return {
    id,
    eventId: own.text("eventId"),
    kind: own.oneOf("kind", eventKinds),
    document: JSON.stringify(own.value("document")),
    attempts: own.number("attempts"),
    lastError: own.text("lastError"),
    failedAt: own.instant("failedAt"),
    redelivering: own.flag("redelivering"),
  }
}
