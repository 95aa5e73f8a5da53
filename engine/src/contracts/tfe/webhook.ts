import { z } from "zod"
import { eventKinds } from "../../events/feed/event.ts"
import { absentAsNull, instant } from "../codec.ts"
import { document, readOnly, secret, writable } from "./document.ts"
import { contract, created, nothing, page, resource } from "./endpoint.ts"

const texts = z.array(z.string()) as z.ZodType<readonly string[]>
const all = "/organizations/:organization_name/webhooks"
const secretRule = {
  rule: "Key of the signatures of deliveries, 16 to 256 characters. The server makes one if it is left out, and returns it at creation alone.",
  example: "0f8fad5bd9cb469fa16570867728950e",
}

const attributes = {
  name: writable(z.string(), { required: true, rule: "Name, unique in the organization.", example: "chat" }),
  url: writable(z.string(), {
    required: true,
    rule: "Address of deliveries, http or https, without credentials.",
    example: "https://hooks.example.com/chancery",
  }),
  enabled: writable(z.boolean(), { rule: "Deliver events.", default: true, example: false }),
  kinds: writable(texts, {
    rule: "Kinds of events, such as workspace.locked, or all of a group, such as workspace.*. Empty: all.",
    default: [],
    example: ["run.*"],
  }),
  workspaces: writable(texts, {
    rule: "Ids or names of workspaces. Empty: all.",
    default: [],
    example: ["network"],
  }),
  tags: writable(texts, {
    rule: "Tags of workspaces, or keys of tags with a value. Empty: all.",
    default: [],
    example: ["env"],
  }),
  disabledReason: readOnly(z.string().nullable(), { rule: "Why the server disabled the webhook." }),
  lastDeliveredAt: readOnly(instant.nullable(), { rule: "Time of the last delivery." }),
  lastError: readOnly(z.string().nullable(), { rule: "Last error." }),
  failingSince: readOnly(instant.nullable(), { rule: "Time of the first failure after the last delivery." }),
  createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
}
const parts = {
  id: z.custom<string>(),
  /** Returns the path of a webhook. The handler adds the name of the organization to the view. */
  self: (id: string, { organizationName }: Readonly<Record<string, unknown>>) =>
    `/api/v2/organizations/${encodeURIComponent(String(organizationName))}/webhooks/${id}`,
  relationships: {},
}

export const webhook = document("webhooks", {
  ...parts,
  attributes: {
    ...attributes,
    secret: secret(z.string(), secretRule),
  },
})
export const createdWebhook = document("webhooks", {
  ...parts,
  attributes: { ...attributes, secret: readOnly(absentAsNull(z.string()), secretRule) },
})

export const deadLetter = document("webhook-dead-letters", {
  id: z.custom<string>(),
  attributes: {
    eventId: readOnly(z.string(), { rule: "Id of the event." }),
    kind: readOnly(z.enum(eventKinds), { rule: "Kind of the event." }),
    attempts: readOnly(z.number(), { rule: "Number of attempts." }),
    lastError: readOnly(z.string(), { rule: "Error of the last attempt." }),
    failedAt: readOnly(instant, { rule: "Time of the last attempt." }),
    redelivering: readOnly(z.boolean(), { rule: "A redelivery is under way." }),
    document: readOnly(
      z.codec(z.unknown(), z.custom<string>(), {
        decode: (event) => JSON.stringify(event),
        encode: (text): unknown => JSON.parse(text),
      }),
      { rule: "The event, as it was sent." },
    ),
  },
  relationships: {},
})

const rights = "Owners and the token of the organization."

export const webhooks = contract({
  create: {
    method: "POST",
    path: all,
    summary: "Creates a webhook, to which the events of the organization are delivered.",
    rights,
    body: webhook.input,
    answers: created(createdWebhook),
  },
  list: {
    method: "GET",
    path: all,
    summary: "Lists the webhooks of an organization.",
    rights,
    answers: page(webhook),
  },
  get: {
    method: "GET",
    path: `${all}/:webhook_id`,
    summary: "Returns a webhook.",
    rights,
    answers: resource(webhook),
  },
  update: {
    method: "PATCH",
    path: `${all}/:webhook_id`,
    summary: "Changes a webhook. One that is enabled again continues where it stopped.",
    rights,
    body: webhook.patch,
    answers: resource(webhook),
  },
  delete: {
    method: "DELETE",
    path: `${all}/:webhook_id`,
    summary: "Deletes a webhook.",
    rights,
    answers: nothing,
  },
  deadLetters: {
    method: "GET",
    path: `${all}/:webhook_id/dead-letters`,
    summary: "Lists the events that could not be delivered.",
    rights,
    answers: page(deadLetter),
  },
  redeliver: {
    method: "POST",
    path: `${all}/:webhook_id/dead-letters/:dead_letter_id/actions/redeliver`,
    summary: "Delivers such an event once more.",
    rights,
    answers: resource(deadLetter, 202),
  },
  deleteDeadLetter: {
    method: "DELETE",
    path: `${all}/:webhook_id/dead-letters/:dead_letter_id`,
    summary: "Deletes such an event.",
    rights,
    answers: nothing,
  },
})
