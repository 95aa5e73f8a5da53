// Resolves a token to a caller. Callers are cached by token under the identity version, which every request reads first. So a revoked token
// or a lost membership is effective at once on every server (docs/decisions/cache-versions.md).
import { type AccessRules, compileAccess, fullAccess, noAccess, type PathRule } from "../core/access.ts"
import type { RequestSnapshot } from "../core/cache-versions.ts"
import type { Caller, Membership } from "../core/caller.ts"
import { unauthenticated } from "../core/errors.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { Instant } from "../core/time.ts"
import type { Signer } from "../core/signing.ts"
import { VersionedCache } from "../core/versioned-cache.ts"
import { openClaimToken } from "./claim-token.ts"
import { isExpired, isUseWorthRecording, type TokenUses } from "./token.ts"

const maxCachedCallers = 10_000

/** Limit of a chain of parent tokens. A token that was created by another one expires with it. */
export const maxTokenAncestors = 16

/** Caller of a token, cached under the identity version. */
export interface ResolvedToken {
  readonly tokenId: string
  /** Expiry of the token or of its earliest expiring ancestor. A renewal can move it without a new version. */
  readonly expiresAt: Instant | null
  readonly limitedUses: boolean
  readonly boundCidrs: readonly string[]
  readonly caller: Caller
}

interface CachedToken extends ResolvedToken {
  readonly version: number
  readonly allows: (remoteAddress: string | undefined) => boolean
  /** Last use that this process knows. Another process may have recorded a later one. */
  lastUsedAt: Instant | null
}

export interface TokenUse {
  /** Versions as of the request. Without it, the current ones are read. */
  readonly requestSnapshot?: RequestSnapshot
  /** Address of the client. Undefined if it is unknown: then a token that is bound to addresses cannot be used. */
  readonly remoteAddress?: string | undefined
}

export type Authenticate = (token: string, use?: TokenUse) => Promise<Caller>

export function authentication(
  storage: Storage<{ readonly identity: IdentityRepository }>,
  cacheVersions: RequestSnapshot,
  runtime: Runtime,
  uses: TokenUses,
  signer: Signer,
  addressBounds: (bounds: readonly string[]) => CachedToken["allows"],
): Authenticate {
  const remembered = new VersionedCache<string, CachedToken>(maxCachedCallers)

  return async (token, { requestSnapshot = cacheVersions, remoteAddress } = {}) => {
    const hash = runtime.digest(token)
    const now = runtime.clock.now()
    const known = remembered.peek(hash)
    const stands = known !== undefined && !isExpired(known, now) && known.version === (await requestSnapshot.identity())
    const found = stands
      ? known
      : await storage.read(async ({ identity }): Promise<CachedToken> => {
          const version = await identity.cacheVersion()
          const ofClaim = openClaimToken(signer, token, now)
          const record = ofClaim ? await identity.findTokenById(ofClaim.tokenId) : await identity.findToken(hash)
          const owned = record && (await resolveToken(identity, record))
          const resolved = owned && ofClaim ? restrictedToClaim(owned, ofClaim) : owned
          if (record === undefined || resolved === undefined) throw unauthenticated()
          const allows = addressBounds(resolved.boundCidrs)
          return { ...resolved, version, allows, lastUsedAt: record.lastUsedAt }
        })
    // Check before the use is counted: a client that may not use the token must not spend its uses.
    if (isExpired(found, now) || !found.allows(remoteAddress)) throw unauthenticated()
    if (found !== known) remembered.keep(hash, found)
    if (isUseWorthRecording(found.lastUsedAt, now)) {
      found.lastUsedAt = now
      uses.record(found.tokenId, now)
    }
    // Count before the request is processed: of two requests that race for the last use, one is rejected.
    if (found.limitedUses && !(await storage.transact(({ identity }) => identity.spendUse(found.tokenId, now))))
      throw unauthenticated()
    return found.caller
  }
}

/** Returns undefined if the owner of the token was deleted. */
export async function resolveToken(
  identity: IdentityRepository,
  record: TokenRecord,
): Promise<ResolvedToken | undefined> {
  const caller = await callerOf(identity, record)
  const expiresAt = await endOf(identity, record)
  if (caller === undefined || expiresAt === undefined) return undefined
  const { id: tokenId, limitedUses, boundCidrs } = record
  return { tokenId, expiresAt, limitedUses, boundCidrs, caller }
}

