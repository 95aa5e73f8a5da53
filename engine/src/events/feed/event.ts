// Events record the changes of workspaces and related objects, in the order in which they happened. An event is written in the transaction
// of its change. No event is therefore lost, and none reports a change that was rolled back.
import type { Caller } from "../../core/caller.ts"
import type { OrganizationId, TeamId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"

/** A closed list, so that a filter with a misspelt kind is rejected. */
export const eventKinds = [
  "workspace.created",
  "workspace.updated",
  "workspace.deleted",
  "workspace.moved",
  "workspace.locked",
  "workspace.unlocked",
  "workspace.force-unlocked",
  "workspace.lock-extended",
  "workspace.lock-expired",
  "workspace.tagged",
  "workspace.untagged",
  "tag-bindings.updated",
  "state.created",
  "state.finalized",
  "state.updated",
  "run.created",
  "run.updated",
  "configuration.created",
  "configuration.uploaded",
  "configuration.updated",
  "configuration.archived",
  "configuration.deleted",
  "variable.created",
  "variable.updated",
  "variable.deleted",
  "assessment.created",
  "assessment.deleted",
  "remote-state-consumers.updated",
  "retention-policy.updated",
  "team-access.updated",
  "project.created",
  "project.updated",
  "project.deleted",
  "project-tag-bindings.updated",
  "tag.created",
  "tag.deleted",
  "webhook.disabled",
] as const
export type EventKind = (typeof eventKinds)[number]

/** Object of the event other than the workspace. `status` is that of a run after the step. */
export interface EventSubject {
  readonly type:
    | "runs"
    | "state-versions"
    | "configuration-versions"
    | "vars"
    | "assessment-results"
    | "projects"
    | "tags"
    | "webhooks"
  readonly id: string
  readonly status?: string
}

/** Caller that made a change. Null for changes of the engine itself, and of the holder of a signed URL. */
export interface EventActor {
  readonly type: "users" | "teams" | "organizations" | "agent-pools"
  readonly id: string
  /** Name of the user or team at that time. Events of earlier releases have none. */
  readonly name?: string
}

/** Origin of a change. All events of a request have the same. */
export interface EventOrigin {
  readonly actor: EventActor | null
  readonly tokenId: string | null
  readonly requestId: string | null
}

export const ownOrigin: EventOrigin = { actor: null, tokenId: null, requestId: null }

export interface EventTag {
  readonly key: string
  /** Empty for a flat tag. */
  readonly value: string
}

/** Change as a service reports it. The repository adds the remaining members of the event. */
export type Change = {
  readonly kind: EventKind
  /** Names of changed attributes, as in the domain types; never values. */
  readonly changed?: readonly string[]
  readonly subject?: EventSubject
  /** Tags that the change removed. A filter on one of them also matches the event. */
  readonly formerTags?: readonly EventTag[]
} & (
  | { readonly workspace: { readonly id: WorkspaceId; readonly organizationId: OrganizationId; readonly name: string } }
  | { readonly organizationId: OrganizationId }
)

/** Position in the feed between two events, in the order of the database. */
export interface EventPosition {
  /** Number of the transaction on PostgreSQL, where transactions overlap; 0 on SQLite. */
  readonly transaction: number
  readonly number: number
}

export interface StoredEvent {
  readonly position: EventPosition
  readonly kind: EventKind
  readonly at: Instant
  readonly organizationId: OrganizationId
  readonly workspace: { readonly id: WorkspaceId; readonly name: string } | null
  readonly changed: readonly string[]
  readonly subject: EventSubject | null
  readonly origin: EventOrigin
  /** Tags of the workspace just after the change, or just before its deletion. */
  readonly tags: readonly EventTag[]
  readonly formerTags: readonly EventTag[]
  /** Teams that had access to a deleted workspace, which no other row records any more. Null for other events. */
  readonly readers: readonly TeamId[] | null
}

/** Stored events. */
export interface EventRepository {
  /**
   * Appends events in one statement, in the transaction of their change. Call it after the change, or before the deletion of a workspace.
   * Does nothing if the feed is turned off.
   */
  append(...changes: readonly Change[]): Promise<void>
  /** Returns events after a position, oldest first. No event is ever inserted before one that was returned. */
  after(organizationId: OrganizationId, position: EventPosition, limit: number): Promise<readonly StoredEvent[]>
  /** Returns the position after all readable events. On PostgreSQL it can move back for a moment. */
  end(): Promise<EventPosition>
  /** Returns the position after all committed events, of which the last may not be readable yet. */
  newest(): Promise<EventPosition>
  /** Returns the position before the first event at or after the instant. */
  before(organizationId: OrganizationId, instant: Instant): Promise<EventPosition>
  /** Returns how far events were deleted; undefined if none were. */
  swept(): Promise<SweptEvents | undefined>
  /** Deletes the oldest events from before the instant. Returns their number. */
  sweep(before: Instant, limit: number): Promise<number>
}

export interface SweptEvents {
  /** Position after the last deleted event. */
  readonly position: EventPosition
  /** Time of the latest deleted event. */
  readonly at: Instant
}

export const beginning: EventPosition = { transaction: 0, number: 0 }

export const isBefore = (one: EventPosition, other: EventPosition): boolean =>
  one.transaction < other.transaction || (one.transaction === other.transaction && one.number < other.number)

export function originOf(caller: Caller, requestId?: string): EventOrigin {
  const tokenId = "tokenId" in caller ? (caller.tokenId ?? null) : null
  return { actor: actorOf(caller), tokenId, requestId: requestId ?? null }
}

function actorOf(caller: Caller): EventActor | null {
  switch (caller.kind) {
    case "user":
      return { type: "users", id: caller.userId, ...named(caller.username) }
    case "team":
      return { type: "teams", id: caller.teamId, ...named(caller.teamName) }
    case "organization":
      return { type: "organizations", id: caller.organizationId }
    case "agent":
      return { type: "agent-pools", id: caller.agentPoolId }
    case "service":
    case "anonymous":
      return null
    default:
      return caller satisfies never
  }
}

const named = (name: string | undefined) => (name === undefined ? {} : { name })
