import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import type { UserView } from "./users.ts"

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
