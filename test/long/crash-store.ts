// Databases for servers that are killed: a file, or a database of a PostgreSQL server that keeps running.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect } from "vitest"
import { sqliteFile } from "../../engine/src/storage/sql/database.ts"
import { Client, type DatabaseKind, databaseKinds } from "../../engine/testing/temporary-database.ts"

/** Kinds of databases that outlive a process. */
export const crashKinds = databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory")

export interface CrashStore extends AsyncDisposable {
  /** Folder for the server's other files. */
  readonly folder: string
  readonly url: string
  /** Undefined if the server finds it next to the database. */
  readonly sealKey: string | undefined
  /** Returns the rows of a query in SQL that every database supports. */
  rows(query: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Checks, after the last server has ended, that nothing is damaged and that no session of a dead server remains. */
  expectWhole(): Promise<void>
}

export async function openCrashStore(kind: DatabaseKind): Promise<CrashStore> {
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "chancery-crash-"))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  // The default path in the data folder, where the seal key is next to the file.
  const url =
    kind.name === "SQLite file" ? `sqlite:${join(folder, "chancery.db")}` : opening.use(await kind.place()).url
  const file = sqliteFile(url)
  const rows = file === undefined ? rowsOfPostgres(url) : rowsOfSqlite(file)
  const closing = opening.move()
  return {
    folder,
    url,
    rows,
    sealKey: file === undefined ? Buffer.alloc(32, "crash").toString("base64") : undefined,
    async expectWhole() {
      if (file === undefined) return expectNoSessions(rows)
      expect(await rows("pragma integrity_check")).toEqual([{ integrity_check: "ok" }])
      expect(await rows("pragma foreign_key_check")).toEqual([])
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const rowsOfSqlite = (file: string): CrashStore["rows"] => {
  return (query) => {
    using database = new DatabaseSync(file)
    return Promise.resolve(database.prepare(query).all())
  }
}

const rowsOfPostgres = (url: string): CrashStore["rows"] => {
  return async (query) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(query)).rows
    } finally {
      await client.end()
    }
  }
}

/** Waits until PostgreSQL has ended the sessions of a dead server, with their locks. */
async function expectNoSessions(rows: CrashStore["rows"]): Promise<void> {
  const others =
    "select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() " +
    "and backend_type = 'client backend'"
  await expect.poll(() => rows(others), { timeout: 60_000 }).toEqual([])
}
