// Events as resources of a page, and each by itself in a stream of server-sent events.
import { formatInstant } from "../../core/time.ts"
import { type EventActor, eventKinds, type EventSubject, type EventTag } from "../../events/event.ts"
import type { EventPage, EventQuery, EventView, FeedItem } from "../../events/events.ts"
import { MembersReader, readResource } from "./answer.ts"
import type { Resource } from "./document.ts"
import { camelCased, dashed } from "./member-name.ts"
import { decodeCommaList, encodeCommaList } from "./query.ts"

export const encodeEvent = (event: EventView): Resource => ({
  id: event.id,
  type: "events",
  attributes: {
    kind: event.kind,
    at: formatInstant(event.at),
    "organization-name": event.organizationName,
    "workspace-name": event.workspace?.name ?? null,
    tags: event.tags,
    changed: event.changed.map(dashed),
    subject: event.subject,
    actor: event.actor,
    "token-id": event.tokenId,
    "request-id": event.requestId,
  },
  relationships: {
    workspace: { data: event.workspace === null ? null : { type: "workspaces", id: event.workspace.id } },
  },
})

export const encodeEventPage = ({ items, cursor, more }: EventPage, url: URL): unknown => {
  const next = new URL(url)
  next.searchParams.set("since", cursor)
  return {
    data: items.map(encodeEvent),
    links: { self: url.href, next: more ? next.href : null },
    meta: { cursor, more },
  }
}

/** The other direction. */
export function decodeEvent(resource: unknown): EventView {
  const read = readResource(resource, "events")
  const { id, attributes: own } = read
  const workspaceId = read.identifierOrNull("workspace")?.id
  return {
    id,
    kind: own.oneOf("kind", eventKinds),
    at: own.instant("at"),
    organizationName: own.text("organizationName"),
    workspace: workspaceId === undefined ? null : { id: workspaceId, name: own.text("workspaceName") },
    tags: own.list("tags").map((tag): EventTag => {
      const read = new MembersReader(tag, "tags")
      return { key: read.text("key"), value: read.text("value") }
    }),
    changed: own.texts("changed").map(camelCased),
    subject: own.isNull("subject") ? null : subjectOf(own.members("subject")),
    actor: own.isNull("actor") ? null : actorOf(own.members("actor")),
    tokenId: own.textOrNull("tokenId"),
    requestId: own.textOrNull("requestId"),
  }
}

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

const subjectOf = (read: MembersReader): EventSubject => ({
  type: read.oneOf("type", subjectTypes),
  id: read.text("id"),
  ...(read.has("status") ? { status: read.text("status") } : {}),
})

const actorTypes = ["users", "teams", "organizations", "agent-pools"] as const satisfies readonly EventActor["type"][]

const actorOf = (read: MembersReader): EventActor => ({
  type: read.oneOf("type", actorTypes),
  id: read.text("id"),
  ...(read.has("name") ? { name: read.text("name") } : {}),
})

export function decodeEventPage(document: unknown): EventPage {
  const read = new MembersReader(document, "the page")
  const meta = read.members("meta")
  return { items: read.list("data").map(decodeEvent), cursor: meta.text("cursor"), more: meta.flag("more") }
}

export function decodeEventQuery(query: URLSearchParams): EventQuery {
  const since = query.get("since") ?? ""
  return {
    ...(since === "" ? {} : { since }),
    ...given("kinds", query.get("filter[kind]")),
    ...given("workspaces", query.get("filter[workspace]")),
    ...given("tags", query.get("filter[tag]")),
  }
}

function given(name: "kinds" | "workspaces" | "tags", text: string | null): EventQuery {
  const values = decodeCommaList(text)
  return values === undefined || values.length === 0 ? {} : { [name]: values }
}

export const encodeEventQuery = ({ since, kinds, workspaces, tags }: EventQuery) =>
  [
    ["since", since],
    ["filter[kind]", kinds && encodeCommaList(kinds)],
    ["filter[workspace]", workspaces && encodeCommaList(workspaces)],
    ["filter[tag]", tags && encodeCommaList(tags)],
  ] as const

export const eventStreamType = "text/event-stream"

/** How long clients wait before they come again, and nothing to be told yet. */
export const streamBeginning = "retry: 2000\n: following\n\n"

/** A block without data changes nothing but where a client goes on. */
export const encodeFeedItem = (item: FeedItem): string =>
  "event" in item
    ? `id: ${item.event.id}\nevent: ${item.event.kind}\ndata: ${JSON.stringify(encodeEvent(item.event))}\n\n`
    : `: heartbeat\nid: ${item.cursor}\n\n`
