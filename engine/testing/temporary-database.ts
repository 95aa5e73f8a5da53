// Fresh databases of each kind for tests. They are copies of a template with the current schema, because migrating takes longer than most
// tests. The PostgreSQL server is CHANCERY_TEST_POSTGRES, which the test run starts (test/toolchain); each test has its own database there.
// Copying and dropping a PostgreSQL database takes long too, so a copy is emptied and reused unless its schema has changed.
import { readFileSync } from "node:fs"
import { constants, copyFile, mkdir, mkdtemp, rm } from "node:fs/promises"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Client } from "pg"
import { openDatabase, type Database, type DatabaseOptions } from "../src/storage/sql/database.ts"

/** For other tests, which record the statements that it sends. */
export { Client }

export interface TemporaryDatabase extends AsyncDisposable {
  readonly url: string
  readonly database: Database
}

export interface DatabaseKind {
  readonly name: "SQLite file" | "SQLite memory" | "PostgreSQL"
  /** False if there is no server of this kind. */
  readonly available: boolean
  /** Makes a place for a database, not yet opened. Unless `empty`, it may already have the current schema. */
  place(options?: PlaceOptions): Promise<Place>
}

interface PlaceOptions {
  readonly empty?: boolean
  /** Requires a database that was not used before: deleted rows leave pages behind, which affect PostgreSQL's plans. */
  readonly unused?: boolean
}

type Place = { readonly url: string } & AsyncDisposable

export const databaseKinds: readonly DatabaseKind[] = [
  { name: "SQLite file", available: true, place: temporaryFile },
  {
    name: "SQLite memory",
    available: true,
    place: async () => ({ url: "sqlite::memory:", async [Symbol.asyncDispose]() {} }),
  },
  { name: "PostgreSQL", available: postgresServer() !== undefined, place: temporaryPostgres },
]

const usual = process.env["CHANCERY_TEST_STORAGE"] === "postgres" ? "PostgreSQL" : undefined

/** For tests that do not depend on the kind. They run on SQLite and, with CHANCERY_TEST_STORAGE=postgres, again on PostgreSQL. */
export const defaultKind = kindOf(usual ?? "SQLite memory")

/** As `defaultKind`, for tests with two connections to one database. */
export const defaultSharedKind = kindOf(usual ?? "SQLite file")

function kindOf(name: DatabaseKind["name"]): DatabaseKind {
  const kind = databaseKinds.find((known) => known.name === name)
  if (kind === undefined || !kind.available) throw new Error(`there is no ${name} to test on`)
  return kind
}

