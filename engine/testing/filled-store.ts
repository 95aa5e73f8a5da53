// A database with rows in every table, generated from the schema, for tests that must cover all tables, including future ones. No engine
// would create these rows.
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { sql } from "kysely"
import { openDatabase, sqliteFile } from "../src/storage/sql/database.ts"

export interface FillOptions {
  /** Rows in each table that `rowCounts` does not name. */
  readonly rowCount: number
  readonly rowCounts?: Readonly<Record<string, number>>
  /** Length of the binary values that are not keys, by table. */
  readonly blobBytes?: Readonly<Record<string, number>>
}

const usualBlobBytes = 40

/** Fills an SQLite database, and creates it if it does not exist. Foreign keys are valid; some refer to rows that are inserted later. */
export async function fillEveryTable(url: string, options: FillOptions): Promise<void> {
  {
    await using database = await openDatabase(url)
    await database.migrate()
  }
  const file = new DatabaseSync(sqliteFile(url) ?? "")
  try {
    file.exec("pragma foreign_keys = off; begin")
    for (const table of tablesOf(file)) fillTable(file, table, options)
    const broken = file.prepare("pragma foreign_key_check").get()
    if (broken !== undefined) throw new Error(`a reference of ${String(broken["table"])} does not hold`)
    file.exec("commit")
  } finally {
    file.close()
  }
}

export async function countRows(url: string, tables: readonly string[]): Promise<Readonly<Record<string, number>>> {
  await using database = await openDatabase(url)
  return await database.read(async (session) => {
    const counts: Record<string, number> = {}
    for (const table of tables) {
      const row = await session.queryOne(sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`)
      counts[table] = row?.count ?? -1
    }
    return counts
  })
}

/** Value of a text column in a row. It has quotes, and code points beyond U+FFFF, which sort differently in UTF-16. */
export const filledText = (row: number): string => `${row % 2 === 0 ? "\u{1f511}" : "é"}'"\\{${row},NULL}`

const tablesOf = (file: DatabaseSync): readonly string[] =>
  file
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite%'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => name !== "migrations")

function fillTable(file: DatabaseSync, table: string, { rowCount, rowCounts = {}, blobBytes = {} }: FillOptions): void {
  const columns = file.prepare(`select name, type, "notnull" as required, pk from pragma_table_info(?)`).all(table)
  const references = new Map(
    file
      .prepare(`select "from" as name, "table" as parent from pragma_foreign_key_list(?)`)
      .all(table)
      .map(({ name, parent }) => [String(name), String(parent)]),
  )
  const countOf = (name: string): number => rowCounts[name] ?? rowCount
  const names = columns.map(({ name }) => `"${String(name)}"`).join(", ")
  const insert = file.prepare(
    `insert into ${table} (${names}) values (${columns.map(() => "?").join(", ")}) on conflict do nothing`,
  )
  for (let row = 1; row <= countOf(table); row += 1) {
    const values = columns.map(({ name, type, required, pk }) => {
      const parent = references.get(String(name))
      if (required === 0 && pk === 0 && parent === undefined && row % 3 === 0) return null
      // Transaction ids are 0: SQLite has none, and PostgreSQL assigns its own.
      if (/(^|_)transaction(_id)?$/.test(String(name))) return 0
      const number = numberOf(row, {
        isOwn: parent === table,
        parentCount: parent === undefined ? undefined : countOf(parent),
      })
      const kind = String(type).toLowerCase()
      if (kind === "integer") return number
      if (kind === "text") return filledText(number)
      const isKey = pk !== 0 || name === "serial_number"
      return isKey ? Buffer.from(`b-${row}`) : bytesOf(`${table} ${row}`, blobBytes[table] ?? usualBlobBytes)
    })
    insert.run(...values)
  }
}

const bytesOf = (text: string, length: number): Buffer =>
  createHash("shake256", { outputLength: length }).update(text).digest()

/** A row refers to the parent with its own number, or with the next number if the parent is in the same table. */
function numberOf(
  row: number,
  { isOwn, parentCount }: { readonly isOwn: boolean; readonly parentCount: number | undefined },
): number {
  if (parentCount === undefined) return row
  return ((isOwn ? row : row - 1) % parentCount) + 1
}
