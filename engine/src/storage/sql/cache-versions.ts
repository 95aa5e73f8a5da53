// One version number for each family of cached facts. A change of a fact increments it in the same transaction; a cache compares it
// before use (docs/decisions/cache-versions.md).
import { type Expression, sql } from "kysely"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { CacheVersions, RequestSnapshot } from "../../core/cache-versions.ts"
import type { Database } from "./database.ts"
import { statement, type QueryRunner } from "./query-runner.ts"

export const identityFamily = "identity"
export const mountsFamily = "mounts"
export const authorityFamily = (mountId: string): string => `authority/${mountId}`
export const revocationsFamily = (mountId: string): string => `revocations/${mountId}`

/** Returns 0 for a family that has not changed yet. */
export async function readCacheVersion(session: QueryRunner, family: string): Promise<number> {
  return (await session.queryOne(read, { family }))?.number ?? 0
}

interface FrontVersions {
  readonly identity: number
  readonly mounts: number
  /** Version of the third family of the query. */
  readonly also: { readonly family: string; readonly number: number }
}

/** Reads the versions that nearly every request needs, and that of one more family, in one query. */
async function readFrontVersions(session: QueryRunner, family: string): Promise<FrontVersions> {
  const row = await session.queryOne(readFront, { family })
  return { identity: row?.identity ?? 0, mounts: row?.mounts ?? 0, also: { family, number: row?.also ?? 0 } }
}

/** Reads the version of the table of mounts and that of one mount, in one query. */
export async function readMountVersions(
  session: QueryRunner,
  mountId: MountId,
): Promise<{ readonly mounts: number; readonly authority: number }> {
  const row = await session.queryOne(readPair, { family: authorityFamily(mountId) })
  return { mounts: row?.mounts ?? 0, authority: row?.also ?? 0 }
}

export async function bumpCacheVersion(session: QueryRunner, family: string): Promise<void> {
  await session.execute(bump, { family })
}

/** Increments the version and returns it. */
export async function nextCacheVersion(session: QueryRunner, family: string): Promise<number> {
  const row = await session.queryOne(bumpReturning, { family })
  if (row === undefined) throw new Error(`the version of ${family} was not written`)
  return row.number
}

const numberOf = (db: QueryRunner["db"], family: string | Expression<string>) =>
  db.selectFrom("generations").select("number").where("family", "=", family)

const read = statement<{ family: string }, { number: number }>((db, { family }) => numberOf(db, family))

// One row with several subqueries: for a list of families SQLite would build a temporary table at each query.
const readFront = statement<{ family: string }, Record<"identity" | "mounts" | "also", number | null>>(
  (db, { family }) =>
    db.selectNoFrom([
      numberOf(db, sql.lit(identityFamily)).as("identity"),
      numberOf(db, sql.lit(mountsFamily)).as("mounts"),
      numberOf(db, family).as("also"),
    ]),
)

const readPair = statement<{ family: string }, Record<"mounts" | "also", number | null>>((db, { family }) =>
  db.selectNoFrom([numberOf(db, sql.lit(mountsFamily)).as("mounts"), numberOf(db, family).as("also")]),
)

const bump = statement<{ family: string }, unknown>((db, { family }) =>
  db
    .insertInto("generations")
    .values({ family, number: 1 })
    .onConflict((known) => known.column("family").doUpdateSet({ number: sql<number>`generations.number + 1` })),
)

const bumpReturning = statement<{ family: string }, { number: number }>((db, { family }) =>
  db
    .insertInto("generations")
    .values({ family, number: 1 })
    .onConflict((known) => known.column("family").doUpdateSet({ number: sql<number>`generations.number + 1` }))
    .returning("number"),
)

/** Key of the shared front query; no family has this name. */
const frontKey = ""

/**
 * Reads current cache versions. Every request needs them, so requests in one turn of the event loop share one read. All of these requests
 * arrived before the read. A commit of this process ends the sharing.
 */
export const currentCacheVersions = (database: Database): CacheVersions => {
  // Replaced instead of cleared: V8 retains the table of a cleared map for as long as its predecessor is referenced.
  let known = new Map<string, Promise<unknown>>()
  let knownSince = -1
  /** Family of the last mount; the next request is probably for the same mount. */
  let likely = ""

  const shared = <T>(key: string, read: (session: QueryRunner) => Promise<T>): Promise<T> => {
    const { commitCount } = database
    if (knownSince !== commitCount) {
      if (known.size > 0) known = new Map()
      knownSince = commitCount
    }
    const pending = known.get(key) as Promise<T> | undefined
    if (pending !== undefined) return pending
    if (known.size === 0) {
      const ended = known
      setImmediate(() => {
        if (known === ended) known = new Map()
      })
    }
    const answer = database.readSingle(read)
    known.set(key, answer)
    return answer
  }
  const current = (family: string) => shared(family, (session) => readCacheVersion(session, family))
  const front = () => shared(frontKey, (session) => readFrontVersions(session, likely))

  async function authority(mountId: string): Promise<number> {
    const family = authorityFamily(mountId)
    likely = family
    const { also } = await front()
    return also.family === family ? also.number : await current(family)
  }

  return {
    ...snapshotOf(front),
    requestSnapshot() {
      let seen: Promise<FrontVersions> | undefined
      return snapshotOf(() => (seen ??= front()))
    },
    authority,
    revocations: (mountId) => current(revocationsFamily(mountId)),
  }
}

const snapshotOf = (front: () => Promise<FrontVersions>): RequestSnapshot => ({
  identity: async () => (await front()).identity,
  mounts: async () => (await front()).mounts,
})
