import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import type { UserView } from "./users.ts"

/** A user's belonging to an organization. It begins at once: nothing is mailed, so nobody stays invited. */
export interface OrganizationMembership {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly userId: UserId
  readonly status: "active"
  readonly createdAt: Instant
}

export interface OrganizationMembershipInput {
  readonly email?: string
  readonly username?: string
  readonly teamIds?: readonly string[]
}

/** What a caller is shown of a membership; the user comes with it. */
export interface OrganizationMembershipView extends Omit<OrganizationMembership, "organizationId" | "userId"> {
  readonly organizationName: string
  readonly user: UserView
  /** Those the caller may see. */
  readonly teamIds: readonly TeamId[]
}
