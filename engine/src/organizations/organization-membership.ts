import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import type { UserView } from "./user.ts"

/**
 * Membership of a user in an organization. It is effective at once, and no mail is sent. A user invited by email has the status `invited`
 * and no visible username. It becomes active when a token is created for the user or the user gets a name.
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

/** Membership as callers get it, with the user. */
export interface OrganizationMembershipView extends Omit<
  OrganizationMembership,
  "organizationId" | "userId" | "status"
> {
  readonly status: OrganizationMembershipStatus
  readonly organizationName: string
  readonly user: UserView
  /** Teams that the caller can see. */
  readonly teamIds: readonly TeamId[]
}

export interface OrganizationMembershipQuery {
  readonly organizationId: OrganizationId
  /** Substring of the username or email. */
  readonly search?: string
  readonly emails?: readonly string[]
  readonly status?: string
}

export interface OrganizationMembershipRepository {
  find(id: string): Promise<OrganizationMembership | undefined>
  findMany(ids: readonly string[]): Promise<readonly OrganizationMembership[]>
  /** Returns the memberships of those of the users who belong to the organization. */
  ofUsers(organizationId: OrganizationId, userIds: readonly UserId[]): Promise<readonly OrganizationMembership[]>
  list(query: OrganizationMembershipQuery, page: PageRequest): Promise<Page<OrganizationMembership>>
  /** Throws `EngineError("invalid")` if the user is already a member. */
  insert(membership: OrganizationMembership): Promise<void>
  remove(id: string): Promise<void>
}

export interface OrganizationMembershipFilter {
  /** Substring of the username or email. */
  readonly search?: string
  readonly emails?: readonly string[]
  readonly status?: string
}

/** Operations on memberships of an organization. */
export interface OrganizationMemberships {
  /** Adds a member. Creates the user if no user has the name or email. Throws `invalid` if the user is already a member. */
  create(organization: string, input: OrganizationMembershipInput): Promise<OrganizationMembershipView>
  list(
    organization: string,
    filter: OrganizationMembershipFilter,
    page: PageRequest,
  ): Promise<Page<OrganizationMembershipView>>
  get(id: string): Promise<OrganizationMembershipView>
  /** Removes a member, also from every team of the organization. */
  delete(id: string): Promise<void>
}
