import type { Instant } from "../../core/time.ts"
import type { EventActor, EventKind, EventSubject, EventTag } from "./event.ts"
import type { EventFilter } from "./event-filter.ts"

/** Event as it is shown to all callers that may read its workspace. */
export interface EventView {
  /** Cursor of the position after the event. */
  readonly id: string
  readonly kind: EventKind
  readonly at: Instant
  readonly organizationName: string
  readonly workspace: { readonly id: string; readonly name: string } | null
  /** Tags of the workspace just after the change, or just before its deletion. */
  readonly tags: readonly EventTag[]
  /** Names of changed attributes. */
  readonly changed: readonly string[]
  readonly subject: EventSubject | null
  readonly actor: EventActor | null
  readonly tokenId: string | null
  readonly requestId: string | null
}

export interface EventQuery extends EventFilter {
  /** Id of an event, cursor of a page, or a time. */
  readonly since?: string
}

export interface EventPage {
  readonly items: readonly EventView[]
  /** Cursor to continue from, even if the page is empty. */
  readonly cursor: string
  /** False if there were no more events at that moment. */
  readonly more: boolean
}

export const maxEventPage = 100

/**
 * Events of an organization in commit order, as far as the caller may read them.
 *
 * Both methods begin after `since`. They throw `gone` if later events are already deleted; `facts.oldest` is then the cursor to continue
 * from.
 */
export interface Events {
  /** Returns events, oldest first, at most `maxEventPage`. Without `since`, begins at the oldest stored event. */
  list(organization: string, query: EventQuery, limit?: number): Promise<EventPage>
  /**
   * Yields events as they happen. Without `since`, begins now.
   *
   * Throws `unauthenticated` when the token ends, and `busy` if the caller reads too slowly. Ends without an error when the engine closes.
   * Continue from the last `id`; the remote engine does so by itself.
   */
  follow(
    organization: string,
    query: EventQuery,
    options?: { readonly signal?: AbortSignal },
  ): Promise<AsyncIterable<EventView>>
}

/** Event, or, after some time without a matching event, the cursor to continue from. */
export type FeedItem = { readonly event: EventView } | { readonly cursor: string }

/** Feed as the HTTP server sends it. */
export interface EventStreams {
  open(organization: string, query: EventQuery): Promise<AsyncIterable<FeedItem>>
}
