// Generations as they stand now, for what is cached under them. Every request asks, so requests that are dealt with in one turn
// of the event loop share the answer: all of them came before it was read, and a commit of this process ends it.
import type { Arrival, Generations } from "../core/generations.ts"
import type { Database } from "./database.ts"
import {
  authorityFamily,
  type FrontGenerations,
  readFrontGenerations,
  readGeneration,
  revocationsFamily,
} from "./generations.ts"
import type { Session } from "./session.ts"

/** No family is called so. */
const frontKey = ""

export const currentGenerations = (database: Database): Generations => {
  // A new one each time, and not the same one emptied: V8 keeps what an old table of a map was followed by, for as long as that.
  let known = new Map<string, Promise<unknown>>()
  let knownSince = -1
  /** Of the mount that was asked for last, which the next request mostly asks for as well. */
  let likely = ""

  const shared = <T>(key: string, read: (session: Session) => Promise<T>): Promise<T> => {
    const { commitCount } = database
    if (knownSince !== commitCount) {
      if (known.size > 0) known = new Map()
      knownSince = commitCount
    }
    const asked = known.get(key) as Promise<T> | undefined
    if (asked !== undefined) return asked
    if (known.size === 0) {
      const ended = known
      setImmediate(() => {
        if (known === ended) known = new Map()
      })
    }
    const answer = database.glance(read)
    known.set(key, answer)
    return answer
  }
  const current = (family: string) => shared(family, (session) => readGeneration(session, family))
  const front = () => shared(frontKey, (session) => readFrontGenerations(session, likely))

  async function authority(mountId: string): Promise<number> {
    const family = authorityFamily(mountId)
    likely = family
    const { also } = await front()
    return also.family === family ? also.number : await current(family)
  }

  return {
    ...asked(front),
    arrival() {
      let seen: Promise<FrontGenerations> | undefined
      return asked(() => (seen ??= front()))
    },
    authority,
    revocations: (mountId) => current(revocationsFamily(mountId)),
  }
}

const asked = (front: () => Promise<FrontGenerations>): Arrival => ({
  identity: async () => (await front()).identity,
  mounts: async () => (await front()).mounts,
})
