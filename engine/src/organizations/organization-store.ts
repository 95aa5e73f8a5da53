import type { OrganizationId, ProjectId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Organization } from "./organization.ts"

export interface OrganizationRepository {
  /** Names compare case-insensitively. */
  findByName(name: string): Promise<Organization | undefined>
  find(id: OrganizationId): Promise<Organization | undefined>
  /** All, or the given ones only. */
  list(
    ids: readonly OrganizationId[] | "all",
    search: string | undefined,
    page: PageRequest,
  ): Promise<Page<Organization>>
  ownsAgentPool(id: OrganizationId, agentPoolId: string): Promise<boolean>
  /** Whether every workspace of the organization, or of the project, may use the pool. */
  admittedByAgentPool(agentPoolId: string, projectId?: ProjectId): Promise<boolean>
  /** Throws `EngineError("invalid")` on `name` when the name is taken. */
  insert(organization: Organization): Promise<void>
  save(organization: Organization): Promise<void>
  /** With everything in it. */
  remove(id: OrganizationId): Promise<void>
}
