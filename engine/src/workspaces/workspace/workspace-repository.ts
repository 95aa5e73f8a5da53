import type { OrganizationId, TeamId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"
import type { EventKind } from "../../events/feed/event.ts"
import type { LockChange } from "../lock/lock.ts"
import type { Grant } from "../access/workspace-permissions.ts"
import type { Visibility, WorkspaceQuery } from "./workspace-query.ts"
import type { SituatedWorkspace, Workspace, WorkspaceRef } from "./workspace.ts"

/** Ids and names of related records that the document of a workspace contains. */
export interface WorkspaceRelated {
  readonly tagNames: readonly string[]
  readonly variableIds: readonly string[]
  readonly outputIds: readonly string[]
}

/** Ids of records that settings refer to; the empty string if a setting refers to none. */
export interface ReferencedIds {
  readonly agentPoolId: string
  readonly oauthTokenId: string
  readonly appInstallationId: string
}

/** Existence of each referenced record in one organization. */
export interface ReferenceFacts {
  readonly agentPoolExists: boolean
  readonly oauthTokenExists: boolean
  readonly appInstallationExists: boolean
}

/** Members of a workspace that permissions and tags need. For thousands of workspaces, reading it costs a tenth of reading them whole. */
export interface WorkspaceOutline extends Pick<Workspace, "id" | "organizationId" | "name"> {
  readonly organization: Pick<SituatedWorkspace["organization"], "allowForceDeleteWorkspaces">
}

export interface GrantedWorkspace {
  readonly workspace: SituatedWorkspace
  readonly grants: readonly Grant[]
}

/** Repository of workspaces. Except by `findExpired`, a workspace with an expired lock is returned as unlocked (`lock-expiry.ts`). */
export interface WorkspaceRepository {
  find(ref: WorkspaceRef): Promise<SituatedWorkspace | undefined>
  /** Returns the workspace with the grants of these teams on it, direct and through its project. */
  findGranted(ref: WorkspaceRef, teams: readonly TeamId[]): Promise<GrantedWorkspace | undefined>
  findMany(ids: readonly WorkspaceId[]): Promise<readonly SituatedWorkspace[]>
  /**
   * Declares that the transaction decides by these workspaces; `find` and `findGranted` do so implicitly. Of two concurrent transactions on
   * one workspace, one is retried.
   */
  guard(ids: readonly WorkspaceId[]): void
  /** Returns outlines in no particular order, without locks. */
  outlines(ids: readonly WorkspaceId[]): Promise<readonly WorkspaceOutline[]>
  related(
    workspaces: readonly Pick<Workspace, "id" | "currentStateVersionId">[],
  ): Promise<ReadonlyMap<WorkspaceId, WorkspaceRelated>>
  /** Returns one page of the matching workspaces that the caller may see. */
  list(query: WorkspaceQuery, visibility: Visibility, page: PageRequest): Promise<Page<SituatedWorkspace>>
  /** Returns only the ids of what `list` returns. */
  ids(query: WorkspaceQuery, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>>
  references(organizationId: OrganizationId, ids: ReferencedIds): Promise<ReferenceFacts>
  /** Returns false if the resources of the newest state version are not counted yet. */
  stateIsProcessed(id: WorkspaceId): Promise<boolean>
  /** Returns workspaces whose expired lock is still in the database, the longest expired first. */
  expiredLocks(now: Instant, limit: number): Promise<readonly WorkspaceId[]>
  /** Returns the workspace with its expired lock. Returns undefined if the lock was released, extended or replaced. */
  findExpired(id: WorkspaceId, now: Instant): Promise<SituatedWorkspace | undefined>
  /** Returns workspaces whose auto-destroy is scheduled at `now` or before, by id, starting after the id `after`. */
  dueForDestruction(now: Instant, after: string, limit: number): Promise<readonly WorkspaceId[]>
  /** Throws `EngineError("invalid")` on `name` if the organization has a workspace of that name. */
  insert(workspace: Workspace): Promise<void>
  /** Writes the members that differ. */
  save(before: Workspace, after: Workspace): Promise<void>
  /** Writes only the lock, so that the hot path updates no index. */
  saveLock(id: WorkspaceId, change: LockChange): Promise<void>
  /** Writes the lock and appends an event of this kind. Returns the related records of the workspace. */
  changeLock(
    workspace: SituatedWorkspace,
    change: LockChange,
    kind: EventKind,
    changed: readonly string[],
  ): Promise<WorkspaceRelated>
  remove(id: WorkspaceId): Promise<void>
}
