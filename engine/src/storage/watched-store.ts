// Whether anything has changed in a store, seen from outside as another process would see it; for tests.
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { Client } from "pg"
import { sqliteFile } from "./database.ts"

export interface WatchedStore {
  /** Of all rows, but for the time a token was last used. */
  digest(): Promise<string>
  close(): Promise<void>
}

export async function watchStore(url: string): Promise<WatchedStore> {
  const file = sqliteFile(url)
  return file === undefined ? openPostgresStore(url) : openSqliteStore(file)
}

const unwatched = new Set(["generations"])
const withoutUse = ({ last_used_at: _use, ...row }: Record<string, unknown>) => row
const digestOf = (tables: readonly (readonly [string, readonly unknown[]])[]) => {
  const hash = createHash("sha256")
  for (const [table, rows] of tables) {
    hash.update(table)
    for (const row of rows.map((row) => JSON.stringify(withoutUse(row as Record<string, unknown>))).toSorted())
      hash.update(row)
  }
  return hash.digest("hex")
}

function openSqliteStore(file: string): WatchedStore {
  const database = new DatabaseSync(file, { readOnly: true })
  const version = database.prepare("pragma data_version")
  // A search index keeps tables of its own, with numbers of 64 bits; what it says follows from the rest.
  const tables = database
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'")
    .all()
    .map((row) => String(row["name"]))
    .filter((name) => !unwatched.has(name))
  return {
    digest: remembering(
      () => Promise.resolve(String(version.get()?.["data_version"])),
      () =>
        Promise.resolve(tables.map((table) => [table, database.prepare(`select * from "${table}"`).all()] as const)),
    ),
    close: () => Promise.resolve(database.close()),
  }
}

async function openPostgresStore(url: string): Promise<WatchedStore> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const query = async (text: string) => (await client.query<Record<string, unknown>>(text)).rows
  const found = await query("select tablename from pg_tables where schemaname = current_schema()")
  const tables = found.map((row) => String(row["tablename"])).filter((name) => !unwatched.has(name))
  return {
    digest: remembering(
      async () => String((await query("select pg_current_wal_insert_lsn() as at"))[0]?.["at"]),
      async () => {
        const rows: [string, unknown[]][] = []
        for (const table of tables) rows.push([table, await query(`select * from "${table}"`)])
        return rows
      },
    ),
    close: () => client.end(),
  }
}

/** Reading every row after every request would take long: `version` tells whether anything at all was written since. */
function remembering(
  version: () => Promise<string>,
  rows: () => Promise<readonly (readonly [string, readonly unknown[]])[]>,
): () => Promise<string> {
  let remembered: { readonly version: string; readonly digest: string } | undefined
  return async () => {
    const now = await version()
    if (remembered?.version !== now) remembered = { version: now, digest: digestOf(await rows()) }
    return remembered.digest
  }
}
