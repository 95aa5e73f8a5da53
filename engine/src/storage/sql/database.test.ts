import { sql } from "kysely"
import { stat } from "node:fs/promises"
import { dirname } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import { recordedMetrics } from "../../../testing/recorded-metrics.ts"
import { openDatabase, sqliteFile, type Database } from "./database.ts"
import { among } from "./dialect.ts"
import { migrations } from "../schema/migrations/index.ts"
import { ReferenceViolation, statement, UniqueViolation, type QueryRunner } from "./query-runner.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const setSetting = statement<{ name: string; value: string }, unknown>((db, { name, value }) =>
  db.insertInto("settings").values({ name, value }),
)
const findSetting = statement<{ name: string }, { value: string }>((db, { name }) =>
  db.selectFrom("settings").select("value").where("name", "=", name),
)
const settingsAmong = statement<{ names: readonly string[] }, { name: string }>((db, { names }, dialect) =>
  db
    .selectFrom("settings")
    .select("name")
    .where(among(dialect, sql.ref("name"), names))
    .orderBy("name"),
)
const bump = statement<{ family: string }, { number: number }>((db, { family }) =>
  db
    .updateTable("generations")
    .set((eb) => ({ number: eb("number", "+", 1) }))
    .where("family", "=", family)
    .returning("number"),
)

const value = (database: Database, name: string) =>
  database.read(async (session) => (await session.queryOne(findSetting, { name }))?.value)

