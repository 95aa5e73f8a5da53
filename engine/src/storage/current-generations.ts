// Generations as they stand now, for what is cached under them. Every request asks, so requests that are dealt with in one turn
// of the event loop share the answer: all of them came before it was read, and a commit of this process ends it.
import type { Generations } from "../core/generations.ts"
import type { Database } from "./database.ts"
import { authorityFamily, identityFamily, mountsFamily, readGeneration, revocationsFamily } from "./generations.ts"

export const currentGenerations = (database: Database): Generations => {
  const known = new Map<string, Promise<number>>()
  let knownSince = -1

  const current = (family: string): Promise<number> => {
    const { commitCount } = database.activity
    if (knownSince !== commitCount) {
      known.clear()
      knownSince = commitCount
    }
    const shared = known.get(family)
    if (shared !== undefined) return shared
    if (known.size === 0) setImmediate(() => known.clear())
    const read = database.glance((session) => readGeneration(session, family))
    known.set(family, read)
    return read
  }
  return {
    identity: () => current(identityFamily),
    mounts: () => current(mountsFamily),
    authority: (mountId) => current(authorityFamily(mountId)),
    revocations: (mountId) => current(revocationsFamily(mountId)),
  }
}
