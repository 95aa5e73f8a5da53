// What happens to workspaces and what is around them, told in the order in which it happened. An event is written in the
// transaction of the change it tells of, so that none is lost and none tells of what did not happen.
import type { Caller } from "../../core/caller.ts"
import type { OrganizationId, TeamId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"

/** Closed, so that a filter on a misspelt kind is refused. */
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

/** What else than a workspace the event is about; `status` of a run is what it is after the step. */
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

/** Whose doing it was; null for what the engine does by itself or for the holder of a signed address. */
export interface EventActor {
  readonly type: "users" | "teams" | "organizations" | "agent-pools"
  readonly id: string
  /** Of a user or a team, as it was then. Events of earlier releases have none. */
  readonly name?: string
}

/** Where a change comes from; every event of a request has the same. */
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

/** What a service says of a change; the rest of the event is found out where it is written. */
export type Change = {
  readonly kind: EventKind
  /** Names of attributes, in domain words; never values. */
  readonly changed?: readonly string[]
  readonly subject?: EventSubject
  /** Tags that the change has taken away: a filter on one of them lets the event through, too. */
  readonly formerTags?: readonly EventTag[]
} & (
  | { readonly workspace: { readonly id: WorkspaceId; readonly organizationId: OrganizationId; readonly name: string } }
  | { readonly organizationId: OrganizationId }
)

/** A place in the feed between two events, in the order of the store. */
export interface EventPosition {
  /** Of the transaction, where transactions overlap; else 0. */
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
  /** Of the workspace, as they were just after the change; of a deleted one, just before. */
  readonly tags: readonly EventTag[]
  readonly formerTags: readonly EventTag[]
  /** Of a deleted workspace: the teams that had access to it; nothing tells any more. */
  readonly readers: readonly TeamId[] | null
}

/** The feed as the store has it. */
export interface EventRepository {
  /**
   * In the transaction of the change, after it; before it where the workspace goes. One statement for all of them. Says nothing
   * where the feed is off.
   */
  append(...changes: readonly Change[]): Promise<void>
  /** From beyond a position on, oldest first. Nothing is ever added before what this has shown. */
  after(organizationId: OrganizationId, position: EventPosition, limit: number): Promise<readonly StoredEvent[]>
  /** The place behind everything that can be read. */
  end(): Promise<EventPosition>
  /** The place before the first event of that time or later. */
  before(organizationId: OrganizationId, instant: Instant): Promise<EventPosition>
  /** What was swept; undefined while nothing was. */
  swept(): Promise<SweptEvents | undefined>
  /** Takes away the oldest from before the instant; how many these were. */
  sweep(before: Instant, limit: number): Promise<number>
}

export interface SweptEvents {
  /** The place behind the last that was. */
  readonly position: EventPosition
  /** When that happened. */
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
