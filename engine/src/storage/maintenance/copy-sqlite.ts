// SQLite as one side of a copy. The file is opened in exclusive locking mode. This fails while a server has it open, and prevents servers
// from opening it until the copy ends.
import { existsSync } from "node:fs"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { sql } from "kysely"
import {
  bytesOf,
  type Cell,
  type CopiedColumn,
  type CopiedTable,
  keyTerms,
  keyValues,
  pageLimits,
  quoted,
  type Row,
  type TableShape,
} from "./copied-table.ts"
import { beginningCopy, CopyRefused, type CopySource, type CopyTarget } from "./copy-side.ts"
import { unfinishedCopy } from "../schema/migrate.ts"
import { nameNumbers } from "../sql/name-search.ts"
import { isBusy } from "../sqlite/sqlite-connection.ts"

/** Returns the applied migrations; none if the file does not exist. */
export function appliedInSqlite(file: string): readonly string[] {
  if (!existsSync(file)) return []
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  try {
    const tables = texts(database, tableNames)
    if (tables.includes("migrations")) return texts(database, "select name from migrations order by position")
    if (tables.length > 0) throw new CopyRefused(`The file ${file} is a database of another program.`)
    return []
  } finally {
    database.close()
  }
}

export function openSqliteSource(file: string): CopySource {
  return new SqliteEnd(openExclusive(file, "begin immediate", "A running server uses"))
}

/** Opens a database to which `beginSqliteCopy` was applied. */
export function openSqliteTarget(file: string): CopyTarget {
  const database = openExclusive(file, "begin immediate; commit", "Another process uses")
  if (!texts(database, "select name from migrations").includes(unfinishedCopy)) {
    database.close()
    throw new CopyRefused(`Another copy into ${file} has just ended.`)
  }
  database.exec("pragma foreign_keys = off; pragma temp_store = memory")
  return new SqliteEnd(database)
}

/** Deletes rows that migrations inserted: the source has them as well. */
export const beginSqliteCopy = beginningCopy(async (session) => {
  const tables = await session.queryMany(
    sql<{ name: string }>`select name from (${sql.raw(tableNames)}) where name <> 'migrations'`,
  )
  // Cascading foreign keys may delete rows of several tables at once.
  for (const { name } of tables) await session.execute(sql`delete from ${sql.table(name)}`)
})

const tableNames = `select name from pragma_table_list
  where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name`

function openExclusive(file: string, lockSql: string, reason: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec("pragma locking_mode = exclusive; pragma cache_size = -16384")
    database.exec(lockSql)
    return database
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw error
    throw new CopyRefused(`${reason} ${file}; stop it first.`, { cause: error, isTemporary: true })
  }
}

class SqliteEnd implements CopySource, CopyTarget {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async shapes(): Promise<readonly TableShape[]> {
    return texts(this.#database, tableNames).map((name) => this.#shapeOf(name))
  }

