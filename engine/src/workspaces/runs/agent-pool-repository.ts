import type { OrganizationId, ProjectId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { AgentPool, AgentPoolFilter, AgentPoolScope, AgentPoolUses } from "../../organizations/agent-pool.ts"
import type { Visibility } from "../workspace/workspace-query.ts"

export interface AgentPoolRepository {
  find(id: string): Promise<AgentPool | undefined>
  findMany(ids: readonly string[]): Promise<readonly AgentPool[]>
  list(organizationId: OrganizationId, filter: AgentPoolFilter, page: PageRequest): Promise<Page<AgentPool>>
  /** The visible workspaces whose own setting names each of these pools, by name. */
  workspacesOf(ids: readonly string[], visibility: Visibility): Promise<ReadonlyMap<string, readonly WorkspaceId[]>>
  scopesOf(ids: readonly string[]): Promise<ReadonlyMap<string, AgentPoolScope>>
  /** Replaces the lists that are given. */
  saveScope(id: string, scope: Partial<AgentPoolScope>): Promise<void>
  /** Whether the workspace may use the pool; without one, whether every new workspace of the project may. */
  admits(id: string, place: { readonly workspaceId?: WorkspaceId; readonly projectId: ProjectId }): Promise<boolean>
  usesOf(id: string): Promise<AgentPoolUses>
  /** Both throw `EngineError("invalid")` on `name` when the organization has a pool of that name. */
  insert(pool: AgentPool): Promise<void>
  save(pool: AgentPool): Promise<void>
  remove(id: string): Promise<void>
}
