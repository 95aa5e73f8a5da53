// Where servers that are killed keep what they acknowledge: in a file, or in a database of a server that goes on.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect } from "vitest"
import { sqliteFile } from "../../engine/src/storage/sql/database.ts"
import { Client, type DatabaseKind, databaseKinds } from "../../engine/testing/temporary-database.ts"

/** Those that a process can leave behind. */
export const crashKinds = databaseKinds.filter(({ available, name }) => available && name !== "SQLite memory")

export interface CrashStore extends AsyncDisposable {
  /** For whatever else the server keeps. */
  readonly folder: string
  readonly url: string
  /** Undefined where the server finds it beside the store. */
  readonly sealKey: string | undefined
  /** Of a query in words that every store knows. */
  rows(query: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Once the last server is gone: nothing in it is damaged, and nothing of a dead server's is left. */
  expectWhole(): Promise<void>
}

export async function openCrashStore(kind: DatabaseKind): Promise<CrashStore> {
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "chancery-crash-"))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  // In its folder, as a server of its own accord has it: with the seal key beside it.
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

/** A session whose server died ends by itself, with whatever it held. */
async function expectNoSessions(rows: CrashStore["rows"]): Promise<void> {
  const others =
    "select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() " +
    "and backend_type = 'client backend'"
  await expect.poll(() => rows(others), { timeout: 60_000 }).toEqual([])
}
