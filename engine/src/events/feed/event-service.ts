import type { Caller } from "../../core/caller.ts"
import { badRequest, notFound, outOfService } from "../../core/errors.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { stayAlive } from "../../core/timers.ts"
import { authorizeOrganization } from "../../organizations/authorization.ts"
import { formatCursor, eventsGone, parseSince } from "./cursor.ts"
import { beginning, type EventPosition, isBefore, type StoredEvent } from "./event.ts"
import { isKnownKind } from "./event-filter.ts"
import { type EventFeed, Follower, type FeedRepositories, viewOf, visibleTo } from "./event-feed.ts"
import {
  maxEventPage,
  type EventPage,
  type EventQuery,
  type Events,
  type EventStreams,
  type EventView,
  type FeedItem,
} from "./events.ts"
import { feedVisibilityOf } from "./feed-visibility.ts"

/** Events read for one page. If the filter excludes most of them, the page is short but its cursor still advances. */
const maxLookedAt = 2_000
const maxValues = 100

export class EventService implements Events {
  /** Streams for the HTTP server, which also sends cursors to clients that get no events. */
  readonly streams: EventStreams = { open: (organization, query) => this.#open(organization, query) }
  readonly #storage: Storage<FeedRepositories>
  readonly #runtime: Pick<Runtime, "clock">
  readonly #feed: EventFeed | undefined
  readonly #caller: Caller

  /** Without `feed`, the feed is turned off and all methods throw. */
  constructor(
    storage: Storage<FeedRepositories>,
    runtime: Pick<Runtime, "clock">,
    feed: EventFeed | undefined,
    caller: Caller,
  ) {
    this.#storage = storage
    this.#runtime = runtime
    this.#feed = feed
    this.#caller = caller
  }

  list(organization: string, query: EventQuery, limit = 20): Promise<EventPage> {
    return this.#storage.readReplica(async (repositories) => {
      const follower = await this.#follower(repositories, organization, query, "oldest")
      const size = Math.min(Math.max(1, Math.floor(limit)), maxEventPage)
      const found = await repositories.events.after(follower.organization.id, follower.position, maxLookedAt)
      const visible = await visibleTo(repositories, follower, found)
      const items = visible.slice(0, size)
      const isFull = visible.length > items.length
      const last: StoredEvent | undefined = isFull ? items.at(-1) : found.at(-1)
      return {
        items: items.map((event) => viewOf(event, follower.organization.name)),
        cursor: formatCursor(last?.position ?? follower.position),
        more: isFull || found.length === maxLookedAt,
      }
    })
  }

  async follow(
    organization: string,
    query: EventQuery,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<AsyncIterable<EventView>> {
    const items = await this.#open(organization, query)
    signal?.addEventListener("abort", () => void items.return?.(), { once: true })
    if (signal?.aborted === true) await items.return?.()
    return eventsOf(items)
  }

  async #open(organization: string, query: EventQuery): Promise<AsyncIterableIterator<FeedItem>> {
    const follower = await this.#storage.read((repositories) =>
      this.#follower(repositories, organization, query, "now"),
    )
    if (this.#feed === undefined) throw turnedOff()
    return this.#feed.follow(follower)
  }

  async #follower(
    repositories: FeedRepositories,
    name: string,
    { since, ...filter }: EventQuery,
    otherwise: "oldest" | "now",
  ): Promise<Follower> {
    const { organization } = await authorizeOrganization(repositories, this.#caller, name)
    if (feedVisibilityOf(this.#caller, organization.id).sees === "nothing") throw notFound(name)
    rejectUnknown(filter)
    if (this.#feed === undefined) throw turnedOff()
    const swept = await repositories.events.swept()
    const position = async (): Promise<EventPosition> => {
      if (since === undefined) return otherwise === "now" ? repositories.events.end() : (swept?.position ?? beginning)
      const parsed = parseSince(since)
      const isPast =
        "instant" in parsed
          ? parsed.instant <= (swept?.at ?? -1)
          : isBefore(parsed.position, swept?.position ?? beginning)
      if (isPast) throw eventsGone(swept?.position ?? beginning)
      if ("instant" in parsed) return repositories.events.before(organization.id, parsed.instant)
      // The cursor comes from another database, or from before this one was restored. Later events may be missing here.
      if (isBefore(await repositories.events.newest(), parsed.position)) throw eventsGone(swept?.position ?? beginning)
      return parsed.position
    }
    const { id } = organization
    return new Follower(
      this.#caller,
      { id, name: organization.name },
      filter,
      await position(),
      this.#runtime.clock.now(),
    )
  }
}

const turnedOff = () => outOfService("The event feed is disabled on this server.")

function rejectUnknown({ kinds = [], workspaces = [], tags = [] }: EventQuery): void {
  const unknown = kinds.find((kind) => !isKnownKind(kind))
  const faults = [
    ...(unknown === undefined
      ? []
      : [{ detail: `filter[kind] contains the unknown kind "${unknown}"`, parameter: "filter[kind]" }]),
    ...[
      { values: kinds, parameter: "filter[kind]" },
      { values: workspaces, parameter: "filter[workspace]" },
      { values: tags, parameter: "filter[tag]" },
    ].flatMap(({ values, parameter }) =>
      values.length > maxValues ? [{ detail: `${parameter} must have at most ${maxValues} values`, parameter }] : [],
    ),
  ]
  if (faults.length > 0) throw badRequest("The filter is not valid.", faults)
}

async function* eventsOf(items: AsyncIterable<FeedItem>): AsyncGenerator<EventView, void, undefined> {
  const release = stayAlive()
  try {
    for await (const item of items) if ("event" in item) yield item.event
  } finally {
    release()
  }
}
