// Upgrades from each release to this one: every table has rows at each step, and statements of the previous release keep working, because
// its servers are live during the upgrade.
import { mkdir, readdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { sql } from "kysely"
import { Client } from "pg"
import { describe, expect, test } from "vitest"
import { recordedMetrics } from "../../../../testing/recorded-metrics.ts"
import { type Database, openDatabase, sqliteFile } from "../../sql/database.ts"
import type { Migration } from "../migrate.ts"
import type { QueryRunner } from "../../sql/query-runner.ts"
import { databaseKinds } from "../../../../testing/temporary-database.ts"
import { migrations } from "./index.ts"

const kinds = databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory")

/** Migrations that remove parts of the schema. They are older than the first release, so no server ever used those parts. */
const contracting: ReadonlySet<string> = new Set(["0004-policies"])

interface Column {
  readonly table: string
  readonly name: string
  readonly type: "text" | "integer" | "flag" | "blob"
}

/** Raw access to a database, without checks of foreign keys. */
interface Raw extends AsyncDisposable {
  columns(): Promise<readonly Column[]>
  rows(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  write(statements: readonly string[]): Promise<unknown>
}

test("the list contains the migration of every file under its name", async () => {
  const files = (await readdir(import.meta.dirname)).flatMap((file) => /^(\d{4}-[^.]+)\.ts$/.exec(file)?.[1] ?? [])
  const listed = migrations.map(({ name }) => name)
  expect(listed).toEqual(files.toSorted())
  const own: string[] = []
  for (const name of listed) {
    const exported = Object.values(
      (await import(join(import.meta.dirname, `${name}.ts`))) as Readonly<Record<string, Migration>>,
    )
    own.push(...exported.filter((value) => typeof value === "object").map((migration) => migration.name))
  }
  expect(own).toEqual(listed)
})

describe.each(kinds)("on $name", (kind) => {
  test("each migration finds rows in every table, keeps them, and accepts statements of the previous release", async () => {
    await using place = await kind.place({ empty: true })
    let numbered = 0
    /** Number of rows written, by table. */
    const written = new Map<string, number>()
    for (const [index, migration] of migrations.entries()) {
      await using before = await rawOf(place.url)
      const columnsBefore = contracting.has(migration.name) ? [] : await before.columns()
      expect(await migrated(place.url, migrations.slice(0, index + 1))).toEqual([migration.name])
      await using raw = await rawOf(place.url)
      // Servers of the previous release write the columns that they know.
      const statements: string[] = []
      for (const columns of [columnsBefore, await raw.columns()])
        for (const [table, row] of Map.groupBy(columns, (column) => column.table)) {
          if (table === "migrations") continue
          numbered += 1
          statements.push(...usesOf(table, row, numbered))
          written.set(table, (written.get(table) ?? 0) + 1)
        }
      await raw.write(statements)
    }
    await using raw = await rawOf(place.url)
    const lost: string[] = []
    for (const [table, count] of written) {
      // Migrations insert rows into some tables.
      if ((await raw.rows(`select 1 from "${table}"`)).length < count) lost.push(table)
    }
    expect(lost).toEqual([])
    expect(written.size).toBeGreaterThan(50)
  })

  test("each migration is applied once when servers start together on a store of the previous release", async () => {
    await using place = await kind.place({ empty: true })
    await migrated(place.url, migrations.slice(0, -3))
    const applied = await Promise.all([1, 2, 3].map(() => migrated(place.url, migrations)))
    expect(applied.flat().toSorted()).toEqual(migrations.slice(-3).map(({ name }) => name))
    expect(await migrated(place.url, migrations)).toEqual([])
  })

  test("a failed migration is rolled back, and the next start applies it", async () => {
    await using place = await kind.place({ empty: true })
    const before = migrations.slice(0, -1)
    await migrated(place.url, before)
    const failing: Migration = {
      name: migrations.at(-1)?.name ?? "",
      async up(session) {
        await migrations.at(-1)?.up(session)
        throw new Error("the power is gone")
      },
    }
    await expect(migrated(place.url, [...before, failing])).rejects.toThrow("the power is gone")
    expect(await migrated(place.url, migrations)).toEqual([failing.name])
  })
})

describe.each(kinds.filter(({ name }) => name === "PostgreSQL"))("on $name", (kind) => {
  const slow = (name: string, body: (session: QueryRunner) => Promise<void>): Migration => ({ name, up: body })
  const known = migrations.slice(0, 1)

  test("another server continues when a server is killed during a migration", async () => {
    await using place = await kind.place({ empty: true })
    await migrated(place.url, known)
    const first = slow("0002-first", async (session) => void (await session.execute(sql`create table first (a int)`)))
    const dying = slow("0003-dying", async (session) => {
      await session.execute(sql`create table second (a int)`)
      await session.execute(sql`select pg_terminate_backend(pg_backend_pid())`)
    })
    await expect(migrated(place.url, [...known, first, dying])).rejects.toMatchObject({ code: "busy" })
    const living = slow("0003-dying", async (session) => void (await session.execute(sql`create table second (a int)`)))
    expect(await migrated(place.url, [...known, first, living])).toEqual(["0003-dying"])
  })

  test("a migration waits for users of its table, and delays other queries only shortly", async () => {
    await using place = await kind.place({ empty: true })
    await migrated(place.url, known)
    const altering = slow("0002-altering", async (session) => {
      await session.execute(sql`alter table settings add column added text`)
    })
    await using reading = await openDatabase(place.url)
    const metrics = recordedMetrics()
    await using migrating = await openDatabase(place.url, {
      meter: metrics.meter,
      limits: { lockTimeoutMs: 50 },
      migrations: [...known, altering],
    })
    const released = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const long = reading.read(async (session) => {
      await names(session)
      begun.resolve()
      await released.promise
    })
    await begun.promise
    const applied = migrating.migrate()
    while (metrics.value("chancery_storage_retries_total") < 3) await sleep(10)
    // Other queries queue behind a lock request that waits. This read shows that the migration does not wait long.
    await reading.read(names)
    released.resolve()
    await long
    expect(await applied).toEqual(["0002-altering"])
  })

  test("a server that is suspended during a migration does not block it, and undoes nothing later", async () => {
    await using place = await kind.place({ empty: true })
    await migrated(place.url, known)
    const begun = Promise.withResolvers<void>()
    const still = Promise.withResolvers<void>()
    let attempts = 0
    const freezing = slow("0002-step", async (session) => {
      attempts += 1
      await session.execute(sql`create table step (a int)`)
      if (attempts > 1) return
      begun.resolve()
      await still.promise
      await session.execute(sql`create table too_late (a int)`)
    })
    await using frozen = await openDatabase(place.url, {
      // Long enough for the migration to reach its wait on a busy machine.
      limits: { idleMigrationMs: 2_000 },
      migrations: [...known, freezing],
    })
    const outcome = frozen.migrate().catch((error: unknown) => error)
    await begun.promise
    const step = slow("0002-step", async (session) => void (await session.execute(sql`create table step (b int)`)))
    expect(await migrated(place.url, [...known, step])).toEqual(["0002-step"])
    still.resolve()
    expect(await outcome).toMatchObject({ code: "busy" })
    expect(await frozen.migrate()).toEqual([])
    const tables = await frozen.read((session) =>
      session.queryMany(sql<{ table_name: string; column_name: string }>`
        select table_name, column_name from information_schema.columns where table_name in ('step', 'too_late')
      `),
    )
    expect(tables).toEqual([{ table_name: "step", column_name: "b" }])
  })
})

const names = (session: QueryRunner) => session.queryMany(sql`select name from settings`)

async function migrated(url: string, known: readonly Migration[]): Promise<readonly string[]> {
  await using database: Database = await openDatabase(url, { migrations: known })
  return await database.migrate()
}

/** Returns statements that insert a row with all these columns, and change and read them. */
function usesOf(table: string, row: readonly Column[], number: number): readonly string[] {
  const columns = row.map(({ name }) => `"${name}"`)
  return [
    `insert into "${table}" (${columns.join(", ")}) values (${row.map((column) => valueOf(column, number)).join(", ")})`,
    `update "${table}" set ${columns.map((name) => `${name} = ${name}`).join(", ")} where 1 = 0`,
    `select ${columns.join(", ")} from "${table}" where 1 = 0`,
  ]
}

function valueOf({ name, type }: Column, number: number): string {
  // A later migration adds partitions; until then all rows have 0 here.
  if (name === "filed_at") return "0"
  switch (type) {
    case "text":
      return `'value-${number}'`
    case "integer":
      return String(number)
    case "flag":
      return "0"
    default:
      return `octets('${number.toString(16).padStart(8, "0")}')`
  }
}

/** Placeholder for bytes, which each dialect writes differently. */
const octets = /octets\('(\w+)'\)/g

async function rawOf(url: string): Promise<Raw> {
  const file = sqliteFile(url)
  if (file !== undefined) return rawSqlite(file)
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("set session_replication_role = replica")
  const rows = async (text: string) => (await client.query<Record<string, unknown>>(text)).rows
  return {
    rows,
    write: (statements) => client.query(statements.join(";").replaceAll(octets, String.raw`'\x$1'`)),
    async columns() {
      const found = await rows(`select c.table_name, c.column_name, c.data_type from information_schema.columns c
        join information_schema.tables t using (table_schema, table_name)
        join pg_class r on r.oid = format('%I.%I', c.table_schema, c.table_name)::regclass
        where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and not r.relispartition
          and c.is_identity = 'NO' and c.is_generated = 'NEVER'`)
      const types = { text: "text", bigint: "integer", integer: "integer", smallint: "flag", bytea: "blob" } as const
      return found.map((row) => {
        const type = types[row["data_type"] as keyof typeof types]
        return { table: String(row["table_name"]), name: String(row["column_name"]), type }
      })
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

async function rawSqlite(file: string): Promise<Raw> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  const rows = async (text: string) => database.prepare(text).all()
  return {
    rows,
    write: async (statements) => database.exec(statements.join(";").replaceAll(octets, "x'$1'")),
    async columns() {
      const found = await rows(`select t.name as of, c.name, lower(c.type) as type, c.pk, t.wr from pragma_table_list t,
        pragma_table_xinfo(t.name) c where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%' and c.hidden = 0`)
      return found
        .filter((row) => !(row["pk"] === 1 && row["type"] === "integer" && row["wr"] === 0))
        .map((row) => ({ table: String(row["of"]), name: String(row["name"]), type: String(row["type"]) as "text" }))
    },
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}
