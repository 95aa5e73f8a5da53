// From a token to a caller. Callers are kept per token for as long as the identity generation stands still; that number is
// read first in every request, so a revoked token or a left team counts at once on every replica (architecture 0.23).
import { fullAccess, noAccess } from "../core/access.ts"
import type { Caller } from "../core/caller.ts"
import { unauthenticated } from "../core/errors.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { Instant } from "../core/time.ts"
import type { IdentityStore, TokenRecord } from "./identity-store.ts"
import { isExpired, isUseWorthRecording } from "./token.ts"
import type { TokenUses } from "./token-uses.ts"

const cachedCallersMaximum = 10_000

interface Remembered {
  readonly generation: number
  readonly tokenId: string
  readonly expiresAt: Instant | null
  readonly caller: Caller
  /** As far as this process knows; another one may have seen a later use. */
  lastUsedAt: Instant | null
}

export type Authenticate = (token: string) => Promise<Caller>

export function authentication(
  storage: Storage<{ readonly identity: IdentityStore }>,
  runtime: Runtime,
  uses: TokenUses,
): Authenticate {
  const remembered = new Map<string, Remembered>()

  return async (token) => {
    const hash = runtime.digest(token)
    const now = runtime.clock.now()
    const known = remembered.get(hash)
    const found = await storage.read(async ({ identity }): Promise<Remembered> => {
      const generation = await identity.generation()
      if (known?.generation === generation) return known
      const record = await identity.findToken(hash)
      const caller = record && (await resolve(identity, record))
      if (record === undefined || caller === undefined) throw unauthenticated()
      const { id: tokenId, expiresAt, lastUsedAt } = record
      return { generation, tokenId, expiresAt, lastUsedAt, caller }
    })
    if (isExpired(found, now)) throw unauthenticated()
    if (found !== known) {
      if (remembered.size >= cachedCallersMaximum) remembered.clear()
      remembered.set(hash, found)
    }
    if (isUseWorthRecording(found.lastUsedAt, now)) {
      found.lastUsedAt = now
      uses.record(found.tokenId, now)
    }
    return found.caller
  }
}

async function resolve(identity: IdentityStore, record: TokenRecord): Promise<Caller | undefined> {
  const { owner } = record
  switch (owner.kind) {
    case "user": {
      const user = await identity.findUser(owner.userId)
      if (user === undefined) return undefined
      const memberships = await identity.membershipsOfUser(user.id)
      const { id: userId, siteAdmin } = user
      const acl = siteAdmin ? fullAccess : noAccess
      return { kind: "user", tokenId: record.id, userId, siteAdmin, memberships, acl }
    }
    case "team": {
      const team = await identity.membershipOfTeam(owner.teamId)
      return team && { kind: "team", tokenId: record.id, teamId: owner.teamId, ...team, acl: noAccess }
    }
    case "organization":
      return { kind: "organization", tokenId: record.id, organizationId: owner.organizationId, acl: noAccess }
    case "service": // rights on certificates only (architecture 0.11)
      return undefined
    default:
      return owner satisfies never
  }
}