  #shapeOf(name: string): TableShape {
    const described = this.#objects(`select name, type, "notnull" as required, pk from pragma_table_info(?)`, name)
    const columns = described.map((column): CopiedColumn => ({
      name: String(column["name"]),
      kind: kindOf(String(column["type"])),
      isNullable: column["required"] === 0 && column["pk"] === 0,
    }))
    const primary = described
      .filter(({ pk }) => pk !== 0)
      .toSorted((one, other) => Number(one["pk"]) - Number(other["pk"]))
      .map((column) => String(column["name"]))
    const unique = this.#objects(
      `select name from pragma_index_list(?) where "unique" = 1 and partial = 0 and origin <> 'pk' order by name`,
      name,
    ).map((index) =>
      this.#objects("select name from pragma_index_info(?) order by seqno", String(index["name"])).map((column) =>
        String(column["name"]),
      ),
    )
    const required = new Set(columns.flatMap((column) => (column.isNullable ? [] : [column.name])))
    const keys = [primary, ...unique].filter((key) => key.length > 0 && key.every((column) => required.has(column)))
    return { name, columns, keys }
  }

  async count({ name }: CopiedTable): Promise<number> {
    return Number(this.#objects(`select count(*) as count from ${quoted(name)}`)[0]?.["count"])
  }

  async page(table: CopiedTable, after: Row | undefined): Promise<readonly Row[]> {
    const terms = keyTerms(table.key, "x''")
    const beyond = after === undefined ? [] : keyValues(table, after)
    const where = after === undefined ? "" : `where (${terms.join(", ")}) > (${beyond.map(() => "?").join(", ")})`
    const statement = this.#database.prepare(
      `${selection(table)} ${where} order by ${terms.join(", ")} limit ${pageLimits.rows}`,
    )
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    const rows: Row[] = []
    let bytes = 0
    for (const row of statement.iterate(...(beyond as SQLInputValue[])) as unknown as Iterable<Row>) {
      rows.push(row)
      bytes += row.reduce((sum: number, cell: Cell) => sum + bytesOf(cell), 0)
      if (bytes >= pageLimits.bytes) break
    }
    return rows
  }

  async lastNumbers(): Promise<ReadonlyMap<string, bigint>> {
    const rows = this.#objects(
      "select name, cast(seq as text) as seq from sqlite_sequence where name <> ?",
      nameNumbers.table,
    )
    return new Map(rows.map(({ name, seq }) => [String(name), BigInt(String(seq))]))
  }

  async lastRow(table: CopiedTable): Promise<Row | undefined> {
    const order = keyTerms(table.key, "x''").map((term) => `${term} desc`)
    const statement = this.#database.prepare(`${selection(table)} order by ${order.join(", ")} limit 1`)
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    return statement.get() as unknown as Row | undefined
  }

  async write({ name, columns }: CopiedTable, rows: readonly Row[]): Promise<void> {
    const names = columns.map((column) => quoted(column.name)).join(", ")
    const insert = this.#database.prepare(
      `insert into ${quoted(name)} (${names}) values (${columns.map(() => "?").join(", ")})`,
    )
    this.#atOnce(() => {
      for (const row of rows) insert.run(...(row as SQLInputValue[]))
    })
  }

  async finish(lastNumbers: ReadonlyMap<string, bigint>): Promise<void> {
    const broken = this.#objects('select "table" as name from pragma_foreign_key_check limit 1')[0]
    if (broken !== undefined)
      throw new CopyRefused(`Rows of the table ${String(broken["name"])} refer to missing rows.`)
    this.#atOnce(() => {
      for (const derived of texts(this.#database, virtualTables)) {
        if (derived !== nameNumbers.derived) throw new Error(`no rule derives ${derived}`)
        this.#database.exec(nameNumbers.derive)
      }
      const numbered = this.#database.prepare("update sqlite_sequence set seq = max(seq, ?) where name = ?")
      for (const [name, last] of lastNumbers) {
        if (numbered.run(last, name).changes === 0 && this.#isNumbered(name))
          this.#database.prepare("insert into sqlite_sequence (name, seq) values (?, ?)").run(name, last)
      }
      this.#database.prepare("delete from migrations where name = ?").run(unfinishedCopy)
    })
  }

  /** Returns true for an `autoincrement` table. It gets its row in `sqlite_sequence` with its first number. */
  #isNumbered(name: string): boolean {
    const [table] = this.#objects("select sql from sqlite_schema where type = 'table' and name = ?", name)
    return /\bautoincrement\b/i.test(String(table?.["sql"]))
  }

  #atOnce(work: () => void): void {
    this.#database.exec("begin immediate")
    try {
      work()
      this.#database.exec("commit")
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("rollback")
      throw error
    }
  }

  #objects(query: string, ...values: readonly string[]): Record<string, unknown>[] {
    return this.#database.prepare(query).all(...values)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#database.close()
  }
}

const selection = ({ name, columns }: CopiedTable): string =>
  `select ${columns.map((column) => quoted(column.name)).join(", ")} from ${quoted(name)}`

const virtualTables = "select name from pragma_table_list where schema = 'main' and type = 'virtual'"

function kindOf(type: string): CopiedColumn["kind"] {
  const kind = ({ TEXT: "text", INTEGER: "integer", INT: "integer", BLOB: "blob" } as const)[type.toUpperCase()]
  if (kind === undefined) throw new CopyRefused(`A column has the type ${type}, which Chancery does not use.`)
  return kind
}

const texts = (database: DatabaseSync, query: string): string[] =>
  database
    .prepare(query)
    .all()
    .map((row) => String(Object.values(row)[0]))
