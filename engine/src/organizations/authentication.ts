// From a token to a caller. Callers are kept per token for as long as the identity generation stands still; that number is
// read first in every request, so a revoked token or a left team counts at once on every replica (architecture 0.23).
import type { Caller } from "../core/caller.ts"
import { unauthenticated } from "../core/errors.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { Instant } from "../core/time.ts"
import type { IdentityStore, TokenRecord } from "./identity-store.ts"

const cachedCallersMaximum = 10_000

interface Remembered {
  readonly generation: number
  readonly expiresAt: Instant | null
  readonly caller: Caller
}

export type Authenticate = (token: string) => Promise<Caller>

export function authentication(storage: Storage<{ readonly identity: IdentityStore }>, runtime: Runtime): Authenticate {
  const remembered = new Map<string, Remembered>()

  return async (token) => {
    const hash = runtime.digest(token)
    const now = runtime.clock.now()
    const known = remembered.get(hash)
    const { caller, expiresAt, generation } = await storage.read(async ({ identity }): Promise<Remembered> => {
      const current = await identity.generation()
      if (known?.generation === current) return known
      const record = await identity.findToken(hash)
      if (record === undefined) throw unauthenticated()
      const resolved = await resolve(identity, record)
      if (resolved === undefined) throw unauthenticated()
      return { generation: current, expiresAt: record.expiresAt, caller: resolved }
    })
    if (expiresAt !== null && expiresAt <= now) throw unauthenticated()
    if (known?.generation !== generation) {
      if (remembered.size >= cachedCallersMaximum) remembered.clear()
      remembered.set(hash, { caller, expiresAt, generation })
    }
    return caller
  }
}

async function resolve(identity: IdentityStore, record: TokenRecord): Promise<Caller | undefined> {
  const { owner } = record
  switch (owner.kind) {
    case "user": {
      const user = await identity.findUser(owner.userId)
      if (user === undefined) return undefined
      const memberships = await identity.membershipsOfUser(user.id)
      return { kind: "user", tokenId: record.id, userId: user.id, siteAdmin: user.siteAdmin, memberships }
    }
    case "team": {
      const team = await identity.membershipOfTeam(owner.teamId)
      return team && { kind: "team", tokenId: record.id, teamId: owner.teamId, ...team }
    }
    case "organization":
      return { kind: "organization", tokenId: record.id, organizationId: owner.organizationId }
    case "service": // rights on certificates only (architecture 0.11)
      return undefined
    default:
      return owner satisfies never
  }
}
