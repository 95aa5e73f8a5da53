import type { Page, PageRequest } from "../core/page.ts"
import type { OrganizationMembershipInput, OrganizationMembershipView } from "./organization-membership.ts"

export interface OrganizationMembershipFilter {
  /** Part of the username or email. */
  readonly search?: string
  readonly emails?: readonly string[]
  readonly status?: string
}

/** Who belongs to an organization. */
export interface OrganizationMemberships {
  /** Refused with `invalid` for who is a member already. Makes the user first when nobody has that name or email. */
  create(organization: string, input: OrganizationMembershipInput): Promise<OrganizationMembershipView>
  list(
    organization: string,
    filter: OrganizationMembershipFilter,
    page: PageRequest,
  ): Promise<Page<OrganizationMembershipView>>
  get(id: string): Promise<OrganizationMembershipView>
  /** The user leaves every team of the organization as well. */
  delete(id: string): Promise<void>
}
