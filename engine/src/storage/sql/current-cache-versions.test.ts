import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import type { Database } from "./database.ts"
import {
  authorityFamily,
  bumpCacheVersion,
  currentCacheVersions,
  identityFamily,
  mountsFamily,
  revocationsFamily,
} from "./cache-versions.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

describe.each(databaseKinds.filter(({ available }) => available))("current cache versions on $name", (kind) => {
  async function opened() {
    const temporary = await temporaryDatabase(kind)
    let readCount = 0
    const watched: Database = {
      ...temporary.database,
      get commitCount() {
        return temporary.database.commitCount
      },
      readSingle: (work) => {
        readCount += 1
        return temporary.database.readSingle(work)
      },
    }
    return {
      cacheVersions: currentCacheVersions(watched),
      bump: async (...families: string[]) =>
        temporary.database.transact(async (session) => {
          for (const family of families) await bumpCacheVersion(session, family)
        }),
      reads: () => readCount,
      [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
    }
  }

  test("are zero before the first change, and separate by family", async () => {
    await using fixture = await opened()
    const { cacheVersions, bump } = fixture
    const all = async () => [
      await cacheVersions.identity(),
      await cacheVersions.mounts(),
      await cacheVersions.authority("one"),
      await cacheVersions.authority("two"),
      await cacheVersions.revocations("one"),
    ]
    expect(await all()).toEqual([0, 0, 0, 0, 0])
    await bump(identityFamily)
    await bump(mountsFamily, mountsFamily)
    for (let count = 0; count < 3; count += 1) await bump(authorityFamily("one"))
    await bump(authorityFamily("two"), revocationsFamily("one"))
    expect(await all()).toEqual([1, 2, 3, 1, 1])
  })

  test("of one turn are read in one query, with those of the last requested mount", async () => {
    await using fixture = await opened()
    const { cacheVersions, bump, reads } = fixture
    await bump(authorityFamily("one"))
    await cacheVersions.authority("one")
    await nextTurn()
    const before = reads()
    const [first, second] = [cacheVersions.requestSnapshot(), cacheVersions.requestSnapshot()]
    expect(
      await Promise.all([
        first.identity(),
        second.mounts(),
        first.mounts(),
        cacheVersions.authority("one"),
        cacheVersions.authority("one"),
      ]),
    ).toEqual([0, 0, 0, 1, 1])
    expect(reads() - before).toBe(1)
  })

  test("of several mounts in one turn are separate", async () => {
    await using fixture = await opened()
    const { cacheVersions, bump } = fixture
    await bump(authorityFamily("one"), authorityFamily("two"), authorityFamily("two"))
    for (let turn = 0; turn < 3; turn += 1) {
      expect(
        await Promise.all([
          cacheVersions.authority("one"),
          cacheVersions.authority("two"),
          cacheVersions.mounts(),
          cacheVersions.authority("one"),
        ]),
      ).toEqual([1, 2, 0, 1])
      await nextTurn()
    }
  })

  test("are read again after a commit, also within a turn", async () => {
    await using fixture = await opened()
    const { cacheVersions, bump } = fixture
    for (let number = 1; number <= 3; number += 1) {
      await bump(authorityFamily("one"), mountsFamily)
      expect(await Promise.all([cacheVersions.mounts(), cacheVersions.authority("one")])).toEqual([number, number])
    }
  })
})
