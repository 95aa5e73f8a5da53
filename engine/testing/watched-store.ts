// Detects changes of a database from another connection. Reading every row takes long, so it is done only after a write; an open snapshot
// then still shows the previous rows.
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { Client } from "pg"
import { sqliteFile } from "../src/storage/sql/database.ts"

export interface WatchedStore {
  /** Starts to watch. The returned function tells if any row has changed since, except for the last use of a token. */
  watch(): Promise<() => Promise<boolean>>
  close(): Promise<void>
}

export async function watchStore(url: string): Promise<WatchedStore> {
  const file = sqliteFile(url)
  return file === undefined ? openPostgresStore(url) : openSqliteStore(file)
}

const unwatched = new Set(["generations"])

type Row = Readonly<Record<string, unknown>>

function digestOf(tables: readonly (readonly [string, readonly Row[]])[]): string {
  const hash = createHash("sha256")
  for (const [table, rows] of tables) {
    hash.update(table)
    for (const row of rows.map(textOf).toSorted()) hash.update(row)
  }
  return hash.digest("hex")
}

/** Returns a text that is unique for the row. Most values are bytes, which JSON would encode as objects. */
function textOf(row: Row): string {
  let text = ""
  for (const [name, value] of Object.entries(row)) {
    if (name === "last_used_at") continue
    const written =
      value instanceof Uint8Array
        ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1")
        : String(value)
    text += `${name} ${typeof value} ${written.length} ${written}\n`
  }
  return text
}

function openSqliteStore(file: string): WatchedStore {
  const [before, now] = [new DatabaseSync(file, { readOnly: true }), new DatabaseSync(file, { readOnly: true })]
  const version = now.prepare("pragma data_version")
  const versionNow = () => String(version.get()?.["data_version"])
  // The search index has internal tables with 64-bit numbers. Its content follows from the other tables, so it is left out.
  const tables = now
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'")
    .all()
    .map((row) => String(row["name"]))
    .filter((name) => !unwatched.has(name))
  const digest = (database: DatabaseSync) =>
    digestOf(tables.map((table) => [table, database.prepare(`select * from "${table}"`).all()]))
  return {
    watch() {
      if (before.isTransaction) before.exec("commit")
      // SQLite takes the snapshot at the first read, not at `begin`.
      before.exec("begin; select count(*) from sqlite_schema")
      const seen = versionNow()
      return Promise.resolve(() => Promise.resolve(versionNow() !== seen && digest(before) !== digest(now)))
    },
    close() {
      before.close()
      now.close()
      return Promise.resolve()
    },
  }
}

async function openPostgresStore(url: string): Promise<WatchedStore> {
  const [before, now] = [new Client({ connectionString: url }), new Client({ connectionString: url })]
  for (const client of [before, now]) await client.connect()
  const query = async (client: Client, text: string) => (await client.query<Row>(text)).rows
  const found = await query(now, "select tablename from pg_tables where schemaname = current_schema()")
  const tables = found.map((row) => String(row["tablename"])).filter((name) => !unwatched.has(name))
  const versionNow = async () => (await query(now, "select pg_current_wal_insert_lsn() as at"))[0]?.["at"]
  // All databases of the server share the write-ahead log. A write to a table changes its row count or raises its highest transaction id.
  const counts = tables.map(
    (table) => `(select count(*) || ':' || coalesce(max(xmin::text::bigint), 0) from "${table}")`,
  )
  const marks = { name: "marks", text: `select concat_ws(',', ${counts.join(", ")}) as marks` }
  const marksOf = async (client: Client) => (await client.query<Row>(marks)).rows[0]?.["marks"]
  async function digest(client: Client): Promise<string> {
    const rows: [string, Row[]][] = []
    for (const table of tables) rows.push([table, await query(client, `select * from "${table}"`)])
    return digestOf(rows)
  }
  return {
    async watch() {
      await before.query("commit; begin isolation level repeatable read read only; select 1")
      const seen = await versionNow()
      return async () =>
        (await versionNow()) !== seen &&
        (await marksOf(before)) !== (await marksOf(now)) &&
        (await digest(before)) !== (await digest(now))
    },
    async close() {
      await before.end()
      await now.end()
    },
  }
}