/** Opens and migrates a new database. */
export async function temporaryDatabase(
  kind: DatabaseKind,
  { unused = false, ...options }: DatabaseOptions & Pick<PlaceOptions, "unused"> = {},
): Promise<TemporaryDatabase> {
  const empty = options.migrations !== undefined
  const place = await kind.place({ empty, unused })
  const database = await openDatabase(place.url, { ...options, image: empty ? undefined : imageFor(place.url) })
  await database.migrate()
  return {
    url: place.url,
    database,
    async [Symbol.asyncDispose]() {
      await database.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

async function temporaryFile({ empty = false }: PlaceOptions = {}): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  const file = join(folder, "data", "chancery.db")
  const template = process.env[fileTemplateVariable]
  if (template !== undefined && !empty) {
    await mkdir(dirname(file), { mode: 0o700 })
    await copyFile(template, file, constants.COPYFILE_FICLONE)
  }
  return {
    url: `sqlite:${file}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Variable with the path of the SQLite template. */
export const fileTemplateVariable = "CHANCERY_TEST_TEMPLATE_FILE"

/** Creates an SQLite template with the current schema. */
export async function createFileTemplate(): Promise<{ readonly file: string } & AsyncDisposable> {
  const { url, ...place } = await temporaryFile({ empty: true })
  await using database = await openDatabase(url)
  await database.migrate()
  return { file: url.slice("sqlite:".length), ...place }
}

let image: Uint8Array | undefined

/** Returns the initial content of a database in memory, if the test run has a template. */
export function imageFor(url: string): Uint8Array | undefined {
  const template = process.env[fileTemplateVariable]
  if (url !== "sqlite::memory:" || template === undefined) return undefined
  return (image ??= withoutLog(readFileSync(template)))
}

/** Sets the format versions in the file header to 1. They are 2 for a write-ahead log (https://www.sqlite.org/fileformat2.html). */
function withoutLog(file: Uint8Array): Uint8Array {
  file.fill(1, 18, 20)
  return file
}

function postgresServer(): string | undefined {
  const url = process.env["CHANCERY_TEST_POSTGRES"]
  return url === "" ? undefined : url
}

async function temporaryPostgres({ empty = false, unused = false }: PlaceOptions = {}): Promise<Place> {
  const server = postgresServer()
  if (server === undefined) throw new Error("no PostgreSQL to test on")
  const template = process.env[templateVariable]
  if (template === undefined || empty) return createdOn(server)
  return unused ? copyOf(server, template) : emptyCopy(server, template)
}

const copyOf = (server: string, template: string): Promise<CreatedPlace> =>
  createdOn(server, template, ` template ${template}`)

interface ReusedPlace {
  readonly place: CreatedPlace
  readonly emptier: Emptier
}

/** Emptied databases of this process that the next test can use. */
const emptied: ReusedPlace[] = []

async function emptyCopy(server: string, template: string): Promise<Place> {
  const reused = emptied.pop() ?? (await newCopy(server, template))
  const { place, emptier } = reused
  return {
    url: place.url,
    async [Symbol.asyncDispose]() {
      if (await emptier.empty()) emptied.push(reused)
      else await place[Symbol.asyncDispose]()
    },
  }
}

async function newCopy(server: string, template: string): Promise<ReusedPlace> {
  const place = await copyOf(server, template)
  return { place, emptier: new Emptier(place.url) }
}

/** Empties one database over a connection that stays open: a new one would have to load the catalog of all tables again. */
class Emptier {
  readonly #url: string
  #connection: { readonly client: Client; readonly socket: Socket } | undefined

  constructor(url: string) {
    this.#url = url
  }

  async empty(): Promise<boolean> {
    const { client, socket } = (this.#connection ??= await this.#connect())
    socket.ref()
    try {
      if (await emptyDatabase(client)) return true
      await client.end()
      return false
    } finally {
      // An idle connection must not keep the process alive.
      socket.unref()
    }
  }

  async #connect() {
    const socket = new Socket()
    const client = new Client({ connectionString: this.#url, stream: () => socket })
    // If the connection ends, for example when the run drops the database, the next call connects again.
    client.on("error", () => (this.#connection = undefined))
    await client.connect()
    return { client, socket }
  }
}

type CreatedPlace = Place & { readonly name: string }

async function createdOn(server: string, prefix = "test", options = ""): Promise<CreatedPlace> {
  // The process id alone is not unique: in a long run, ids of ended processes are used again.
  const name = `${prefix}_${process.pid}_${process.hrtime.bigint().toString(36)}`
  await command(server, `create database ${name}${options}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    name,
    url: url.href,
    [Symbol.asyncDispose]: () => command(server, `drop database ${name} with (force)`),
  }
}

/** Variable with the name of the PostgreSQL template. */
export const templateVariable = "CHANCERY_TEST_TEMPLATE"

/** Creates a PostgreSQL template with the current schema. There must be no connections to it. Disposing it drops its copies. */
export async function createTemplate(server: string): Promise<{ readonly name: string } & AsyncDisposable> {
  const template = await createdOn(server)
  {
    await using database = await openDatabase(template.url)
    await database.migrate()
  }
  await connected(template.url, keepFirst)
  return {
    name: template.name,
    async [Symbol.asyncDispose]() {
      await connected(server, async (client) => {
        const copies = `select datname from pg_database where starts_with(datname, '${template.name}_')`
        const { rows } = await client.query<{ datname: string }>(copies)
        for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`)
      })
      await template[Symbol.asyncDispose]()
    },
  }
}

/** Runs a PostgreSQL statement on a new connection. */
export const command = (url: string, text: string): Promise<void> =>
  connected(url, async (client) => {
    await client.query(text)
  })

async function connected<Value>(url: string, work: (client: Client) => Promise<Value>): Promise<Value> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Schema with the reference data that copies are compared with and restored from. The tables of the release are in `public`. */
const kept = "first"

/** Stores the rows that migrations inserted, and a digest of the schema. */
async function keepFirst(client: Client): Promise<void> {
  await client.query(`create schema ${kept}`)
  for (const table of await tablesOf(client)) {
    const { rowCount } = await client.query(`select from ${table} limit 1`)
    if (rowCount !== 0) await client.query(`create table ${kept}.${table} as table ${table}`)
  }
  await client.query(`create table ${kept}.${digestTable} as select ${schemaDigest} as digest`)
}

const digestTable = "schema_digest"

/**
 * Digest of the schema's catalogs: a change adds or removes a row, or gives a row a later transaction id. Copies keep the transaction ids
 * of the template.
 */
const schemaDigest = [
  "pg_class where relnamespace = 'public'::regnamespace",
  "pg_attribute where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)",
  "pg_constraint where connamespace = 'public'::regnamespace",
  "pg_trigger where not tgisinternal",
  "pg_proc where pronamespace = 'public'::regnamespace",
  "pg_index where indexrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)",
]
  .map((rows) => `(select concat(count(*), ' ', max(xmin::text::bigint)) from ${rows})`)
  .concat(
    "array(select setconfig::text from pg_db_role_setting where setdatabase = (select oid from pg_database where datname = current_database()))::text",
  )
  .join(" || ' ' || ")

async function tablesOf(client: Client, schema = "public"): Promise<readonly string[]> {
  const { rows } = await client.query<{ tablename: string }>(
    "select tablename from pg_tables where schemaname = $1 order by tablename",
    [schema],
  )
  return rows.map(({ tablename }) => tablename)
}

/** Cached, because it is the same for all copies. */
let first: { readonly filled: readonly string[]; readonly sequences: readonly string[] } | undefined

/** Bytes of a database that is still reused; a new one has a third of it. Deleted rows take space, and slow down later tests. */
const maxSize = 32 * 2 ** 20

/** Restores the template's content. Returns false if the schema has changed, the database is too large, or the user is no superuser. */
async function emptyDatabase(client: Client): Promise<boolean> {
  if (!(await endOthers(client))) return false
  const { rows } = await client.query<{ same: boolean; used: readonly string[] }>(
    `select usesuper and pg_database_size(current_database()) < ${maxSize}
       and ${schemaDigest} = (select digest from ${kept}.${digestTable}) as same, array(
         select relname::text from pg_class
         where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
       ) as used from pg_user where usename = current_user`,
  )
  const [found] = rows
  if (found?.same !== true) return false
  first ??= await firstOf(client)
  await client.query(textOfEmptying(found.used, first))
  return true
}

/** Connections that tests have just closed end within 1 or 2 ms. The server itself would check again after 100 ms only. */
async function endOthers(client: Client): Promise<boolean> {
  for (let attempt = 0; attempt < endingAttempts; attempt += 1) {
    const { rows } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    if (rows.length === 0) return true
    await sleep(2)
  }
  return false
}

/** Attempts of at least 2 ms each. */
const endingAttempts = 5_000

async function firstOf(client: Client) {
  const filled = (await tablesOf(client, kept)).filter((name) => name !== digestTable)
  const { rows } = await client.query<{ name: string }>(
    "select sequencename as name from pg_sequences where schemaname = 'public'",
  )
  return { filled, sequences: rows.map(({ name }) => name) }
}

/** Deletes from the used tables only: a delete from an unused table takes as long as from a used one. */
const textOfEmptying = (used: readonly string[], { filled, sequences }: NonNullable<typeof first>): string =>
  [
    "begin",
    // Disables triggers, so that foreign keys are not checked for every row.
    "set local session_replication_role = replica",
    ...used.map((table) => `delete from ${table}`),
    ...filled.map((table) => `insert into ${table} overriding system value table ${kept}.${table}`),
    ...sequences.map((name) => `select setval('${name}', 1, false)`),
    "commit",
  ].join(";\n")
