import { createHash } from "node:crypto"
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { sql } from "kysely"
import { Client } from "pg"
import { afterAll, describe, expect, test, vi } from "vitest"
import { made } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { type Database, openDatabase, sqliteFile } from "../sql/database.ts"
import { migrations } from "../schema/migrations/index.ts"
import { CopyRefused } from "./copy-side.ts"
import { CopySideFailed, copyStore, type StoreCopyOptions } from "./store-copy.ts"
import { fillEveryTable, filledText } from "../../../testing/filled-store.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const kindNamed = (name: string) => {
  const kind = databaseKinds.find((known) => known.name === name)
  if (kind === undefined) throw new Error(`there is no ${name}`)
  return kind
}
const [sqlite, postgres] = [kindNamed("SQLite file"), kindNamed("PostgreSQL")]
const kinds = [sqlite, postgres].filter(({ available }) => available)
const pairs = kinds.flatMap((from) => kinds.map((to) => ({ from, to, name: `${from.name} to ${to.name}` })))
/** Each kind once as source and once as target. */
const crossings = kinds.length === 1 ? pairs : pairs.filter(({ from, to }) => from !== to)

const mebibyte = 1024 * 1024

/** Fills some tables with so many or such long rows that they need several pages. */
async function fill(url: string): Promise<void> {
  await fillEveryTable(url, {
    rowCount: 7,
    rowCounts: { certificates: 1_500, certificate_names: 1_499, state_chunks: 5 },
    blobBytes: { state_chunks: mebibyte },
  })
  await using database = await openDatabase(url)
  await database.transact((session) => session.execute(sql`delete from certificates where number = 1500`))
}

/** Returns all rows of all tables, read with SQL and not by the code under test. */
async function contentOf(url: string): Promise<Readonly<Record<string, readonly string[]>>> {
  await using database = await openDatabase(url)
  const tables = await database.read((session) =>
    session.queryMany(
      session.dialect === "sqlite"
        ? sql<{ name: string }>`select name from pragma_table_list
            where schema = 'main' and type = 'table' and name not like 'sqlite%' order by name`
        : sql<{ name: string }>`select relname::text as name from pg_class
            where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
            order by 1`,
    ),
  )
  const content: Record<string, readonly string[]> = {}
  for (const { name } of tables) content[name] = await rowsOf(database, name)
  return content
}

async function rowsOf(database: Database, table: string): Promise<readonly string[]> {
  const rows = await database.read((session) => session.queryMany(sql<object>`select * from ${sql.table(table)}`))
  return rows
    .map((row) => {
      const cells = Object.entries(row).filter(([name]) => table !== "workspaces" || name !== "number")
      const printed = cells.map(([name, value]: [string, unknown]) => [
        name,
        value instanceof Uint8Array ? createHash("sha256").update(value).digest("hex") : value,
      ])
      return JSON.stringify(
        Object.fromEntries(printed.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))),
      )
    })
    .toSorted()
}

const refusalOf = async (options: StoreCopyOptions): Promise<CopyRefused> => {
  try {
    await copyStore(options)
  } catch (error) {
    if (error instanceof CopyRefused) return error
    throw error
  }
  throw new Error("the copy was made")
}

let template: Promise<string> | undefined
const templateFolder = mkdtemp(join(tmpdir(), "chancery-filled-"))
afterAll(async () => rm(await templateFolder, { recursive: true, force: true }))

/** Copies a database file that is filled once. */
async function copyFilled(url: string): Promise<void> {
  const file = sqliteFile(url) ?? ""
  template ??= (async () => {
    const filledFile = join(await templateFolder, "chancery.db")
    await fill(`sqlite:${filledFile}`)
    return filledFile
  })()
  await mkdir(dirname(file), { recursive: true })
  await copyFile(await template, file)
}

