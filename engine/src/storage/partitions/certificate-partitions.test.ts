import { sql } from "kysely"
import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { dayMs } from "../../core/time.ts"
import { filingRangeAt } from "../../pki/issuance/certificate-partitions.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import { type Database, openDatabase } from "../sql/database.ts"
import { filingRangesOver } from "./certificate-partitions.ts"
import { databaseKinds } from "../../../testing/temporary-database.ts"

const postgres = databaseKinds.find(({ name }) => name === "PostgreSQL")!
const range = filingRangeAt(Date.UTC(2030, 0, 7))
const following = filingRangeAt(range.to)

test("certificates are not partitioned on SQLite", async () => {
  await using database = await openDatabase("sqlite::memory:")
  await database.migrate()
  expect(await filingRangesOver(database).list()).toBeUndefined()
})

describe.runIf(postgres.available)("partitions of PostgreSQL", () => {
  const closing = new AsyncDisposableStack()
  let url: string
  let database: Database
  let other: Database

  beforeEach(async () => {
    ;({ url } = closing.use(await postgres.place()))
    ;[database, other] = [closing.use(await openDatabase(url)), closing.use(await openDatabase(url))]
    await run(`insert into mounts (id, path, type, description, config, accessor, uuid, created_at)
      values ('mnt-a', 'a', 'pki', '', '{}', 'a', 'a', 0)`)
  })
  afterAll(() => closing.disposeAsync())

  const run = (text: string) => database.transact((session) => session.execute(sql.raw(text)))
  const count = async (from: string) => {
    const row = await database.read((session) =>
      session.queryOne(sql<{ count: number }>`select count(*) as count from ${sql.raw(from)}`),
    )
    return row?.count
  }
  /** Stores certificates, each with one name. */
  const store = (many: number, filedAt: number, first = 1) =>
    run(`with c as (
        insert into certificates (mount_id, serial_number, certificate, common_name, not_before, not_after, filed_at)
        select 'mnt-a', int8send(n), '', '', 0, ${range.from}, ${filedAt} from generate_series(${first}, ${first + many - 1}) as n
        returning number, filed_at)
      insert into certificate_names (mount_id, name, certificate_number, filed_at)
      select 'mnt-a', number::text, number, filed_at from c`)

  test("are created once by concurrent servers, while others store certificates", async () => {
    const ranges = [filingRangesOver(database), filingRangesOver(other)]
    await using third = await openDatabase(url)
    const made = new AbortController()
    let stored = 0
    // Inserts that hit the default partition while the new partition is being made are retried.
    const storing = Array.from({ length: 3 }, async (_, writer) => {
      for (let round = 0; !made.signal.aborted || round < 20; round += 1, stored += 1)
        await third.transact((session) =>
          session.execute(sql`insert into certificates (mount_id, serial_number, certificate, common_name, not_before, not_after, filed_at)
            values ('mnt-a', int8send(${writer * 1_000_000 + round}), '', '', 0, ${range.from}, ${range.from + round})`),
        )
    })
    try {
      await Promise.all([range, following].flatMap((one) => ranges.map((each) => each.make(one))))
    } finally {
      made.abort()
    }
    await Promise.all(storing)
    expect(await ranges[0]?.list()).toEqual([range, following])
    expect(await count("certificates_2030_01_07")).toBe(stored)
    expect(await count("only certificates_default")).toBe(0)
  })

  test("contain the certificates stored before them, with their names, and no others", async () => {
    await store(3, range.from)
    await store(2, range.to - 1, 10)
    await store(1, range.to, 20)
    await store(1, 0, 30)
    await filingRangesOver(database).make(range)
    expect(await count("certificates_2030_01_07")).toBe(5)
    expect(await count("certificate_names_2030_01_07")).toBe(5)
    expect(await count("certificates_default")).toBe(1)
    expect(await count("certificate_names_unfiled")).toBe(1)
    expect(await count("certificates as c join certificate_names as n on n.certificate_number = c.number")).toBe(7)
    // Each partition has the unique constraints and foreign keys of the table.
    await expect(store(1, range.from)).rejects.toThrow("unique constraint")
    await expect(run("update certificates set mount_id = 'mnt-b'")).rejects.toThrow("referenced row")
    expect(await run("delete from certificates where filed_at > 0")).toBe(6)
    expect(await count("certificate_names")).toBe(1)
    expect(await run("delete from mounts")).toBe(1)
    expect(await count("certificates")).toBe(0)
    expect(await count("certificate_names")).toBe(0)
  })

  test("leave certificates in the default partition when moving them would block others", async () => {
    const ranges = filingRangesOver(database)
    await store(20_001, range.from)
    await store(1, range.to, 100_001)
    await ranges.make(range)
    expect(await ranges.list()).toEqual([range])
    expect([await count("certificates_default"), await count("certificate_names_default")]).toEqual([1, 1])
    const unfiled = (await count("certificates_unfiled")) ?? 0
    expect(unfiled + ((await count("certificates_2030_01_07")) ?? 0)).toBe(20_001)
    expect(unfiled).toBeGreaterThan(0)
    const named =
      "certificates as c join certificate_names as n on n.certificate_number = c.number and n.filed_at = c.filed_at"
    expect(await count(named)).toBe(20_002)
    expect(await run("delete from certificates where filed_at = 0")).toBe(unfiled)
    expect(await count("certificate_names")).toBe(20_002 - unfiled)
  })

  test("do not delay the removal of certificates that expired before them", async () => {
    const ranges = filingRangesOver(database)
    await ranges.make(range)
    await store(3, range.from - 1)
    await store(4, range.from, 10)
    await store(5, range.to, 20)
    await ranges.clearBefore(range.to, new AbortController().signal)
    const places = ["unfiled", "2030_01_07", "default"]
    for (const table of ["certificates", "certificate_names"])
      expect(await Promise.all(places.map((place) => count(`${table}_${place}`)))).toEqual([3, 4, 5])
  })

  test("wait for locks only shortly, and do not block other queries", async () => {
    await store(2, range.from)
    const ranges = filingRangesOver(database)
    await ranges.make(following)
    const released = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const long = other.read(async (session) => {
      await session.queryMany(sql`select number from certificates`)
      begun.resolve()
      await released.promise
    })
    await begun.promise
    try {
      const waiting = ranges.make(range).catch((error: unknown) => error)
      expect(await count("certificates")).toBe(2)
      expect(await waiting).toMatchObject({ code: "busy" })
      await expect(ranges.drop(following, [])).rejects.toMatchObject({ code: "busy" })
    } finally {
      released.resolve()
    }
    await long
    await ranges.make(range)
    expect(await ranges.drop(following, [])).toBe(true)
    expect(await ranges.list()).toEqual([range])
  })

  test("are completed when creation was interrupted between the two tables", async () => {
    const ranges = filingRangesOver(database)
    await store(2, range.from)
    await run("create table certificates_2030_01_07 (obstacle text)")
    await expect(ranges.make(range)).rejects.toThrow("already exists")
    expect(await ranges.list()).toEqual([])
    expect(await count("certificate_names_2030_01_07")).toBe(2)
    expect(await count("certificates_default")).toBe(2)
    await run("drop table certificates_2030_01_07")
    await ranges.make(range)
    expect(await ranges.list()).toEqual([range])

    await run("drop table certificate_names_2030_01_07")
    expect(await ranges.list()).toEqual([range])
    expect(await ranges.drop(range, ["mnt-a" as MountId])).toBe(true)
    expect(await ranges.list()).toEqual([])
    expect(await ranges.drop(range, ["mnt-a" as MountId])).toBe(false)
  })

  test("are dropped with their certificates, for the given mounts only", async () => {
    const ranges = filingRangesOver(database)
    await ranges.make(range)
    await store(7, range.from + dayMs)
    await store(2, 0, 20)
    expect(await ranges.mountsIn(range)).toEqual(["mnt-a"])
    const first = await ranges.count(range, "mnt-a" as MountId, 5)
    expect(first.count).toBe(5)
    expect(await ranges.count(range, "mnt-a" as MountId, 5, first.next)).toEqual({ count: 2, next: undefined })
    expect(await ranges.drop(range, ["mnt-b" as MountId])).toBe(false)
    expect(await count("certificates as c join certificate_names as n on n.certificate_number = c.number")).toBe(9)
    expect(await ranges.drop(range, ["mnt-b" as MountId, "mnt-a" as MountId])).toBe(true)
    expect(await ranges.list()).toEqual([])
    expect(await count("certificates")).toBe(2)
    expect(await count("certificate_names")).toBe(2)
  })
})
