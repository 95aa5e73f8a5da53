import type { OrganizationId, ProjectId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"

/** Executors that can take the runs of a workspace. */
export interface ExecutorFacts {
  /** Name of the agent pool. Undefined if the runs belong to no single pool. */
  readonly pool: string | undefined
  /** True if an agent of an admitting pool has a valid token. */
  readonly hasAgentToken: boolean
  /** Last claim. Null if there was none. */
  readonly lastSeenAt: Instant | null
}

export interface ExecutorQuery {
  readonly organizationId: OrganizationId
  readonly workspaceId: WorkspaceId
  readonly projectId: ProjectId
  /** Null means the execution mode `remote`. */
  readonly agentPoolId: string | null
  readonly now: Instant
}

/** Claims by executors: agents of a pool, or users and teams that claim runs of the organization. */
export type ExecutorGroup = { readonly agentPoolId: string } | { readonly organizationId: OrganizationId }

export interface ExecutorRepository {
  facts(query: ExecutorQuery): Promise<ExecutorFacts>
  /** Returns the last claim of the group, or null if there was none. */
  lastSeenAt(group: ExecutorGroup): Promise<Instant | null>
  saveLastSeenAt(group: ExecutorGroup, now: Instant): Promise<void>
}