/** Returns undefined if the token is no longer one of an agent. */
function restrictedToClaim(
  resolved: ResolvedToken,
  { claimId, expiresAt }: { readonly claimId: string; readonly expiresAt: Instant },
): ResolvedToken | undefined {
  const { caller } = resolved
  if (caller.kind !== "agent") return undefined
  return {
    ...resolved,
    expiresAt: earlier(resolved.expiresAt, expiresAt),
    // No request of the claim acts on the agent's own token.
    caller: { ...caller, tokenId: claimId, claimId },
  }
}

/**
 * Returns the earliest expiry of the token and its ancestors. Returns undefined if an ancestor is missing, or the chain exceeds the limit.
 */
async function endOf(identity: IdentityRepository, record: TokenRecord): Promise<Instant | null | undefined> {
  let expiresAt = record.expiresAt
  let parentId = record.parentId
  for (let above = 0; parentId !== null; above += 1) {
    if (above === maxTokenAncestors) return undefined
    const parent = await identity.findTokenById(parentId)
    if (parent === undefined) return undefined
    expiresAt = earlier(expiresAt, parent.expiresAt)
    parentId = parent.parentId
  }
  return expiresAt
}

const earlier = (one: Instant | null, other: Instant | null): Instant | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

async function callerOf(identity: IdentityRepository, record: TokenRecord): Promise<Caller | undefined> {
  const { owner, id: tokenId } = record
  switch (owner.kind) {
    case "user": {
      const user = await identity.findUser(owner.userId)
      if (user === undefined) return undefined
      const { id: userId, username, siteAdmin } = user
      const memberships = await identity.membershipsOfUser(userId)
      const acl = siteAdmin ? fullAccess : await accessOf(identity, record)
      return { kind: "user", tokenId, userId, username, siteAdmin, memberships, acl }
    }
    case "team": {
      const { teamId } = owner
      const team = await identity.membershipOfTeam(teamId)
      if (team === undefined) return undefined
      const { name: teamName, ...teamMembership } = team
      return { kind: "team", tokenId, teamId, teamName, ...teamMembership, acl: await accessOf(identity, record) }
    }
    case "organization": {
      const { organizationId } = owner
      return { kind: "organization", tokenId, organizationId, acl: await accessOf(identity, record) }
    }
    case "agent-pool": {
      const { agentPoolId } = owner
      const organizationId = await identity.organizationOfAgentPool(agentPoolId)
      return organizationId && { kind: "agent", tokenId, agentPoolId, organizationId, acl: noAccess }
    }
    case "service":
      return { kind: "service", tokenId, acl: await accessOf(identity, record) }
    default:
      return owner satisfies never
  }
}

async function accessOf(identity: IdentityRepository, record: TokenRecord): Promise<AccessRules> {
  const policies = await identity.policiesOf(record)
  return policies.length === 0 ? noAccess : compileAccess(policies)
}

/** Token as the resolver needs it. The secret is only in the response to its creation. */
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
  /** Token with which this one expires. */
  readonly parentId: string | null
  /** True if each use must be counted before it is permitted. */
  readonly limitedUses: boolean
  /** Address ranges or addresses from which the token can be used. Empty means any. */
  readonly boundCidrs: readonly string[]
}

export interface AttachedPolicy {
  readonly name: string
  readonly rules: readonly PathRule[]
}

/** Repository of tokens and their callers. Every write to these rows increments the `identity` version. */
export interface IdentityRepository {
  cacheVersion(): Promise<number>
  bumpCacheVersion(): Promise<void>
  /** Returns the administrator of that name, and creates it with this id if there is none. */
  ensureAdministrator(user: { readonly id: UserId; readonly username: string; readonly now: Instant }): Promise<UserId>
  findToken(hash: string): Promise<TokenRecord | undefined>
  findTokenById(id: string): Promise<TokenRecord | undefined>
  /** Counts a use. Returns false if none is left; a condition in the statement decides races. The last use ends the token. */
  spendUse(tokenId: string, now: Instant): Promise<boolean>
  /** Returns the policies of the token, of its owner, and of the teams of a user who is the owner. */
  policiesOf(token: TokenRecord): Promise<readonly AttachedPolicy[]>
  findUser(
    id: UserId,
  ): Promise<{ readonly id: UserId; readonly username: string; readonly siteAdmin: boolean } | undefined>
  /** Returns the memberships of a user by organization. */
  membershipsOfUser(id: UserId): Promise<ReadonlyMap<OrganizationId, Membership>>
  membershipOfTeam(
    id: TeamId,
  ): Promise<
    { readonly name: string; readonly organizationId: OrganizationId; readonly membership: Membership } | undefined
  >
  organizationOfAgentPool(id: string): Promise<OrganizationId | undefined>
}

/** Name of the team whose members own their organization. `docs/conformance.md` calls them "team owner". */
export const ownersTeamName = "owners"
