import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import type { UserView } from "./user.ts"

/**
 * A user's belonging to an organization. It counts from the beginning: nothing is mailed. A user who was invited by e-mail is
 * shown as `invited`, without a username, until a token is made for the user or the user is given a name.
 */
export interface OrganizationMembership {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly userId: UserId
  readonly status: "active"
  readonly createdAt: Instant
}

export const organizationMembershipStatuses = ["active", "invited"] as const
export type OrganizationMembershipStatus = (typeof organizationMembershipStatuses)[number]

export interface OrganizationMembershipInput {
  readonly email?: string
  readonly username?: string
  readonly teamIds?: readonly string[]
}

/** What a caller is shown of a membership; the user comes with it. */
export interface OrganizationMembershipView extends Omit<
  OrganizationMembership,
  "organizationId" | "userId" | "status"
> {
  readonly status: OrganizationMembershipStatus
  readonly organizationName: string
  readonly user: UserView
  /** Those the caller may see. */
  readonly teamIds: readonly TeamId[]
}

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