const generation = (database: Database) =>
  database.read(async (session) => {
    const row = await session.queryOne(session.db.selectFrom("generations").select("number"))
    return row?.number
  })

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  test("the schema is applied once", async () => {
    await using place = await kind.place({ empty: true })
    await using database = await openDatabase(place.url)
    expect(await database.migrate()).toEqual(migrations.map(({ name }) => name))
    expect(await database.migrate()).toEqual([])
    expect(await generation(database)).toBe(0)
  })

  test("a database of a newer release is rejected with the name of the unknown migration", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact((session) =>
      session.execute(
        sql`insert into migrations (position, name) values (${migrations.length + 1}, '9999-from-the-future')`,
      ),
    )
    await expect(database.migrate()).rejects.toThrow(/newer release of Chancery.*"9999-from-the-future"/)
  })

  test("written rows are read with every column type", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const now = 1_790_000_000_123
    await database.transact(async (session) => {
      await session.execute(session.db.insertInto("organizations").values(organization("org-1", "Acme", now)))
      await session.execute(
        session.db.insertInto("ssh_keys").values({
          id: "sshkey-1",
          organization_id: "org-1",
          name: "ключ 🔑",
          value_sealed: new Uint8Array([0, 255, 7]),
          created_at: now,
        }),
      )
    })
    const [found, key] = await database.read(async (session) => [
      await session.queryOne(
        session.db
          .selectFrom("organizations")
          .select(["created_at", "default_agent_pool_id", "plan", "assessments_enforced"]),
      ),
      await session.queryOne(session.db.selectFrom("ssh_keys").select(["name", "value_sealed"])),
    ])
    expect({ ...found }).toEqual({ created_at: now, default_agent_pool_id: null, plan: "", assessments_enforced: 1 })
    expect(key?.name).toBe("ключ 🔑")
    expect(new Uint8Array(key?.value_sealed ?? [])).toEqual(new Uint8Array([0, 255, 7]))
  })

  test("a failed unit of work changes nothing, and others of its batch are committed", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const outcomes = await Promise.allSettled([
      database.transact((session) => session.execute(setSetting, { name: "a", value: "1" })),
      database.transact(async (session) => {
        await session.execute(setSetting, { name: "b", value: "1" })
        throw new Error("changed my mind")
      }),
      database.transact((session) => session.execute(setSetting, { name: "c", value: "1" })),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect(await Promise.all(["a", "b", "c"].map((name) => value(database, name)))).toEqual(["1", undefined, "1"])
  })

  test("a unit of work is applied once when others of its batch fail late", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        database.transact(async (session) => {
          const counted = (await session.queryOne(bump, { family: "identity" }))?.number
          if (index % 3 === 0) throw new Error("changed my mind")
          return counted
        }),
      ),
    )
    expect(outcomes.map(({ status }) => status === "rejected")).toEqual(outcomes.map((_, index) => index % 3 === 0))
    const counted = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
    expect(counted.toSorted((a = 0, b = 0) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(await generation(database)).toBe(8)
  })

  test("a second row with the same key is a unique violation that names the columns", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact((session) =>
      session.execute(session.db.insertInto("organizations").values(organization("org-1", "Acme", 1))),
    )
    const again = database.transact((session) =>
      session.execute(session.db.insertInto("organizations").values(organization("org-2", "ACME", 1))),
    )
    const error = await again.catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(UniqueViolation)
    expect((error as UniqueViolation).constraint).toContain("name_folded")
  })

  test("a row whose parent does not exist is a reference violation", async () => {
    await using temporary = await temporaryDatabase(kind)
    const orphan = temporary.database.transact((session) =>
      session.execute(
        session.db
          .insertInto("tags")
          .values({ id: "tag-1", organization_id: "org-none", name: "x", name_folded: "x", created_at: 1 }),
      ),
    )
    await expect(orphan).rejects.toBeInstanceOf(ReferenceViolation)
  })

  test("a unit of work fails when it ignores a failed statement", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact((session) => session.execute(setSetting, { name: "a", value: "1" }))
    const swallowing = database.transact(async (session) => {
      await session.execute(setSetting, { name: "a", value: "2" }).catch(() => 0)
    })
    await expect(swallowing).rejects.toBeInstanceOf(UniqueViolation)
    const goingOn = database.transact(async (session) => {
      await session.execute(setSetting, { name: "a", value: "2" }).catch(() => 0)
      await session.execute(setSetting, { name: "b", value: "2" })
    })
    await expect(goingOn).rejects.toThrow("must be rolled back")
    expect(await value(database, "b")).toBeUndefined()
  })

  test("a read cannot write, and the next transaction can", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const writing = database.read((session) => session.execute(setSetting, { name: "a", value: "1" }))
    await expect(writing).rejects.toThrow(/read-?only/i)
    await database.transact((session) => session.execute(setSetting, { name: "a", value: "2" }))
    expect(await value(database, "a")).toBe("2")
  })

  test("a session throws after its unit of work has ended", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    for (const open of [database.read, database.transact]) {
      let ended: QueryRunner | undefined
      await open(async (session) => {
        ended = session
      })
      await expect(ended?.queryOne(findSetting, { name: "a" })).rejects.toThrow("has ended")
    }
  })

  test("a list of any length is one parameter of a prepared statement", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact(async (session) => {
      for (const name of ["a", "b", "c", "d"]) await session.execute(setSetting, { name, value: "" })
    })
    const names = (list: readonly string[]) =>
      database.read(async (session) =>
        (await session.queryMany(settingsAmong, { names: list })).map(({ name }) => name),
      )
    expect(await names(["d", "b", "none", 'quo"te'])).toEqual(["b", "d"])
    expect(await names([])).toEqual([])
    expect(await names(Array.from({ length: 5_000 }, (_, index) => (index === 7 ? "c" : `x${index}`)))).toEqual(["c"])
  })

  test("text with U+0000 and missing parameters are rejected before they reach the database", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const withNul = database.transact((session) => session.execute(setSetting, { name: "a\0b", value: "" }))
    expect(isEngineError(await withNul.catch((error: unknown) => error), "bad-request")).toBe(true)
    const forgotten = database.transact((session) => session.execute(setSetting, { name: "a" } as never))
    await expect(forgotten).rejects.toThrow('"value" is undefined')
  })

  test("text sorts by code point", async () => {
    await using temporary = await temporaryDatabase(kind)
    const names = ["b", "B", "a-b", "a_b", "ab", "é", "Z"]
    await temporary.database.transact(async (session) => {
      for (const name of names) await session.execute(setSetting, { name, value: "" })
    })
    const rows = await temporary.database.read((session) =>
      session.queryMany(session.db.selectFrom("settings").select("name").orderBy("name")),
    )
    expect(rows.map(({ name }) => name)).toEqual(["B", "Z", "a-b", "a_b", "ab", "b", "é"])
  })

  test("32 concurrent increments of one row are all counted, each seen once", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const numbers = await Promise.all(
      Array.from({ length: 32 }, () =>
        database.transact(async (session) => (await session.queryOne(bump, { family: "identity" }))?.number),
      ),
    )
    expect(numbers.toSorted((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 32 }, (_, index) => index + 1))
    expect(await generation(database)).toBe(32)
  })

  test("the second of two conflicting deletions sees the first", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact(async (session) => {
      await session.execute(setSetting, { name: "user-1", value: "tag" })
      await session.execute(setSetting, { name: "user-2", value: "tag" })
    })
    const leave = (name: string) =>
      database.transact(async (session) => {
        await session.execute(session.db.deleteFrom("settings").where("name", "=", name))
        return (await session.queryMany(session.db.selectFrom("settings").select("name").where("value", "=", "tag")))
          .length
      })
    const left = await Promise.all([leave("user-1"), leave("user-2")])
    expect(left.toSorted((a, b) => a - b)).toEqual([0, 1])
  })

  test("deleting an organization deletes all its rows", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact((session) => populate(session, "org-1"))
    await database.transact((session) =>
      session.execute(session.db.deleteFrom("organizations").where("id", "=", "org-1")),
    )
    const tables = [
      "projects",
      "workspaces",
      "agent_pools",
      "oauth_tokens",
      "state_versions",
      "state_contents",
    ] as const
    const counts = await database.read(async (session) => {
      const rows = []
      for (const table of tables) {
        rows.push(await session.queryOne(sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`))
      }
      return rows.map((row) => row?.count)
    })
    expect(counts).toEqual(tables.map(() => 0))
  })

  test("concurrent queries of a unit of work complete before the commit", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const answers = await database.transact(async (session) => {
      await Promise.all(["a", "b", "c"].map((name) => session.execute(setSetting, { name, value: name })))
      void session.execute(setSetting, { name: "d", value: "d" })
      return Promise.all(["a", "b", "c"].map((name) => session.queryOne(findSetting, { name })))
    })
    expect(answers.map((row) => row?.value)).toEqual(["a", "b", "c"])
    expect(await value(database, "d")).toBe("d")
    const failing = database.transact((session) =>
      Promise.all(["e", "a", "f"].map((name) => session.execute(setSetting, { name, value: name }))),
    )
    await expect(failing).rejects.toBeInstanceOf(UniqueViolation)
    expect([await value(database, "e"), await value(database, "f")]).toEqual([undefined, undefined])
  })

  test("a unit of work that waits for something else fails, and does not delay the next", async () => {
    await using temporary = await temporaryDatabase(kind, { longestWorkMs: 150 })
    const { database } = temporary
    const stuck = database.transact(async (session) => {
      await session.execute(setSetting, { name: "stuck", value: "" })
      await sleep(400)
      await session.execute(setSetting, { name: "stuck, still", value: "" })
    })
    const next = database.transact((session) => session.execute(setSetting, { name: "next", value: "1" }))
    await expect(stuck).rejects.toThrow(/waited too long|closed the connection/)
    await next
    expect(await value(database, "next")).toBe("1")
    await sleep(400)
    expect([await value(database, "stuck"), await value(database, "stuck, still")]).toEqual([undefined, undefined])
  })

  test("units of work accepted before closing finish, later ones are rejected", async () => {
    await using place = await kind.place()
    const database = await openDatabase(place.url)
    await database.migrate()
    const accepted = database.transact((session) => session.execute(setSetting, { name: "a", value: "1" }))
    await Promise.all([accepted, database.close()])
    expect(await accepted).toBe(1)
    await expect(database.transact(async () => 1)).rejects.toThrow("closed")
    await expect(database.read(async () => 1)).rejects.toThrow("closed")
  })
})

const [file] = databaseKinds
if (file === undefined) throw new Error("no SQLite file")

describe("SQLite file", () => {
  test("only the owner can access the file and its folder", async () => {
    await using temporary = await temporaryDatabase(file)
    const path = sqliteFile(temporary.url) ?? ""
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(`${path}-wal`)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  })

  test("two openers of one file share its writer, and one closing does not disturb the other", async () => {
    await using temporary = await temporaryDatabase(file)
    const other = await openDatabase(temporary.url)
    await Promise.all([
      temporary.database.transact((session) => session.execute(setSetting, { name: "a", value: "1" })),
      other.transact((session) => session.execute(setSetting, { name: "b", value: "1" })),
    ])
    await other.close()
    await expect(other.read(async () => 1)).rejects.toThrow("closed")
    expect(await value(temporary.database, "b")).toBe("1")
  })

  test("a read sees one snapshot while a writer commits, and does not wait for it", async () => {
    await using temporary = await temporaryDatabase(file)
    const { database } = temporary
    await database.read(async (session) => {
      expect(await session.queryOne(findSetting, { name: "a" })).toBeUndefined()
      await database.transact((writer) => writer.execute(setSetting, { name: "a", value: "1" }))
      expect(await session.queryOne(findSetting, { name: "a" })).toBeUndefined()
    })
    expect(await value(database, "a")).toBe("1")
  })

  test("writes and reads return a commit only after it is on disk", async () => {
    const disk = { waiting: [] as (() => void)[], fast: true }
    const sync = () => new Promise<void>((resolve) => (disk.fast ? resolve() : disk.waiting.push(resolve)))
    await using temporary = await temporaryDatabase(file, { sync })
    const { database } = temporary
    disk.fast = false
    const settled: string[] = []
    const record = (who: string) => () => void settled.push(who)
    const writes = [
      database.transact((session) => session.execute(setSetting, { name: "a", value: "1" })).then(record("write")),
      database.transact(() => Promise.reject(new Error("no"))).catch(record("refusal")),
    ]
    while (disk.waiting.length === 0) await sleep(1)
    const late = database
      .transact((session) => session.execute(setSetting, { name: "b", value: "1" }))
      .then(record("late"))
    const read = value(database, "a").then((found) => settled.push(`read ${found}`))
    const absence = database.read(() => Promise.reject(new Error("it is there"))).catch(record("failed read"))
    const single = database
      .readSingle((session) => session.queryOne(findSetting, { name: "a" }))
      .then(record("single read"))
    await sleep(20)
    expect(settled).toEqual([])
    expect(disk.waiting).toHaveLength(1)
    disk.fast = true
    disk.waiting.pop()?.()
    await Promise.all([...writes, read, absence, single, late])
    expect(settled.slice(0, -1).toSorted()).toEqual(["failed read", "read 1", "refusal", "single read", "write"])
    expect(settled.at(-1)).toBe("late")
  })

  test("a single read sees committed rows only, and changes nothing", async () => {
    await using temporary = await temporaryDatabase(file)
    const { database } = temporary
    const seen = (session: QueryRunner, name: string) => session.queryOne(findSetting, { name })
    const during = await database.transact(async (session) => {
      await session.execute(setSetting, { name: "a", value: "1" })
      return [await seen(session, "a"), await database.readSingle((reader) => seen(reader, "a"))]
    })
    expect(during).toEqual([{ value: "1" }, undefined])
    expect(await database.readSingle((reader) => seen(reader, "a"))).toEqual({ value: "1" })
    const writing = database.readSingle((reader) => reader.execute(setSetting, { name: "c", value: "1" }))
    await expect(writing).rejects.toThrow("readonly")
    expect(await value(database, "c")).toBeUndefined()
  })

  test("a failed sync fails all waiting transactions, and later ones until the database is reopened", async () => {
    let broken = false
    const sync = () => (broken ? Promise.reject(new Error("input/output error")) : Promise.resolve())
    await using temporary = await temporaryDatabase(file, { sync })
    const { database } = temporary
    broken = true
    const set = (name: string) =>
      database.transact((session) => session.execute(setSetting, { name, value: "1" })).catch((error: unknown) => error)
    const lost = [set("a"), set("b")]
    expect(await Promise.all(lost)).toEqual(lost.map(() => expect.objectContaining({ code: "out-of-service" })))
    // A later successful fsync does not prove that the failed one was written.
    broken = false
    expect(await set("c")).toMatchObject({ code: "out-of-service" })
    await expect(value(database, "a")).rejects.toMatchObject({ code: "out-of-service" })
    await database.close()
    await using again = await openDatabase(temporary.url)
    expect(await value(again, "c")).toBeUndefined()
  })

  test("the write-ahead log restarts during continuous commits", { timeout: 60_000 }, async () => {
    await using temporary = await temporaryDatabase(file)
    const { database } = temporary
    const log = `${sqliteFile(temporary.url)}-wal`
    const large = "x".repeat(100_000)
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let count = 0; count < 600; count += 1)
        await database.transact((session) => session.execute(setSetting, { name: `${writer}-${count}`, value: large }))
    })
    await Promise.all(writers)
    // The writers wrote 240 MB to the log.
    expect((await stat(log)).size).toBeLessThan(120_000_000)
    expect(await value(database, "3-599")).toBe(large)
  })

  test("reads beyond the number of connections wait", async () => {
    await using temporary = await temporaryDatabase(file, { connections: 2 })
    const values = await Promise.all(Array.from({ length: 50 }, () => value(temporary.database, "a")))
    expect(values).toHaveLength(50)
  })
})

test("a full disk fails the whole batch, and later transactions continue", async () => {
  await using temporary = await temporaryDatabase(file)
  const { database } = temporary
  const limitPages = (count: number) =>
    database.transact((session) => session.execute(sql`pragma max_page_count = ${sql.raw(String(count))}`))
  const pages = await database.read((session) => session.queryOne(sql<{ page_count: number }>`pragma page_count`))
  await limitPages((pages?.page_count ?? 0) + 3)
  const outcomes = await Promise.allSettled([
    database.transact((session) => session.execute(setSetting, { name: "small", value: "1" })),
    database.transact((session) => session.execute(setSetting, { name: "large", value: "x".repeat(1_000_000) })),
    database.transact((session) => session.execute(setSetting, { name: "after", value: "1" })),
  ])
  const settled = outcomes.map(({ status }) => (status === "fulfilled" ? "1" : undefined))
  expect(settled[1]).toBeUndefined()
  expect(await Promise.all(["small", "large", "after"].map((name) => value(database, name)))).toEqual(settled)
  await limitPages(1_000_000)
  await database.transact((session) => session.execute(setSetting, { name: "large", value: "x".repeat(1_000_000) }))
  expect((await value(database, "large"))?.length).toBe(1_000_000)
})

test("an unsupported storage URL is rejected without repeating its password", async () => {
  await expect(openDatabase("mysql://root:secret@localhost/db")).rejects.toThrow(/^Storage "mysql:…" is not supported/)
})

test("an unreachable database server is a busy error", async () => {
  await using database = await openDatabase("postgres://nobody@127.0.0.1:1/none")
  const error = await database.read(async () => 1).catch((failure: unknown) => failure)
  expect(isEngineError(error, "busy")).toBe(true)
})

describe.each(databaseKinds.filter(({ name, available }) => name === "PostgreSQL" && available))("$name", (kind) => {
  test("a connection lost during a transaction is a busy error, and the next transaction uses another", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const cut = database.transact(async (session) => {
      await session.execute(setSetting, { name: "a", value: "1" })
      await session.execute(sql`select pg_terminate_backend(pg_backend_pid())`)
    })
    expect(isEngineError(await cut.catch((error: unknown) => error), "busy")).toBe(true)
    expect(await value(database, "a")).toBeUndefined()
    await database.transact((session) => session.execute(setSetting, { name: "a", value: "2" }))
    expect(await value(database, "a")).toBe("2")
  })

  test("a change of one row of a small table does not conflict with changes of others", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact((session) => session.execute(setSetting, { name: "a", value: "1" }))
    // With these statistics the planner knows that the table has one page, for which a sequential scan is the cheapest plan.
    await database.transact((session) => session.execute(sql`analyze settings`))
    const locks = await database.transact(async (session) => {
      await session.queryOne(findSetting, { name: "a" })
      return session.queryMany<{ readonly locktype: string }>(
        sql`select locktype from pg_locks where mode = 'SIReadLock' and pid = pg_backend_pid()`,
      )
    })
    const kinds = locks.map(({ locktype }) => locktype)
    expect(kinds.length).toBeGreaterThan(0)
    expect(kinds).not.toContain("relation")
  })

  test.each([
    { state: "08006", why: "the connection fails" },
    { state: "25P04", why: "the transaction was ended by a limit" },
    { state: "40003", why: "the outcome of the statement is unknown" },
    { state: "53100", why: "the disk is full", retryAfterMs: 10_000 },
    { state: "53200", why: "there is no memory" },
    { state: "53300", why: "there are too many connections" },
    { state: "55P03", why: "a lock was not available" },
    { state: "57014", why: "the statement took too long" },
    { state: "57P01", why: "the server shuts down" },
    { state: "57P02", why: "another session crashed" },
    { state: "57P03", why: "the server starts" },
    { state: "58030", why: "the disk fails" },
    { state: "25006", why: "the server is read-only" },
  ])(
    "a transaction is a busy error and changes nothing when $why ($state)",
    async ({ state, retryAfterMs = 1_000 }) => {
      await using temporary = await temporaryDatabase(kind)
      const { database } = temporary
      const failing = database.transact(async (session) => {
        await session.execute(setSetting, { name: "a", value: "1" })
        await session.execute(raise(state))
      })
      await expect(failing).rejects.toMatchObject({ code: "busy", retryAfterMs })
      expect(await value(database, "a")).toBeUndefined()
    },
  )

  test("a permanent error is returned unchanged", async () => {
    await using temporary = await temporaryDatabase(kind)
    for (const state of ["42703", "22012", "XX000"]) {
      const failing = temporary.database.transact((session) => session.execute(raise(state)))
      await expect(failing).rejects.toMatchObject({ name: "error", code: state })
    }
  })

  /** Makes the server run this PL/pgSQL body at commit, in a deferred trigger. */
  async function atCommit(database: Database, body: string): Promise<void> {
    await database.transact(async (session) => {
      await session.execute(sql.raw(`create function at_commit() returns trigger language plpgsql as '${body}'`))
      await session.execute(sql`create constraint trigger at_commit after insert on settings deferrable initially deferred
        for each row execute function at_commit()`)
    })
  }

  test("a commit without a response has an unknown outcome", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await atCommit(database, "begin perform pg_terminate_backend(pg_backend_pid()); return new; end")
    const failing = database.transact((session) => session.execute(setSetting, { name: "a", value: "1" }))
    await expect(failing).rejects.toMatchObject({ code: "unavailable", retryAfterMs: 1_000 })
    expect(await value(database, "a")).toBeUndefined()
  })

  test("a rejected commit changes nothing, and is retried if that can help", async () => {
    const metrics = recordedMetrics()
    await using temporary = await temporaryDatabase(kind, { meter: metrics.meter })
    const { database } = temporary
    await database.transact((session) => session.execute(sql`create sequence tries`))
    // A sequence is not rolled back with its transaction.
    await atCommit(
      database,
      `begin
         if new.value = ''full'' then raise exception ''x'' using errcode = ''53100''; end if;
         if nextval(''tries'') < 3 then raise exception ''x'' using errcode = ''40001''; end if;
         return new;
       end`,
    )
    const set = (name: string, value: string) =>
      database.transact((session) => session.execute(setSetting, { name, value }))
    await expect(set("a", "full")).rejects.toMatchObject({ code: "busy" })
    expect(await set("b", "1")).toBe(1)
    expect(metrics.value("chancery_storage_retries_total")).toBe(2)
    expect([await value(database, "a"), await value(database, "b")]).toEqual([undefined, "1"])
  })

  test("a statement prepared before a migration works after it", async () => {
    await using temporary = await temporaryDatabase(kind, { connections: 1 })
    const { database } = temporary
    await database.transact((session) => session.execute(setSetting, { name: "a", value: "1" }))
    const readAlone = () => database.readSingle((session) => session.queryOne(findSetting, { name: "a" }))
    for (const type of ["varchar(50)", "varchar(60)", "varchar(70)"]) {
      expect(await value(database, "a")).toBe("1")
      expect(await readAlone()).toEqual({ value: "1" })
      await using other = await openDatabase(temporary.url)
      await other.transact((session) =>
        session.execute(sql.raw(`alter table settings alter column value type ${type}`)),
      )
      expect(type === "varchar(60)" ? (await readAlone())?.value : await value(database, "a")).toBe("1")
    }
  })

  test("a lock timeout is a busy error", async () => {
    await using temporary = await temporaryDatabase(kind, { limits: { lockTimeoutMs: 100 } })
    const { database } = temporary
    const locked = Promise.withResolvers<void>()
    const refused = Promise.withResolvers<void>()
    const holding = database.transact(async (session) => {
      await session.execute(bump, { family: "identity" })
      locked.resolve()
      await refused.promise
    })
    await locked.promise
    const waiting = database.transact((session) => session.execute(bump, { family: "identity" }))
    await expect(waiting).rejects.toMatchObject({ code: "busy", cause: { code: "55P03" } })
    refused.resolve()
    await holding
  })

  test("a connection timeout is a busy error", async () => {
    await using temporary = await temporaryDatabase(kind, { connections: 1, limits: { connectTimeoutMs: 100 } })
    const { database } = temporary
    const refused = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const holding = database.transact(async () => {
      begun.resolve()
      await refused.promise
    })
    await begun.promise
    for (const wait of [database.read, database.transact, database.readSingle])
      await expect(wait(async () => 1)).rejects.toMatchObject({ code: "busy", message: /was free within 100 ms/ })
    refused.resolve()
    await holding
    expect(await database.read(async () => 1)).toBe(1)
  })

  test("a conflict after the last attempt is a busy error", async () => {
    await using temporary = await temporaryDatabase(kind, { attempts: 2 })
    const { database } = temporary
    const contended = database.transact(async (session) => {
      const before = await session.queryMany(session.db.selectFrom("settings").select("name"))
      await database.transact((rival) => rival.execute(setSetting, { name: `rival-${Math.random()}`, value: "" }))
      await session.queryOne(bump, { family: "identity" })
      await session.execute(setSetting, { name: `mine-${before.length}`, value: "" })
      await database.transact(async (rival) => {
        await rival.queryMany(rival.db.selectFrom("settings").select("name"))
        await rival.execute(setSetting, { name: `rival-${Math.random()}`, value: "" })
      })
    })
    expect(isEngineError(await contended.catch((error: unknown) => error), "busy")).toBe(true)
  })
})

const raise = (state: string) =>
  sql.raw(`do $$ begin raise exception 'what a test wants' using errcode = '${state}'; end $$`)

const organization = (id: string, name: string, now: number) => ({
  id,
  name,
  name_folded: name.toLowerCase(),
  email: "",
  created_at: now,
  default_execution_mode: "remote",
  default_agent_pool_id: null,
  allow_force_delete_workspaces: 0 as const,
  assessments_enforced: 1 as const,
  plan: "",
  cost_estimation_enabled: 0 as const,
  collaborator_auth_policy: "password",
})

/** Inserts one row of each kind that refers to another. */
async function populate(session: QueryRunner, organizationId: string): Promise<void> {
  const { db } = session
  const owned = { organization_id: organizationId, created_at: 1 }
  await session.execute(db.insertInto("organizations").values(organization(organizationId, organizationId, 1)))
  await session.execute(
    db.insertInto("projects").values({
      id: "prj-1",
      ...owned,
      name: "p",
      name_folded: "p",
      description: "",
      is_default: 1,
      auto_destroy_activity_duration: null,
      default_execution_mode: null,
      default_agent_pool_id: null,
    }),
  )
  await session.execute(db.insertInto("agent_pools").values({ id: "apool-1", ...owned, name: "a", name_folded: "a" }))
  await session.execute(
    db
      .insertInto("oauth_clients")
      .values({ id: "oc-1", ...owned, name: null, service_provider: "github", http_url: "", api_url: "" }),
  )
  await session.execute(
    db.insertInto("oauth_tokens").values({
      id: "ot-1",
      ...owned,
      oauth_client_id: "oc-1",
      service_provider_user: null,
      value_sealed: new Uint8Array(1),
    }),
  )
  await session.execute(sql`insert into workspaces (id, organization_id, project_id, name, name_folded, name_reversed,
    created_at, updated_at, latest_change_at, environment, source, execution_mode, agent_pool_id,
    overwrites_execution_mode, overwrites_agent_pool, allow_destroy_plan, assessments_enabled, auto_apply,
    auto_apply_run_trigger, inherits_project_auto_destroy, file_triggers_enabled, global_remote_state, queue_all_runs,
    speculative_enabled, structured_run_output_enabled, engine_version, trigger_patterns, trigger_prefixes,
    oauth_token_id, lock_number, resource_count)
    values ('ws-1', ${organizationId}, 'prj-1', 'w', 'w', 'w', 1, 1, 1, '', '', 'agent', 'apool-1',
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '[]', '[]', 'ot-1', 0, 0)`)
  await session.execute(sql`insert into state_versions (id, workspace_id, organization_id, serial, md5, status, intermediate,
    lock_number, created_at, resources_processed)
    values ('sv-1', 'ws-1', ${organizationId}, 1, '', 'finalized', 0, 0, 1, 0)`)
  await session.execute(
    db
      .insertInto("state_contents")
      .values({ state_version_id: "sv-1", document: "state", chunk: 0, sealed: new Uint8Array(3) }),
  )
}
