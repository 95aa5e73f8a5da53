import type { WorkspaceId } from "../core/ids.ts"
import type { LockChange } from "./lock.ts"
import type { SituatedWorkspace, Workspace, WorkspaceRef } from "./workspace.ts"

/** What hangs on a workspace and stands in its document. */
export interface WorkspaceRelated {
  readonly tagNames: readonly string[]
  readonly variableIds: readonly string[]
  readonly outputIds: readonly string[]
}

export interface WorkspaceStore {
  find(ref: WorkspaceRef): Promise<SituatedWorkspace | undefined>
  findMany(ids: readonly WorkspaceId[]): Promise<readonly SituatedWorkspace[]>
  related(
    workspaces: readonly Pick<Workspace, "id" | "currentStateVersionId">[],
  ): Promise<ReadonlyMap<WorkspaceId, WorkspaceRelated>>
  /** Throws `EngineError("invalid")` on `name` when the organization has a workspace of that name. */
  insert(workspace: Workspace): Promise<void>
  /** Writes what differs between the two. */
  save(before: Workspace, after: Workspace): Promise<void>
  /** The lock alone: the hot path touches no index. */
  saveLock(id: WorkspaceId, change: LockChange): Promise<void>
  remove(id: WorkspaceId): Promise<void>
}
