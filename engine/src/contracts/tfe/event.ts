// Events of an organization: a page of resources, or a stream of server-sent events if the client accepts it.
import { z } from "zod"
import { type EventActor, eventKinds, type EventSubject, type EventTag } from "../../events/feed/event.ts"
import type { EventPage, EventView, FeedItem } from "../../events/feed/events.ts"
import { readAnswer } from "./json-api/answer.ts"
import { camelCased, dashed } from "./json-api/member-name.ts"
import { dashedObject, instant } from "../codec.ts"
import { document, mapped, oneOrNull, readOnly } from "./document.ts"
import { type Answer, commaList, contract, filledText } from "./endpoint.ts"

const subjectTypes = [
  "runs",
  "state-versions",
  "configuration-versions",
  "vars",
  "assessment-results",
  "projects",
  "tags",
  "webhooks",
] as const satisfies readonly EventSubject["type"][]
const actorTypes = ["users", "teams", "organizations", "agent-pools"] as const satisfies readonly EventActor["type"][]

/** Member names, dashed on the wire. */
const memberNames = z.codec(z.array(z.string()), z.custom<readonly string[]>(), {
  decode: (names) => names.map(camelCased),
  encode: (names) => names.map(dashed),
})
const optionalText = z.string().optional() as z.ZodType<string>

const flat = document("events", {
  id: z.custom<string>(),
  attributes: {
    kind: readOnly(z.enum(eventKinds), { rule: "Kind; events.md lists them.", example: "workspace.locked" }),
    at: readOnly(instant, { rule: "Time of the change.", example: "2026-11-26T12:00:00.000Z" }),
    organizationName: readOnly(z.string(), { rule: "Organization.", example: "acme" }),
    workspaceName: readOnly(z.string().nullable(), { rule: "Workspace, if it is about one.", example: "network" }),
    tags: readOnly(z.array(z.object({ key: z.string(), value: z.string() })) as z.ZodType<readonly EventTag[]>, {
      rule: "Tags of the workspace after the change, or before its deletion.",
      example: [{ key: "team", value: "platform" }],
    }),
    changed: readOnly(memberNames, { rule: "Names of changed attributes.", example: ["auto-apply"] }),
    subject: readOnly(
      dashedObject<EventSubject>({ type: z.enum(subjectTypes), id: z.string(), status: optionalText }).nullable(),
      { rule: "Resource that it is about, if it is no workspace; of a run, with its status." },
    ),
    actor: readOnly(
      dashedObject<EventActor>({ type: z.enum(actorTypes), id: z.string(), name: optionalText }).nullable(),
      { rule: "User, team, organization or agent pool that made the change; null for the server." },
    ),
    tokenId: readOnly(z.string().nullable(), { rule: "Token of the actor.", example: "at-6yEmxNAhaoQLH1Da" }),
    requestId: readOnly(z.string().nullable(), { rule: "Request that made the change." }),
  },
  relationships: {
    workspaceId: readOnly(oneOrNull<string>("workspaces"), { wireName: "workspace", rule: "Workspace." }),
  },
})

export const event = mapped(flat, {
  from: ({ workspace, ...view }: EventView) => ({
    ...view,
    workspaceName: workspace?.name ?? null,
    workspaceId: workspace?.id ?? null,
  }),
  to: ({ workspaceId, workspaceName, ...view }): EventView => ({
    ...view,
    workspace: workspaceId === null ? null : { id: workspaceId, name: workspaceName ?? "" },
  }),
})

const pageSchema = z.object({
  data: z.array(z.unknown()),
  meta: z.object({ cursor: z.string(), more: z.boolean() }),
})
/** Page with a cursor, at which the next page begins: events have no page numbers. */
const eventPage = {
  status: 200,
  encode({ items, cursor, more }, { url }) {
    const next = new URL(url)
    next.searchParams.set("since", cursor)
    return {
      data: items.map((item) => event.encode(item)),
      links: { self: url.href, next: more ? next.href : null },
      meta: { cursor, more },
    }
  },
  decode(answer) {
    const { data, meta } = readAnswer(pageSchema, answer, "the page")
    return { items: data.map((resource) => event.decode(resource)), ...meta }
  },
  document: event,
  list: true,
} as const satisfies Answer<EventPage>

export const events = contract({
  list: {
    method: "GET",
    path: "/organizations/:organization_name/events",
    summary:
      "Lists the events of an organization, the oldest first. With Accept: text/event-stream, sends them as they come.",
    rights: "Members of the organization; they get the events of what they see.",
    query: {
      since: {
        parameter: "since",
        schema: filledText,
        rule: "Id of an event, the cursor of a page, or a time.",
        example: "2026-11-26T12:00:00Z",
      },
      kinds: {
        parameter: "filter[kind]",
        schema: commaList,
        rule: "Kinds, with commas between.",
        example: "workspace.locked",
      },
      workspaces: {
        parameter: "filter[workspace]",
        schema: commaList,
        rule: "Names or ids of workspaces, with commas between.",
        example: "network",
      },
      tags: {
        parameter: "filter[tag]",
        schema: commaList,
        rule: "Flat tags, or keys of tags with a value, with commas between.",
        example: "team",
      },
    },
    headers: {
      "Last-Event-ID": {
        rule: "Id of the last event that a client of a stream got; it comes before since.",
        example: "c0-2u",
      },
    },
    answers: eventPage,
  },
})

export const eventStreamType = "text/event-stream"

/** Milliseconds that clients wait before they reconnect. */
export const streamBeginning = "retry: 2000\n: following\n\n"

/** Encodes an event or a heartbeat. The heartbeat has no data and only advances the client's last event id. */
export const encodeFeedItem = (item: FeedItem): string =>
  "event" in item
    ? `id: ${item.event.id}\nevent: ${item.event.kind}\ndata: ${JSON.stringify(event.encode(item.event))}\n\n`
    : `: heartbeat\nid: ${item.cursor}\n\n`
