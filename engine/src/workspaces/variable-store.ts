import type { WorkspaceId } from "../core/ids.ts"
import type { Variable } from "./variable.ts"

export interface VariableRepository {
  find(workspaceId: WorkspaceId, id: string): Promise<Variable | undefined>
  findById(id: string): Promise<Variable | undefined>
  /** All of the workspace, in the order of their creation. */
  list(workspaceId: WorkspaceId): Promise<readonly Variable[]>
  listMany(workspaceIds: readonly WorkspaceId[]): Promise<readonly Variable[]>
  /** Throws `EngineError("invalid")` on `key` when the category has the key already; `save` too. */
  insert(variable: Variable): Promise<void>
  save(variable: Variable): Promise<void>
  remove(id: string): Promise<void>
}
