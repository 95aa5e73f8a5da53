import type { Instant } from "../../core/time.ts"
import type { EventActor, EventKind, EventSubject, EventTag } from "./event.ts"
import type { EventFilter } from "./event-filter.ts"

/** One event, as everybody who may read its workspace is shown it. */
export interface EventView {
  /** Where to go on after it. */
  readonly id: string
  readonly kind: EventKind
  readonly at: Instant
  readonly organizationName: string
  readonly workspace: { readonly id: string; readonly name: string } | null
  /** Of the workspace, just after the change; of one that was deleted, just before. */
  readonly tags: readonly EventTag[]
  /** Names of attributes. */
  readonly changed: readonly string[]
  readonly subject: EventSubject | null
  readonly actor: EventActor | null
  readonly tokenId: string | null
  readonly requestId: string | null
}

export interface EventQuery extends EventFilter {
  /** The id of an event, the cursor of a page, or a time. */
  readonly since?: string
}

export interface EventPage {
  readonly items: readonly EventView[]
  /** Where to go on, whether this page had any or not. */
  readonly cursor: string
  /** False when there was nothing more at that moment. */
  readonly more: boolean
}

export const eventPageMaximum = 100

/**
 * What happens in an organization, in the order of the commits, to what the caller may read. Both begin beyond `since` and refuse
 * with `gone` what is older than what is kept; `facts.oldest` is then where to go on.
 */
export interface Events {
  /** Oldest first; from the oldest that is kept on when `since` is left out. At most `eventPageMaximum`. */
  list(organization: string, query: EventQuery, limit?: number): Promise<EventPage>
  /**
   * As they come; from now on when `since` is left out. Ends with `unauthenticated` when the token does, with `busy` for whoever
   * is too slow, and without an error when the engine ends; go on from the last `id`. The remote engine does so by itself.
   */
  follow(
    organization: string,
    query: EventQuery,
    options?: { readonly signal?: AbortSignal },
  ): Promise<AsyncIterable<EventView>>
}

/** An event, or, for a client that gets none, where it may go on in their place. */
export type FeedItem = { readonly event: EventView } | { readonly cursor: string }

/** What the server hands on. */
export interface EventStreams {
  open(organization: string, query: EventQuery): Promise<AsyncIterable<FeedItem>>
}
