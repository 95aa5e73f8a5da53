import type { WorkspaceRef } from "./workspace.ts"
import type { WorkspaceView } from "./workspace-view.ts"

/** The workspace family of the engine; embedded and remote behave alike. */
export interface Workspaces {
  get(ref: WorkspaceRef): Promise<WorkspaceView>
  lock(ref: WorkspaceRef, input: { readonly reason: string }): Promise<WorkspaceView>
  unlock(ref: WorkspaceRef): Promise<WorkspaceView>
  forceUnlock(ref: WorkspaceRef): Promise<WorkspaceView>
}
