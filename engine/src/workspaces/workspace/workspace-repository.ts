import type { OrganizationId, TeamId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"
import type { EventKind } from "../../events/feed/event.ts"
import type { LockChange } from "../lock/lock.ts"
import type { Grant } from "../access/workspace-permissions.ts"
import type { Visibility, WorkspaceQuery } from "./workspace-query.ts"
import type { SituatedWorkspace, Workspace, WorkspaceRef } from "./workspace.ts"

/** What hangs on a workspace and stands in its document. */
export interface WorkspaceRelated {
  readonly tagNames: readonly string[]
  readonly variableIds: readonly string[]
  readonly outputIds: readonly string[]
}

/** Records that settings name; blank where none is named. */
export interface ReferencedIds {
  readonly agentPoolId: string
  readonly oauthTokenId: string
  readonly appInstallationId: string
}

/** Whether each of them exists in one organization. */
export interface ReferenceFacts {
  readonly agentPoolExists: boolean
  readonly oauthTokenExists: boolean
  readonly appInstallationExists: boolean
}

/** As much of a workspace as rights and tags ask for: a tenth of the price of the whole, where there are thousands. */
export interface WorkspaceOutline extends Pick<Workspace, "id" | "organizationId" | "name"> {
  readonly organization: Pick<SituatedWorkspace["organization"], "allowForceDeleteWorkspaces">
}

export interface GrantedWorkspace {
  readonly workspace: SituatedWorkspace
  readonly grants: readonly Grant[]
}

/** An expired lock is never shown: whatever finds its workspace shows it unlocked (`lock-expiry.ts`). */
export interface WorkspaceRepository {
  find(ref: WorkspaceRef): Promise<SituatedWorkspace | undefined>
  /** With what was given to these teams on it, directly and through its project. */
  findGranted(ref: WorkspaceRef, teams: readonly TeamId[]): Promise<GrantedWorkspace | undefined>
  findMany(ids: readonly WorkspaceId[]): Promise<readonly SituatedWorkspace[]>
  /**
   * Says that the transaction decides about these workspaces, as it does about each that `find` and `findGranted` return: of two
   * concurrent transactions about one workspace one is run again.
   */
  guard(ids: readonly WorkspaceId[]): void
  /** In no order; shows no lock. */
  outlines(ids: readonly WorkspaceId[]): Promise<readonly WorkspaceOutline[]>
  related(
    workspaces: readonly Pick<Workspace, "id" | "currentStateVersionId">[],
  ): Promise<ReadonlyMap<WorkspaceId, WorkspaceRelated>>
  /** One page of those that match and that the caller may see. */
  list(query: WorkspaceQuery, visibility: Visibility, page: PageRequest): Promise<Page<SituatedWorkspace>>
  /** The ids alone of what `list` finds. */
  ids(query: WorkspaceQuery, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>>
  references(organizationId: OrganizationId, ids: ReferencedIds): Promise<ReferenceFacts>
  /** False while the resources of the newest state version are not counted yet. */
  stateIsProcessed(id: WorkspaceId): Promise<boolean>
  /** Workspaces whose lock has expired and is still stored, the longest expired first. */
  expiredLocks(now: Instant, limit: number): Promise<readonly WorkspaceId[]>
  /** Returns the workspace with its expired lock, or undefined if its lock is another by now. */
  findExpired(id: WorkspaceId, now: Instant): Promise<SituatedWorkspace | undefined>
  /** Workspaces whose time to be destroyed by themselves has come, by id, from beyond the one named on. */
  dueForDestruction(now: Instant, after: string, limit: number): Promise<readonly WorkspaceId[]>
  /** Throws `EngineError("invalid")` on `name` when the organization has a workspace of that name. */
  insert(workspace: Workspace): Promise<void>
  /** Writes what differs between the two. */
  save(before: Workspace, after: Workspace): Promise<void>
  /** The lock alone: the hot path touches no index. */
  saveLock(id: WorkspaceId, change: LockChange): Promise<void>
  /** The same, told as an event of this kind; the answer is what hangs on the workspace. */
  changeLock(
    workspace: SituatedWorkspace,
    change: LockChange,
    kind: EventKind,
    changed: readonly string[],
  ): Promise<WorkspaceRelated>
  remove(id: WorkspaceId): Promise<void>
}
