import type { Writer } from "../../core/owner.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Showing, TagBindingView } from "../tags/tag-api.ts"
import type { LockExtension, LockInput } from "../lock/lock.ts"
import type { WorkspaceQuery } from "./workspace-query.ts"
import type { WorkspaceInput } from "./workspace-input.ts"
import type { WorkspaceRef } from "./workspace.ts"
import type { WorkspaceView } from "./workspace-view.ts"

/** Optional parts of a workspace document, returned only on request. */
export interface WorkspaceShowing {
  /** The workspace's own tag bindings (`Tags.bindings`), if requested. The embedded engine reads them in the same snapshot. */
  readonly bindings?: Showing
}

export interface ShownWorkspace extends WorkspaceView {
  /** Absent if the caller may only read the workspace's state. */
  readonly bindings?: readonly TagBindingView[]
}

/** Operations on workspaces. The embedded and the remote engine behave alike. */
export interface Workspaces {
  /** Creates a workspace. Throws `invalid` if the organization has a workspace of this name, compared without case. */
  create(organization: string, input: WorkspaceInput, writer?: Writer): Promise<WorkspaceView>
  /** Lists the workspaces that the caller may read. All filters combine with AND. */
  list(organization: string, query: WorkspaceQuery, page: PageRequest): Promise<Page<WorkspaceView>>
  get(ref: WorkspaceRef, showing?: WorkspaceShowing): Promise<ShownWorkspace>
  /**
   * Updates a workspace. Absent members keep their values, null clears a value. Tag bindings replace the existing ones; with an owner, they
   * replace only that owner's. A move to another project needs administrator rights on both.
   */
  update(ref: WorkspaceRef, changes: WorkspaceInput, writer?: Writer): Promise<WorkspaceView>
  /** Deletes a workspace. Throws `conflict` if it is locked, its state is being processed, or it manages resources. */
  safeDelete(ref: WorkspaceRef): Promise<void>
  /** Deletes a workspace and checks only the permission. Throws `forbidden`, not `not-found`, if the caller can read the workspace. */
  forceDelete(ref: WorkspaceRef): Promise<void>
  /** Sets the SSH key of the workspace. Null removes it. */
  assignSshKey(ref: WorkspaceRef, sshKeyId: string | null): Promise<WorkspaceView>
  /** Locks a workspace. Throws `conflict` if it is locked, also by the caller. */
  lock(ref: WorkspaceRef, input: LockInput): Promise<WorkspaceView>
  /**
   * Sets the expiry of the caller's lock to now + `ttlMs`. Without `ttlMs`, reuses the previous one. Throws `conflict` if the lock has
   * expired or the caller does not hold it.
   */
  extendLock(ref: WorkspaceRef, input?: LockExtension): Promise<WorkspaceView>
  /**
   * Releases the caller's lock. Throws `conflict` if the caller does not hold it, and `pending` while the newest state version of this lock
   * is incomplete.
   */
  unlock(ref: WorkspaceRef): Promise<WorkspaceView>
  /** Ends another holder's lock. Needs administrator rights on the workspace. Discards incomplete state versions of the lock. */
  forceUnlock(ref: WorkspaceRef): Promise<WorkspaceView>
  /** Moves several workspaces to a project, all or none. */
  moveToProject(projectId: string, workspaceIds: readonly string[]): Promise<void>
}
