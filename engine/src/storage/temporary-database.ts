// A fresh database of each kind for tests. PostgreSQL is the server that CHANCERY_TEST_POSTGRES names, which the test
// run starts (test/toolchain); each test has a database of its own there, a copy of one that has the schema already: to apply
// it takes longer than most tests.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { openDatabase, type Database, type DatabaseOptions } from "./database.ts"

/** For tests elsewhere, which look at what it sends. */
export { Client }

export interface TemporaryDatabase extends AsyncDisposable {
  readonly url: string
  readonly database: Database
}

export interface DatabaseKind {
  readonly name: "SQLite file" | "SQLite memory" | "PostgreSQL"
  /** False where no server was found. */
  readonly available: boolean
  /** Makes a place for a database, not yet opened. Where it is not `empty` it may hold the schema of this release. */
  place(options?: PlaceOptions): Promise<Place>
}

interface PlaceOptions {
  readonly empty?: boolean
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

/** Opened and migrated. */
export async function temporaryDatabase(kind: DatabaseKind, options?: DatabaseOptions): Promise<TemporaryDatabase> {
  const place = await kind.place({ empty: options?.migrations !== undefined })
  const database = await openDatabase(place.url, options)
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

async function temporaryFile() {
  const folder = await mkdtemp(join(tmpdir(), "chancery-"))
  return {
    url: `sqlite:${join(folder, "data", "chancery.db")}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

function postgresServer(): string | undefined {
  const url = process.env["CHANCERY_TEST_POSTGRES"]
  return url === "" ? undefined : url
}

let created = 0

async function temporaryPostgres({ empty = false }: PlaceOptions = {}): Promise<Place> {
  const server = postgresServer()
  if (server === undefined) throw new Error("no PostgreSQL to test on")
  const template = process.env[templateVariable]
  return createdOn(server, empty || template === undefined ? "" : ` template ${template}`)
}

async function createdOn(server: string, options = ""): Promise<Place & { readonly name: string }> {
  created += 1
  const name = `test_${process.pid}_${process.hrtime.bigint()}_${created}`
  await command(server, `create database ${name}${options}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    name,
    url: url.href,
    [Symbol.asyncDispose]: () => command(server, `drop database ${name} with (force)`),
  }
}

/** Names the database that others are copied from. */
export const templateVariable = "CHANCERY_TEST_TEMPLATE"

/** One with the schema of this release, which nobody may be connected to. */
export async function createTemplate(server: string): Promise<{ readonly name: string } & AsyncDisposable> {
  const template = await createdOn(server)
  await using database = await openDatabase(template.url)
  await database.migrate()
  return template
}

/** Of PostgreSQL, on a connection of its own. */
export async function command(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
