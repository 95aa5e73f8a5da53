// Resolves a token to a caller. Callers are cached by token under the identity version, which every request reads first. A
// revoked token or a lost membership therefore counts at once on every server (docs/decisions/cache-versions.md).
import { type AccessRules, compileAccess, fullAccess, noAccess, type PathRule } from "../core/access.ts"
import type { RequestSnapshot } from "../core/cache-versions.ts"
import type { Caller, Membership } from "../core/caller.ts"
import { unauthenticated } from "../core/errors.ts"
import type { OrganizationId, TeamId, UserId } from "../core/ids.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { Instant } from "../core/time.ts"
import { VersionedCache } from "../core/versioned-cache.ts"
import { isExpired, isUseWorthRecording, type TokenUses } from "./token.ts"

const cachedCallersMaximum = 10_000

/** A token that was made by another ends with it; more of them in a row than this are never made. */
export const tokenAncestorsMaximum = 16

/** The caller of a token, cached under the identity version. */
export interface ResolvedToken {
  readonly tokenId: string
  /** When it, or one of the tokens that it ends with, does. A renewal may move it without a new version. */
  readonly expiresAt: Instant | null
  readonly limitedUses: boolean
  readonly boundCidrs: readonly string[]
  readonly caller: Caller
}

interface Remembered extends ResolvedToken {
  readonly version: number
  readonly allows: (remoteAddress: string | undefined) => boolean
  /** As far as this process knows; another one may have seen a later use. */
  lastUsedAt: Instant | null
}

export interface TokenUse {
  /** Without one the caller is who the token stands for now. */
  readonly requestSnapshot?: RequestSnapshot
  /** The client's; undefined where nobody knows it, from where a token that is bound to addresses cannot be used. */
  readonly remoteAddress?: string | undefined
}

export type Authenticate = (token: string, use?: TokenUse) => Promise<Caller>

export function authentication(
  storage: Storage<{ readonly identity: IdentityRepository }>,
  cacheVersions: RequestSnapshot,
  runtime: Runtime,
  uses: TokenUses,
  addressBounds: (bounds: readonly string[]) => Remembered["allows"],
): Authenticate {
  const remembered = new VersionedCache<string, Remembered>(cachedCallersMaximum)

  return async (token, { requestSnapshot = cacheVersions, remoteAddress } = {}) => {
    const hash = runtime.digest(token)
    const now = runtime.clock.now()
    const known = remembered.peek(hash)
    const stands = known !== undefined && !isExpired(known, now) && known.version === (await requestSnapshot.identity())
    const found = stands
      ? known
      : await storage.read(async ({ identity }): Promise<Remembered> => {
          const version = await identity.cacheVersion()
          const record = await identity.findToken(hash)
          const resolved = record && (await resolveToken(identity, record))
          if (record === undefined || resolved === undefined) throw unauthenticated()
          const allows = addressBounds(resolved.boundCidrs)
          return { ...resolved, version, allows, lastUsedAt: record.lastUsedAt }
        })
    // Before a use is counted: whoever has no business with a token takes nothing from it.
    if (isExpired(found, now) || !found.allows(remoteAddress)) throw unauthenticated()
    if (found !== known) remembered.keep(hash, found)
    if (isUseWorthRecording(found.lastUsedAt, now)) {
      found.lastUsedAt = now
      uses.record(found.tokenId, now)
    }
    // Before anything is done with it: of two requests that race for the last use, one is refused.
    if (found.limitedUses && !(await storage.transact(({ identity }) => identity.spendUse(found.tokenId, now))))
      throw unauthenticated()
    return found.caller
  }
}

/** Undefined where whoever the token belongs to is gone. */
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

/** Undefined for one with more tokens above it than are ever made. */
async function endOf(identity: IdentityRepository, record: TokenRecord): Promise<Instant | null | undefined> {
  let expiresAt = record.expiresAt
  let parentId = record.parentId
  for (let above = 0; parentId !== null; above += 1) {
    if (above === tokenAncestorsMaximum) return undefined
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
      const { name: teamName, ...standing } = team
      return { kind: "team", tokenId, teamId, teamName, ...standing, acl: await accessOf(identity, record) }
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
