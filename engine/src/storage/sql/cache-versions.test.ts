import { describe, expect, test } from "vitest"
import type { MountId } from "../../pki/mounts/mount.ts"
import {
  authorityFamily,
  bumpCacheVersion,
  mountsFamily,
  nextCacheVersion,
  readCacheVersion,
  readMountVersions,
} from "./cache-versions.ts"
import type { QueryRunner } from "./query-runner.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const mountId = "mnt-1" as MountId
const authority = authorityFamily(mountId)

// On SQLite, units of work that start in the same turn share a transaction and the cache versions read in it.
describe.each(databaseKinds.filter(({ available }) => available))("concurrent transactions on $name", (kind) => {
  const inTurn = async (works: readonly ((session: QueryRunner) => Promise<unknown>)[]) => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    // On PostgreSQL each has a transaction of its own, and their order is undefined, so they run one after another here.
    const outcomes: unknown[] = []
    if (kind.name.startsWith("PostgreSQL"))
      for (const work of works) outcomes.push(await database.transact(work).catch((error: Error) => error.message))
    else
      outcomes.push(
        ...(await Promise.all(
          works.map((work) => database.transact(work).catch((error: unknown) => (error as Error).message)),
        )),
      )
    return outcomes
  }
  const read = async (session: QueryRunner) => readCacheVersion(session, authority)
  const readBoth = async (session: QueryRunner) => readMountVersions(session, mountId)

  test("see earlier changes", async () => {
    const outcomes = await inTurn([
      read,
      readBoth,
      async (session) => {
        const before = await read(session)
        await bumpCacheVersion(session, authority)
        return [before, await read(session), await readBoth(session)]
      },
      read,
      readBoth,
      async (session) => nextCacheVersion(session, mountsFamily),
      readBoth,
      read,
    ])
    expect(outcomes).toEqual([
      0,
      { mounts: 0, authority: 0 },
      [0, 1, { mounts: 0, authority: 1 }],
      1,
      { mounts: 0, authority: 1 },
      1,
      { mounts: 1, authority: 1 },
      1,
    ])
  })

  test("see changes that another transaction makes during a read", async () => {
    const atOnce = async (session: QueryRunner) =>
      Promise.all([
        readCacheVersion(session, authority),
        readMountVersions(session, mountId),
        bumpCacheVersion(session, authority),
      ])
    const outcomes = await inTurn([atOnce, read, readBoth])
    expect(outcomes.slice(1)).toEqual([1, { mounts: 0, authority: 1 }])
  })

  test("do not see rolled-back changes", async () => {
    const failing = async (session: QueryRunner) => {
      await bumpCacheVersion(session, authority)
      throw new Error(`after ${await read(session)}`)
    }
    const outcomes = await inTurn([
      read,
      failing,
      read,
      async (session) => bumpCacheVersion(session, authority),
      failing,
      readBoth,
      failing,
      read,
    ])
    expect(outcomes).toEqual([0, "after 1", 0, undefined, "after 2", { mounts: 0, authority: 1 }, "after 2", 1])
  })

  test("of the next transaction see changes in between", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    expect(await database.transact(read)).toBe(0)
    await database.transact((session) => bumpCacheVersion(session, authority))
    expect([await database.transact(read), await database.read(read)]).toEqual([1, 1])
  })
})