/** Creates a database of this kind with rows in every table. */
async function filled(kind: (typeof kinds)[number]) {
  await using made = new AsyncDisposableStack()
  const first = made.use(await sqlite.place({ empty: true }))
  await copyFilled(first.url)
  const place = kind === sqlite ? first : made.use(await kind.place({ empty: true }))
  if (place !== first) await copyStore({ from: first.url, to: place.url })
  const resources = made.move()
  return { url: place.url, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

describe.each(pairs)("from $name", ({ from, to }) => {
  test("store copy copies every row of every table, and numbers continue after the last", async () => {
    await using source = await filled(from)
    await using target = await to.place({ empty: true })
    const steps: string[] = []
    const report = await copyStore({
      from: source.url,
      to: target.url,
      progress: ({ name, doneRows, totalRows }) => void steps.push(`${name} ${doneRows}/${totalRows}`),
    })

    const [expected, found] = [await contentOf(source.url), await contentOf(target.url)]
    expect(found).toEqual(expected)
    const { migrations: applied = [], ...tables } = expected
    expect(applied.length).toBe(migrations.length)
    const empty = Object.entries(tables).filter(([, rows]) => rows.length === 0)
    expect(empty).toEqual([])
    expect(Object.keys(report.tables).toSorted()).toEqual(Object.keys(tables))
    for (const [table, rows] of Object.entries(tables))
      expect([table, report.tables[table]?.rows]).toEqual([table, rows.length])
    const total = Object.values(tables).reduce((sum, rows) => sum + rows.length, 0)
    expect(steps.filter((step) => step.endsWith(` ${total}/${total}`)).length).toBeGreaterThanOrEqual(2)
    expect(report.resumedRows).toBe(0)

    await using database = await openDatabase(target.url)
    // The number 1500 was used and deleted; it is not used again.
    const numbers = await database.transact(async (session) => {
      const insert = session.db.insertInto("certificates").values({
        mount_id: filledText(1),
        serial_number: Buffer.from("new"),
        certificate: Buffer.from("new"),
        issuer_id: null,
        role: null,
        common_name: "",
        not_before: 0,
        not_after: 0,
        revoked_at: null,
      })
      await session.execute(insert)
      return session.queryMany(sql<{ last: number }>`select max(number) as last from certificates`)
    })
    expect(numbers).toEqual([{ last: 1_501 }])
    // Foreign keys are enforced again.
    const orphan = database.transact((session) =>
      session.execute(sql`insert into team_members (team_id, user_id) values ('team-none', 'user-none')`),
    )
    await expect(orphan).rejects.toThrow("a referenced row does not exist")
  })

  test("a copy opens sealed values, returns the same lists, and locks, issues and searches by name", async () => {
    await using source = await from.place({ empty: true })
    const { workspace, paths } = await someOfEverything(source.url)
    const before = await answersOf(source.url, paths)
    await using target = await to.place({ empty: true })
    const { sealKeyIds } = await copyStore({ from: source.url, to: target.url })
    expect(sealKeyIds).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)])
    expect(await answersOf(target.url, paths)).toEqual(before)

    await using testEngine = await openTestEngine({ url: target.url })
    await made(testEngine, "POST", `/workspaces/${workspace}/actions/lock`, {})
    const issued = await testEngine.pki("POST", "/pki/issue/web", { body: { common_name: "later.example.com" } })
    expect(issued.status).toBe(200)
    const serials = await testEngine.pki("GET", "/pki/certs?list=true")
    expect(serials.body.data.keys).toContain(issued.body.data.serial_number)
    await made(testEngine, "POST", "/organizations/acme/workspaces", {
      data: { type: "workspaces", attributes: { name: "later-network" } },
    })
    const found = await testEngine.request("GET", "/organizations/acme/workspaces?search[name]=etwor")
    const names = found.body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name)
    expect(names).toEqual(["later-network", "network"])
  })
})

describe.each(crossings)("from $name", ({ from, to }) => {
  test("an interrupted copy is rejected by every release, and continues where it stopped", async () => {
    await using source = await filled(from)
    await using target = await to.place({ empty: true })
    const broken = new Error("pulled the plug")
    const breakingAt = (rows: number): StoreCopyOptions => ({
      from: source.url,
      to: target.url,
      progress: ({ name, doneRows }) => {
        if (name === "compare" || doneRows >= rows) throw broken
      },
    })
    for (const rows of [1, 700, 1_200, Infinity]) await expect(copyStore(breakingAt(rows))).rejects.toBe(broken)

    const opening = openTestEngine({ url: target.url })
    await expect(opening).rejects.toThrow("It is an unfinished copy.")
    const report = await copyStore({ from: source.url, to: target.url })
    const { migrations: _, ...tables } = await contentOf(source.url)
    expect(report.resumedRows).toBe(Object.values(tables).reduce((sum, rows) => sum + rows.length, 0))
    expect(await contentOf(target.url)).toEqual(await contentOf(source.url))
  })

  test("store copy fails when the store changed after the copy began", async () => {
    await using source = await filled(from)
    await using target = await to.place({ empty: true })
    const begun = copyStore({
      from: source.url,
      to: target.url,
      progress: ({ name }) => {
        if (name === "compare") throw new Error("pulled the plug")
      },
    })
    await expect(begun).rejects.toThrow("pulled the plug")
    {
      await using database = await openDatabase(source.url)
      await database.transact((session) =>
        session.execute(sql`update users set email = 'other'
        where id = (select min(id) from users)`),
      )
    }
    const { message } = await refusalOf({ from: source.url, to: target.url })
    expect(message).toContain("The table users of the copy (7 rows) differs from the table of the store (7 rows)")
  })

  test("store copy rejects an occupied target, an empty source and a store in use", async () => {
    await using source = await filled(from)
    await using target = await temporaryDatabase(to)
    const { message } = await refusalOf({ from: source.url, to: target.url })
    expect(message).toContain("The target already contains a store")
    expect((await refusalOf({ from: source.url, to: source.url })).message).toContain("Both stores are the same")
    await using nothing = await from.place({ empty: true })
    await using other = await to.place({ empty: true })
    expect((await refusalOf({ from: nothing.url, to: other.url })).message).toContain(
      "The store to copy does not exist",
    )

    await using server = await openDatabase(source.url)
    await server.read((session) => session.queryMany(sql`select 1`))
    expect(await refusalOf({ from: source.url, to: other.url })).toMatchObject({
      message: expect.stringMatching(/running servers?/i) as string,
      isTemporary: true,
    })
  })
})

