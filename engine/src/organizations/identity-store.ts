import type { PathRule } from "../core/access.ts"
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
    | { readonly kind: "agent-pool"; readonly agentPoolId: string }
    | { readonly kind: "service" }
  readonly expiresAt: Instant | null
  readonly lastUsedAt: Instant | null
  /** The token with which this one ends. */
  readonly parentId: string | null
  /** Each use must be counted before it counts. */
  readonly limitedUses: boolean
  /** Ranges or single addresses that it can be used from; from anywhere when empty. */
  readonly boundCidrs: readonly string[]
}

export interface AttachedPolicy {
  readonly name: string
  readonly rules: readonly PathRule[]
}

/** Reads a token's caller. Every write to these rows increments the `identity` version. */
export interface IdentityRepository {
  cacheVersion(): Promise<number>
  bumpCacheVersion(): Promise<void>
  /** The administrator of that name, made with this id when there is none yet. */
  ensureAdministrator(user: { readonly id: UserId; readonly username: string; readonly now: Instant }): Promise<UserId>
  findToken(hash: string): Promise<TokenRecord | undefined>
  findTokenById(id: string): Promise<TokenRecord | undefined>
  /** False when there is none left; a condition in the statement settles a race. The last one ends the token. */
  spendUse(tokenId: string, now: Instant): Promise<boolean>
  /** What is attached to the token, to its owner, and to the teams of the user who is its owner. */
  policiesOf(token: TokenRecord): Promise<readonly AttachedPolicy[]>
  findUser(
    id: UserId,
  ): Promise<{ readonly id: UserId; readonly username: string; readonly siteAdmin: boolean } | undefined>
  /** Standing of a user in each of their organizations; `teamIds` limits it to one team's (team tokens). */
  membershipsOfUser(id: UserId): Promise<ReadonlyMap<OrganizationId, Membership>>
  membershipOfTeam(
    id: TeamId,
  ): Promise<
    { readonly name: string; readonly organizationId: OrganizationId; readonly membership: Membership } | undefined
  >
  organizationOfAgentPool(id: string): Promise<OrganizationId | undefined>
}

/** Name of the team whose members own their organization; `docs/conformance.md` calls them "team owner". */
export const ownersTeamName = "owners"
