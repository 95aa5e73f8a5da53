import type { VariableInput, VariablePatch, VariableView } from "./variable.ts"
import type { WorkspaceRef } from "./workspace.ts"

/** The variables of workspaces; the value of a sensitive one is written and never read back. */
export interface Variables {
  /** Refused with `invalid` for a key that the workspace has in the same category. */
  create(ref: WorkspaceRef, input: VariableInput): Promise<VariableView>
  get(ref: WorkspaceRef, id: string): Promise<VariableView>
  /** Whichever workspace it belongs to. */
  findById(id: string): Promise<VariableView>
  /** All of them. */
  list(ref: WorkspaceRef): Promise<readonly VariableView[]>
  update(ref: WorkspaceRef, id: string, patch: VariablePatch): Promise<VariableView>
  delete(ref: WorkspaceRef, id: string): Promise<void>
}
