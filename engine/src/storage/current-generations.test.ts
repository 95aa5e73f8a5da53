import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { currentGenerations } from "./current-generations.ts"
import type { Database } from "./database.ts"
import { authorityFamily, bumpGeneration, identityFamily, mountsFamily, revocationsFamily } from "./generations.ts"
import { databaseKinds, temporaryDatabase } from "./temporary-database.ts"

describe.each(databaseKinds.filter(({ available }) => available))("current generations on $name", (kind) => {
  async function opened() {
    const temporary = await temporaryDatabase(kind)
    let glanceCount = 0
    const watched: Database = {
      ...temporary.database,
      get commitCount() {
        return temporary.database.commitCount
      },
      glance: (work) => {
        glanceCount += 1
        return temporary.database.glance(work)
      },
    }
    return {
      generations: currentGenerations(watched),
      bump: async (...families: string[]) =>
        temporary.database.transact(async (session) => {
          for (const family of families) await bumpGeneration(session, family)
        }),
      glances: () => glanceCount,
      [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
    }
  }

  test("are nought before anything has changed, and are told apart", async () => {
    await using world = await opened()
    const { generations, bump } = world
    const all = async () => [
      await generations.identity(),
      await generations.mounts(),
      await generations.authority("one"),
      await generations.authority("two"),
      await generations.revocations("one"),
    ]
    expect(await all()).toEqual([0, 0, 0, 0, 0])
    await bump(identityFamily)
    await bump(mountsFamily, mountsFamily)
    for (let count = 0; count < 3; count += 1) await bump(authorityFamily("one"))
    await bump(authorityFamily("two"), revocationsFamily("one"))
    expect(await all()).toEqual([1, 2, 3, 1, 1])
  })

  test("of one turn are read in one query, with those of the mount that was asked for last", async () => {
    await using world = await opened()
    const { generations, bump, glances } = world
    await bump(authorityFamily("one"))
    await generations.authority("one")
    await nextTurn()
    const before = glances()
    const [first, second] = [generations.arrival(), generations.arrival()]
    expect(
      await Promise.all([
        first.identity(),
        second.mounts(),
        first.mounts(),
        generations.authority("one"),
        generations.authority("one"),
      ]),
    ).toEqual([0, 0, 0, 1, 1])
    expect(glances() - before).toBe(1)
  })

  test("of several mounts in one turn are each its own", async () => {
    await using world = await opened()
    const { generations, bump } = world
    await bump(authorityFamily("one"), authorityFamily("two"), authorityFamily("two"))
    for (let turn = 0; turn < 3; turn += 1) {
      expect(
        await Promise.all([
          generations.authority("one"),
          generations.authority("two"),
          generations.mounts(),
          generations.authority("one"),
        ]),
      ).toEqual([1, 2, 0, 1])
      await nextTurn()
    }
  })

  test("are read anew after a commit, also within a turn", async () => {
    await using world = await opened()
    const { generations, bump } = world
    for (let number = 1; number <= 3; number += 1) {
      await bump(authorityFamily("one"), mountsFamily)
      expect(await Promise.all([generations.mounts(), generations.authority("one")])).toEqual([number, number])
    }
  })
})
