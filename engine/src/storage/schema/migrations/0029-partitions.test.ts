// Upgrade of a database while servers of the previous release are live: their statements keep working.
import { sql } from "kysely"
import { describe, expect, test } from "vitest"
import { filingRangeAt } from "../../../pki/issuance/certificate-partitions.ts"
import { type Database, openDatabase } from "../../sql/database.ts"
import { filingRangesOver } from "../../partitions/certificate-partitions.ts"
import { databaseKinds } from "../../../../testing/temporary-database.ts"
import { migrations } from "./index.ts"

const postgres = databaseKinds.find(({ name }) => name === "PostgreSQL")!
const last = migrations.findIndex(({ name }) => name === "0029-partitions")
const before = migrations.slice(
  0,
  migrations.findIndex(({ name }) => name === "0027-filing"),
)

/** Inserts a certificate as the previous release does, without `filed_at`. */
const insertedBefore = (serial: string, names: readonly string[]) => sql<{ count: number }>`
  with c as (
    insert into certificates
      (mount_id, serial_number, certificate, issuer_id, role, common_name, not_before, not_after)
    select 'mnt-a', decode(${serial}, 'hex'), '', null, null, '', 0, 1
    where coalesce((select number from generations where family = 'f'), 0) = 0
    returning mount_id, number
  ), n as (
    insert into certificate_names (mount_id, name, certificate_number)
    select c.mount_id, name, c.number from c, unnest(${sql.val(names)}::text[]) as name
  )
  select count(*) as count from c`

describe.runIf(postgres.available)("a store of the previous release", () => {
  const rowsOf = (database: Database) =>
    database.read((session) =>
      session.queryMany(sql<{ number: number; serial: string; revoked_at: number | null; names: string | null }>`
        select c.number, encode(c.serial_number, 'hex') as serial, c.revoked_at,
          (select string_agg(n.name, ' ' order by n.name) from certificate_names as n
            where n.certificate_number = c.number and n.mount_id = c.mount_id) as names
        from certificates as c order by c.number`),
    )

  test("keeps its rows, numbers and constraints, and its servers continue to work", async () => {
    await using place = await postgres.place({ empty: true })
    await using old = await openDatabase(place.url, { migrations: before })
    await old.migrate()
    const run = (text: string) => old.transact((session) => session.execute(sql.raw(text)))
    const insert = (serial: string, names: readonly string[]) =>
      old.transact((session) => session.queryOne(insertedBefore(serial, names)))
    await run(`insert into mounts (id, path, type, description, config, accessor, uuid, created_at)
      values ('mnt-a', 'a', 'pki', '', '{}', 'a', 'a', 0)`)
    for (const serial of ["01", "02", "03"]) await insert(serial, ["a", "b"])
    // The number 3 was used and deleted; it is not used again.
    await run("delete from certificates where number = 3")
    const known = await rowsOf(old)
    expect(known.map(({ number, names }) => [number, names])).toEqual([
      [1, "a b"],
      [2, "a b"],
    ])

    await using database = await openDatabase(place.url, { migrations: migrations.slice(0, last + 1) })
    expect(await database.migrate()).toEqual(["0027-filing", "0028-unfiled-rows", "0029-partitions"])
    expect(await rowsOf(database)).toEqual(known)
    const range = filingRangeAt(Date.UTC(2030, 0, 7))
    await filingRangesOver(database).make(range)

    await insert("04", ["c"])
    await expect(insert("04", [])).rejects.toThrow("unique constraint")
    await expect(run("update certificates set mount_id = 'mnt-b' where number = 4")).rejects.toThrow("referenced row")
    await run(`insert into certificates
      (mount_id, serial_number, certificate, common_name, not_before, not_after, filed_at)
      values ('mnt-a', decode('05', 'hex'), '', '', 0, ${range.from}, ${range.from})`)
    await run(`insert into certificate_names (mount_id, name, certificate_number, filed_at)
      values ('mnt-a', 'd', 6, ${range.from})`)
    await run("update certificates set revoked_at = 7 where mount_id = 'mnt-a' and serial_number = decode('05', 'hex')")
    expect(await rowsOf(old)).toEqual([
      ...known,
      { number: 4, serial: "04", revoked_at: null, names: "c" },
      // The refused insert used up the number 5.
      { number: 6, serial: "05", revoked_at: 7, names: "d" },
    ])
    const places = await database.read((session) =>
      session.queryMany(
        sql<{ place: string }>`select tableoid::regclass::text as place from certificates order by number`,
      ),
    )
    expect(places.map(({ place: name }) => name)).toEqual([
      ...Array.from({ length: 3 }, () => "certificates_unfiled"),
      "certificates_2030_01_07",
    ])
    await run("delete from certificates where mount_id = 'mnt-a' and number = any(array[1, 6])")
    expect((await rowsOf(old)).map(({ number }) => number)).toEqual([2, 4])
    const names = await old.read((session) => session.queryMany(sql`select 1 from certificate_names`))
    expect(names).toHaveLength(3)
  }, 60_000)

  test("accepts writes while it is migrated", async () => {
    await using place = await postgres.place({ empty: true })
    await using old = await openDatabase(place.url, { migrations: before })
    await old.migrate()
    await old.transact((session) =>
      session.execute(sql`insert into mounts (id, path, type, description, config, accessor, uuid, created_at)
        values ('mnt-a', 'a', 'pki', '', '{}', 'a', 'a', 0)`),
    )
    await using database = await openDatabase(place.url, { migrations: migrations.slice(0, last + 1) })
    const migrated = new AbortController()
    let stored = 0
    const storing = Array.from({ length: 4 }, async (_, writer) => {
      for (let round = 0; !migrated.signal.aborted || round < 20; round += 1, stored += 1) {
        const serial = `${writer}${round.toString(16).padStart(7, "0")}`
        await old.transact((session) => session.queryOne(insertedBefore(serial, [serial])))
      }
    })
    try {
      await database.migrate()
    } finally {
      migrated.abort()
    }
    await Promise.all(storing)
    const rows = await rowsOf(database)
    expect(rows).toHaveLength(stored)
    expect(rows.filter(({ serial, names }) => serial !== names)).toEqual([])
    expect(new Set(rows.map(({ number }) => number)).size).toBe(stored)
  }, 60_000)
})
