import { describe, expect, test } from "vitest"
import { openDatabase, type Database } from "./database.ts"
import { bumpGeneration, readGeneration } from "./generations.ts"
import { acquireLease, releaseLease, renewLease } from "./leases.ts"
import { databaseKinds, temporaryDatabase } from "./temporary-database.ts"

const name = "tidy/pki"
const ttlMs = 1_000

const acquire = (database: Database, holder: string, now: number) =>
  database.transact((session) => acquireLease(session, { name, holder, now, ttlMs }))

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  test("of 12 that race for a lease one wins", async () => {
    await using temporary = await temporaryDatabase(kind)
    const racers = Array.from({ length: 12 }, (_, index) => acquire(temporary.database, `racer-${index}`, 0))
    const leases = await Promise.all(racers)
    expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1)
  })

  test("of 12 that race to take over one that ran out one wins, with a higher fence", async () => {
    await using temporary = await temporaryDatabase(kind)
    const first = await acquire(temporary.database, "first", 0)
    expect(await acquire(temporary.database, "early", ttlMs - 1)).toBeUndefined()
    const racers = Array.from({ length: 12 }, (_, index) => acquire(temporary.database, `racer-${index}`, ttlMs))
    const winners = (await Promise.all(racers)).filter((lease) => lease !== undefined)
    expect([first?.fence, ...winners.map(({ fence }) => fence)]).toEqual([1, 2])
  })

  test("a holder renews until it is overtaken, and a late release takes nothing from the next", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const first = await acquire(database, "a", 0)
    if (first === undefined) throw new Error("not acquired")
    const renewed = await database.transact((session) => renewLease(session, first, { now: 900, ttlMs }))
    expect(renewed?.expiresAt).toBe(1_900)
    expect(await acquire(database, "b", 1_500)).toBeUndefined()
    expect(await database.transact((session) => renewLease(session, first, { now: 1_900, ttlMs }))).toBeUndefined()
    const second = await acquire(database, "b", 1_900)
    expect(second?.fence).toBe(2)
    await database.transact((session) => releaseLease(session, first))
    expect(await acquire(database, "c", 2_000)).toBeUndefined()
    if (second !== undefined) await database.transact((session) => releaseLease(session, second))
    expect((await acquire(database, "c", 2_000))?.fence).toBe(3)
  })

  test("a generation grows by one with each bump, of a family that was never bumped too", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const read = (family: string) => database.read((session) => readGeneration(session, family))
    expect([await read("identity"), await read("roles")]).toEqual([0, 0])
    await Promise.all(
      ["identity", "identity", "roles"].map((family) =>
        database.transact((session) => bumpGeneration(session, family)),
      ),
    )
    expect([await read("identity"), await read("roles")]).toEqual([2, 1])
  })
})

describe.each(databaseKinds.filter(({ available, name: kind }) => available && kind !== "SQLite memory"))(
  "$name",
  (kind) => {
    test("of replicas that start together one applies the migrations", async () => {
      await using place = await kind.place()
      const replicas = await Promise.all(Array.from({ length: 4 }, () => openDatabase(place.url)))
      const applied = await Promise.all(replicas.map((replica) => replica.migrate()))
      await Promise.all(replicas.map((replica) => replica.close()))
      expect(applied.filter(({ length }) => length > 0)).toEqual([["0001-workspaces"]])
    })
  },
)
