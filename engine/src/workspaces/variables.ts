import type { VariableInput, VariablePatch, VariableView } from "./variable.ts"
import type { WorkspaceRef } from "./workspace.ts"

export interface Variables {
  create(ref: WorkspaceRef, input: VariableInput): Promise<VariableView>
  get(ref: WorkspaceRef, id: string): Promise<VariableView>
  list(ref: WorkspaceRef): Promise<readonly VariableView[]>
  update(ref: WorkspaceRef, id: string, patch: VariablePatch): Promise<VariableView>
  delete(ref: WorkspaceRef, id: string): Promise<void>
}
