// A fresh database of each kind for tests. PostgreSQL is the server that CHANCERY_TEST_POSTGRES names, which the test
// run starts (test/toolchain); each test has a database of its own there.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { openDatabase, type Database, type DatabaseOptions } from "./database.ts"

export interface TemporaryDatabase extends AsyncDisposable {
  readonly url: string
  readonly database: Database
}

export interface DatabaseKind {
  readonly name: "SQLite file" | "SQLite memory" | "PostgreSQL"
  /** False where no server was found. */
  readonly available: boolean
  /** Makes a place for a database, not yet opened. */
  place(): Promise<{ readonly url: string } & AsyncDisposable>
}

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
  const place = await kind.place()
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

async function temporaryPostgres() {
  const server = postgresServer()
  if (server === undefined) throw new Error("no PostgreSQL to test on")
  created += 1
  const name = `test_${process.pid}_${process.hrtime.bigint()}_${created}`
  await command(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => command(server, `drop database ${name} with (force)`),
  }
}

async function command(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
