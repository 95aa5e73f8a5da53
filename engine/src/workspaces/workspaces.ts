import type { Page, PageRequest } from "../core/page.ts"
import type { WorkspaceQuery } from "./query.ts"
import type { WorkspaceInput } from "./workspace-input.ts"
import type { WorkspaceRef } from "./workspace.ts"
import type { WorkspaceView } from "./workspace-view.ts"

/** The workspace family of the engine; embedded and remote behave alike. */
export interface Workspaces {
  create(organization: string, input: WorkspaceInput): Promise<WorkspaceView>
  list(organization: string, query: WorkspaceQuery, page: PageRequest): Promise<Page<WorkspaceView>>
  get(ref: WorkspaceRef): Promise<WorkspaceView>
  update(ref: WorkspaceRef, changes: WorkspaceInput): Promise<WorkspaceView>
  /** Refused while it is locked, its state is being processed, or it manages resources. */
  safeDelete(ref: WorkspaceRef): Promise<void>
  /** Looks at nothing but the permission. */
  forceDelete(ref: WorkspaceRef): Promise<void>
  /** Null takes the key away. */
  assignSshKey(ref: WorkspaceRef, sshKeyId: string | null): Promise<WorkspaceView>
  lock(ref: WorkspaceRef, input: { readonly reason: string }): Promise<WorkspaceView>
  unlock(ref: WorkspaceRef): Promise<WorkspaceView>
  forceUnlock(ref: WorkspaceRef): Promise<WorkspaceView>
  /** Many at once, all or none. */
  moveToProject(projectId: string, workspaceIds: readonly string[]): Promise<void>
}
