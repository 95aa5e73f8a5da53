import type { OrganizationId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { OrganizationMembership } from "./organization-membership.ts"

export interface OrganizationMembershipQuery {
  readonly organizationId: OrganizationId
  /** Part of the username or email. */
  readonly search?: string
  readonly emails?: readonly string[]
  readonly status?: string
}

export interface OrganizationMembershipRepository {
  find(id: string): Promise<OrganizationMembership | undefined>
  findMany(ids: readonly string[]): Promise<readonly OrganizationMembership[]>
  /** Those of the given users who belong to the organization. */
  ofUsers(organizationId: OrganizationId, userIds: readonly UserId[]): Promise<readonly OrganizationMembership[]>
  list(query: OrganizationMembershipQuery, page: PageRequest): Promise<Page<OrganizationMembership>>
  /** Throws `EngineError("invalid")` when the user is a member already. */
  insert(membership: OrganizationMembership): Promise<void>
  remove(id: string): Promise<void>
}
