import { describe, expect, test } from "vitest"
import type { Lease } from "../../core/leases.ts"
import { dayMs } from "../../core/time.ts"
import type { Database } from "./database.ts"
import { leasesOver } from "./leases.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const name = "tidy/pki"
const ttlMs = 1_000

const acquire = (database: Database, holder: string, now: number, unlessDoneAfter?: number) =>
  leasesOver(database).acquire({
    name,
    holder,
    now,
    ttlMs,
    ...(unlessDoneAfter === undefined ? {} : { unlessDoneAfter }),
  })

async function acquired(database: Database, holder: string, now: number): Promise<Lease> {
  const lease = await acquire(database, holder, now)
  if (lease === undefined) throw new Error("not acquired")
  return lease
}

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  test("one of 12 concurrent servers takes a lease", async () => {
    await using temporary = await temporaryDatabase(kind)
    const racers = Array.from({ length: 12 }, (_, index) => acquire(temporary.database, `racer-${index}`, 0))
    const leases = await Promise.all(racers)
    expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1)
  })

  test("one of 12 concurrent servers takes over an expired lease, with a higher fence", async () => {
    await using temporary = await temporaryDatabase(kind)
    const first = await acquired(temporary.database, "first", 0)
    expect(await acquire(temporary.database, "early", ttlMs - 1)).toBeUndefined()
    const racers = Array.from({ length: 12 }, (_, index) => acquire(temporary.database, `racer-${index}`, ttlMs))
    const winners = (await Promise.all(racers)).filter((lease) => lease !== undefined)
    expect([first.fence, ...winners.map(({ fence }) => fence)]).toEqual([1, 2])
  })

  test("a holder renews its lease until another takes over, and a late release does not affect the next holder", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const leases = leasesOver(database)
    const first = await acquired(database, "a", 0)
    expect((await leases.renew(first, { now: 900, ttlMs }))?.expiresAt).toBe(1_900)
    expect(await acquire(database, "b", 1_500)).toBeUndefined()
    expect(await leases.renew(first, { now: 1_900, ttlMs })).toBeUndefined()
    const second = await acquired(database, "b", 1_900)
    expect(second.fence).toBe(2)
    await leases.release(first, { doneAt: 1_900 })
    expect(await acquire(database, "c", 2_000)).toBeUndefined()
    await leases.release(second, { doneAt: undefined })
    expect((await acquired(database, "c", 2_000)).fence).toBe(3)
  })

  test("a job is not repeated before it is due, by any server", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const leases = leasesOver(database)
    await leases.release(await acquired(database, "a", 10_000), { doneAt: 10_000 })
    expect(await acquire(database, "b", 15_000, 9_999)).toBeUndefined()
    expect((await acquire(database, "b", 15_000, 10_000))?.fence).toBe(2)
  })

  test("an unfinished job is due at once, and a requested job always", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const leases = leasesOver(database)
    await leases.release(await acquired(database, "a", 10_000), { doneAt: undefined })
    const second = await acquire(database, "b", 10_001, 0)
    if (second === undefined) throw new Error("not acquired")
    await leases.release(second, { doneAt: 10_001 })
    expect((await acquired(database, "c", 10_002)).fence).toBe(3)
  })

  test("[F-P15] a lease that a server took while its clock was ahead is taken over", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const leases = leasesOver(database)
    const ahead = await acquired(database, "a", 400 * dayMs)
    const second = await acquired(database, "b", 1_000)
    expect(second.fence).toBe(2)
    expect(await leases.renew(ahead, { now: 1_001, ttlMs })).toBeUndefined()
    // Clocks of servers may differ slightly.
    await leases.release(second, { doneAt: undefined })
    await acquired(database, "c", 30_000)
    expect(await acquire(database, "d", 1_000)).toBeUndefined()
  })

  test("a job recorded in the future by a wrong clock is due", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await leasesOver(database).release(await acquired(database, "a", 0), { doneAt: 1_000_000 })
    expect((await acquire(database, "b", 10_000, 5_000))?.fence).toBe(2)
  })
})
