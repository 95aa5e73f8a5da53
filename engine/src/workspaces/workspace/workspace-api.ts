import type { Writer } from "../../core/owner.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Showing, TagBindingView } from "../tags/tag-api.ts"
import type { LockExtension, LockInput } from "../lock/lock.ts"
import type { WorkspaceQuery } from "./workspace-query.ts"
import type { WorkspaceInput } from "./workspace-input.ts"
import type { WorkspaceRef } from "./workspace.ts"
import type { WorkspaceView } from "./workspace-view.ts"

/** What is shown of a workspace beside itself, each only where it is asked for. */
export interface WorkspaceShowing {
  /** Its own tag bindings (`Tags.bindings`), as of the same moment where the engine is embedded. */
  readonly bindings?: Showing
}

export interface ShownWorkspace extends WorkspaceView {
  /** Absent if the caller may read the workspace for its state only. */
  readonly bindings?: readonly TagBindingView[]
}

/** The workspace family of the engine; embedded and remote behave alike. */
export interface Workspaces {
  /** Creates a workspace. Throws `invalid` if the organization has a workspace of this name, compared without case. */
  create(organization: string, input: WorkspaceInput, writer?: Writer): Promise<WorkspaceView>
  /** Lists the workspaces that the caller may read. All filters combine with AND. */
  list(organization: string, query: WorkspaceQuery, page: PageRequest): Promise<Page<WorkspaceView>>
  get(ref: WorkspaceRef, showing?: WorkspaceShowing): Promise<ShownWorkspace>
  /**
   * Updates a workspace. Absent members keep their values, null removes a value. Tag bindings replace the existing ones; with an owner,
   * only that owner's. A move to another project needs administrator rights on both.
   */
  update(ref: WorkspaceRef, changes: WorkspaceInput, writer?: Writer): Promise<WorkspaceView>
  /** Refused with `conflict` while it is locked, its state is being processed, or it manages resources. */
  safeDelete(ref: WorkspaceRef): Promise<void>
  /** Looks at nothing but the permission: `forbidden`, not `not-found`, to who can read the workspace (section 5). */
  forceDelete(ref: WorkspaceRef): Promise<void>
  /** Null takes the key away. */
  assignSshKey(ref: WorkspaceRef, sshKeyId: string | null): Promise<WorkspaceView>
  /** Locks a workspace. Throws `conflict` if it is locked, also by the caller. */
  lock(ref: WorkspaceRef, input: LockInput): Promise<WorkspaceView>
  /**
   * By who holds the lock: it ends so long after now as `ttlMs` says, or as it was given before. `conflict` to anybody else and
   * when it has run out.
   */
  extendLock(ref: WorkspaceRef, input?: LockExtension): Promise<WorkspaceView>
  /** By who holds the lock: `conflict` to anybody else, `pending` while the newest state of this lock is on its way. */
  unlock(ref: WorkspaceRef): Promise<WorkspaceView>
  /** By administrators of the workspace; discards a state that is on its way. */
  forceUnlock(ref: WorkspaceRef): Promise<WorkspaceView>
  /** Many at once, all or none. */
  moveToProject(projectId: string, workspaceIds: readonly string[]): Promise<void>
}
