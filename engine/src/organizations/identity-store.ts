import type { Membership } from "../core/caller.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"

/** A token as the resolver needs it; the secret itself exists only in the answer that created it. */
export interface TokenRecord {
  readonly id: string
  readonly owner:
    | { readonly kind: "user"; readonly userId: UserId }
    | { readonly kind: "team"; readonly teamId: TeamId }
    | { readonly kind: "organization"; readonly organizationId: OrganizationId }
    | { readonly kind: "service" }
  readonly expiresAt: Instant | null
}

/** What turning a token into a caller needs; every write to what it reads bumps the `identity` generation. */
export interface IdentityStore {
  generation(): Promise<number>
  bumpGeneration(): Promise<void>
  findToken(hash: string): Promise<TokenRecord | undefined>
  findUser(id: UserId): Promise<{ readonly id: UserId; readonly siteAdmin: boolean } | undefined>
  /** Standing of a user in each of their organizations; `teamIds` limits it to one team's (team tokens). */
  membershipsOfUser(id: UserId): Promise<ReadonlyMap<OrganizationId, Membership>>
  membershipOfTeam(
    id: TeamId,
  ): Promise<{ readonly organizationId: OrganizationId; readonly membership: Membership } | undefined>
}
