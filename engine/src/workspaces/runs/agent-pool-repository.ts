import type { OrganizationId, ProjectId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { AgentPool, AgentPoolFilter, AgentPoolScope, AgentPoolUses } from "../../organizations/agent-pool.ts"
import type { Visibility } from "../workspace/workspace-query.ts"

export interface AgentPoolRepository {
  find(id: string): Promise<AgentPool | undefined>
  findMany(ids: readonly string[]): Promise<readonly AgentPool[]>
  list(organizationId: OrganizationId, filter: AgentPoolFilter, page: PageRequest): Promise<Page<AgentPool>>
  /** Returns for each of these pools the visible workspaces whose own setting is this pool, by name. */
  workspacesOf(ids: readonly string[], visibility: Visibility): Promise<ReadonlyMap<string, readonly WorkspaceId[]>>
  scopesOf(ids: readonly string[]): Promise<ReadonlyMap<string, AgentPoolScope>>
  /** Replaces the lists that are given. */
  saveScope(id: string, scope: Partial<AgentPoolScope>): Promise<void>
  /** Returns whether the workspace may use the pool. Without a workspace, returns whether every new workspace of the project may. */
  admits(id: string, place: { readonly workspaceId?: WorkspaceId; readonly projectId: ProjectId }): Promise<boolean>
  usesOf(id: string): Promise<AgentPoolUses>
  /** `insert` and `save` throw `EngineError("invalid")` on `name` if the organization has a pool of that name. */
  insert(pool: AgentPool): Promise<void>
  save(pool: AgentPool): Promise<void>
  remove(id: string): Promise<void>
}