interface Recorded {
  readonly workspace: string
  readonly paths: readonly string[]
}

/** Creates some of each main resource over HTTP, as a database of some months has. */
async function someOfEverything(url: string): Promise<Recorded> {
  await using testEngine = await populatedEngine({ url })
  const workspace = await testEngine.workspace("network")
  await testEngine.workspace("other")
  const post = (path: string, type: string, attributes: object, relationships?: object) =>
    made(testEngine, "POST", path, { data: { type, attributes, ...(relationships && { relationships }) } })
  await post(`/workspaces/${workspace}/vars`, "vars", { key: "region", value: "eu", category: "env" })
  await made(testEngine, "POST", `/workspaces/${workspace}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: "prod" } }],
  })
  await post("/organizations/acme/webhooks", "webhooks", {
    name: "hook",
    url: "https://receiver.example",
    enabled: false,
    secret: "signs deliveries",
  })
  await post("/runs", "runs", {}, { workspace: { data: { type: "workspaces", id: workspace } } })
  await made(testEngine, "POST", `/workspaces/${workspace}/actions/lock`, {})
  const state = stateFile({ outputs: { long: { value: "x".repeat(10_000), type: "string" } } })
  await made(
    testEngine,
    "POST",
    `/workspaces/${workspace}/state-versions`,
    stateVersionDocument(state, { inline: true }),
  )
  await made(testEngine, "POST", `/workspaces/${workspace}/actions/unlock`, {})
  await vi.waitFor(
    async () => expect((await testEngine.engine.stateVersions.currentOutputs({ id: workspace })).length).toBe(1),
    { timeout: 20_000 },
  )
  await testEngine.engine.mounts.create({ path: "pki" })
  const { issuers, roles } = testEngine.engine.pki("pki")
  await issuers.generateRoot({ commonName: "Root", keyType: "ec", ttlMs: 2_000_000_000 })
  await roles.save("web", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  for (const name of ["one", "two"]) {
    const { body } = await testEngine.pki("POST", "/pki/issue/web", { body: { common_name: `${name}.example.com` } })
    if (name === "two")
      await testEngine.pki("POST", "/pki/revoke", { body: { serial_number: body.data.serial_number as string } })
  }
  return {
    workspace,
    paths: [
      "/organizations/acme",
      "/organizations/acme/workspaces?include=organization,project",
      `/workspaces/${workspace}/vars`,
      `/workspaces/${workspace}/current-state-version-outputs`,
      `/workspaces/${workspace}/runs`,
      `/organizations/acme/tags`,
      `/organizations/acme/webhooks`,
      "/organizations/acme/events?since=2020-01-01T00:00:00Z",
    ],
  }
}

async function answersOf(url: string, paths: readonly string[]): Promise<readonly unknown[]> {
  await using testEngine: TestEngine = await openTestEngine({ url, jobs: false })
  const answers: unknown[] = []
  for (const path of paths) {
    const { status, body } = await testEngine.request("GET", path)
    expect([path, status, body.data.length]).toEqual([path, 200, body.data.length])
    answers.push(withoutTransactions(body.data))
  }
  for (const path of ["/pki/certs?list=true", "/pki/certs/revoked?list=true", "/pki/ca/pem", "/pki/roles/web"]) {
    const { status, body } = await testEngine.pki("GET", path)
    expect([path, status]).toEqual([path, 200])
    answers.push(typeof body === "string" ? body : body.data)
  }
  return answers
}

/** Removes the transaction from event ids: it orders events on one PostgreSQL server only. The numbers are copied. */
const withoutTransactions = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data).replaceAll(/"id":"c[0-9a-z]+-([0-9a-z]+)"/g, '"id":"c-$1"'))

test("store copy migrates the schema of the source after its rows are copied", async () => {
  await using source = await sqlite.place({ empty: true })
  await using target = await (postgres.available ? postgres : sqlite).place({ empty: true })
  // The schema before events and webhooks.
  const earlier = migrations.slice(
    0,
    migrations.findIndex(({ name }) => name === "0020-events"),
  )
  {
    await using database = await openDatabase(source.url, { migrations: earlier })
    await database.migrate()
    await database.transact((session) => session.execute(sql`insert into settings (name, value) values ('a', 'b')`))
  }
  const { tables } = await copyStore({ from: source.url, to: target.url })
  expect(Object.keys(tables)).not.toContain("events")
  await using database = await openDatabase(target.url)
  expect(await database.migrate()).toEqual([])
  expect(await rowsOf(database, "settings")).toEqual([`{"name":"a","value":"b"}`])
  await using untouched = await openDatabase(source.url, { migrations: earlier })
  expect(await untouched.migrate()).toEqual([])
})

test("store copy rejects a store of a newer release", async () => {
  await using source = await sqlite.place({ empty: true })
  await using target = await sqlite.place({ empty: true })
  {
    const later = { name: "9999-later", up: async () => {} }
    await using database = await openDatabase(source.url, { migrations: [...migrations, later] })
    await database.migrate()
  }
  const copying = copyStore({ from: source.url, to: target.url })
  await expect(copying).rejects.toBeInstanceOf(CopySideFailed)
  await expect(copying).rejects.toMatchObject({ cause: { name: "NewerDatabase" } })
})

test("store copy rejects tables of other programs in source and target", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-copy-"))
  try {
    const other = join(folder, "other.db")
    const file = new DatabaseSync(other)
    file.exec("create table accounts (id text)")
    file.close()
    await using source = await filled(sqlite)
    expect((await refusalOf({ from: source.url, to: `sqlite:${other}` })).message).toContain("of another program")
    const store = new DatabaseSync(sqliteFile(source.url) ?? "")
    store.exec("create table accounts (id text primary key not null) strict")
    store.close()
    const { message } = await refusalOf({ from: source.url, to: `sqlite:${join(folder, "new.db")}` })
    expect(message).toBe("The table accounts is not a table of Chancery; move it out of the store first.")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test.runIf(postgres.available)("events keep their order when they are copied from PostgreSQL", async () => {
  await using source = await temporaryDatabase(postgres)
  const client = new Client({ connectionString: source.url })
  await client.connect()
  // Numbers are drawn before a transaction commits, so a later transaction may have smaller numbers.
  await client.query(`insert into events (transaction_id, number, organization_id, workspace_id, kind, at, details)
    overriding system value
    select t, n, 'org-1', '', 'k' || place, place, '{}' from (values (0, 3, 1), (0, 4, 2), (70, 9, 3), (70, 11, 4), (71, 10, 5), (72, 20, 6))
      as e (t, n, place)`)
  await client.query("insert into swept_events (id, transaction_id, number, at) values (1, 0, 2, 1)")
  await client.query(`insert into organizations (id, name, name_folded, email, created_at, default_execution_mode,
      allow_force_delete_workspaces, assessments_enforced, plan, cost_estimation_enabled, collaborator_auth_policy)
    values ('org-1', 'a', 'a', '', 0, '', 0, 0, '', 0, '')`)
  await client.query(`insert into webhooks (id, organization_id, name, url, secret_sealed, enabled, filter, cursor_transaction, cursor_number,
      pending_transaction, pending_number, dead_in_a_row, created_at)
    values ('wh-1', 'org-1', 'a', '', '', 1, '', 70, 11, 71, 10, 0, 0)`)
  await client.end()
  await source.database.close()

  for (const kind of kinds) {
    await using target = await kind.place({ empty: true })
    await copyStore({ from: source.url, to: target.url })
    await using database = await openDatabase(target.url)
    const events = await database.read((session) =>
      session.queryMany(
        sql<{ kind: string }>`select transaction_id, number, kind from events order by transaction_id, number`,
      ),
    )
    expect(events).toEqual(
      [3, 4, 9, 11, 12, 20].map((number, index) => ({ transaction_id: 0, number, kind: `k${index + 1}` })),
    )
    const [webhook] = await database.read((session) =>
      session.queryMany(sql`select cursor_transaction, cursor_number,
      pending_transaction, pending_number from webhooks`),
    )
    expect(webhook).toEqual({ cursor_transaction: 0, cursor_number: 11, pending_transaction: 0, pending_number: 12 })
    const [swept] = await database.read((session) =>
      session.queryMany(sql`select transaction_id, number from swept_events`),
    )
    expect(swept).toEqual({ transaction_id: 0, number: 2 })
  }
})
