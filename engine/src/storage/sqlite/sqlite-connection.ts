// One connection to a SQLite file: settings, prepared statements, and the translation of errors.
import { LRUCache } from "lru-cache"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { busy, storeFull } from "../../core/errors.ts"
import type { BackendOptions } from "../sql/backend.ts"
import { backOff } from "../sql/retry-backoff.ts"
import { ReferenceViolation, UniqueViolation } from "../sql/query-runner.ts"
import { UnusableStore } from "../sql/unusable-store.ts"

export const memory = ":memory:"
/** About five seconds, with the delays of `backOff`. */
export const defaultAttempts = 80
const cachedStatements = 512

/**
 * Query that returns arrays of cells. The driver's row objects are in dictionary mode: making and reading one takes twice as long as making
 * our own from an array.
 */
interface PreparedQuery {
  readonly statement: StatementSync
  columns: readonly string[]
}

export class SqliteConnection {
  readonly #database: DatabaseSync
  readonly #questions = new LRUCache<string, PreparedQuery>({ max: cachedStatements })
  readonly #changes = new LRUCache<string, StatementSync>({ max: cachedStatements })

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  all(text: string, values: readonly SQLInputValue[]): Record<string, unknown>[] {
    const question = this.#cached(this.#questions, text, asQuestion)
    return cellsOf(question.statement.all(...values)).map((cells) => rowOf(columnsOf(question, cells), cells))
  }

  first(text: string, values: readonly SQLInputValue[]): Record<string, unknown> | undefined {
    const question = this.#cached(this.#questions, text, asQuestion)
    const cells = question.statement.get(...values) as unknown as readonly unknown[] | undefined
    return cells && rowOf(columnsOf(question, cells), cells)
  }

  /**
   * Executes a statement and returns the number of changed rows. Reads big integers because the driver also reads the last row id. The name
   * index has row ids above 2^53 (its marks of deleted names), for which a plain number would throw after the statement was executed.
   */
  change(text: string, values: readonly SQLInputValue[]): number {
    const statement = this.#cached(this.#changes, text, asChange)
    return Number(statement.run(...values).changes)
  }

  #cached<T extends object>(known: LRUCache<string, T>, text: string, setUp: (statement: StatementSync) => T): T {
    const cached = known.get(text)
    if (cached !== undefined) return cached
    const made = setUp(this.#database.prepare(text))
    known.set(text, made)
    return made
  }

  /** Returns the number of pages in the write-ahead log. Must not be called in a transaction. */
  loggedPages(): number {
    return Number(this.first("pragma wal_checkpoint(noop)", [])?.["log"])
  }

  /** Sets whether a commit also moves pages from the log into the file once there are many. */
  checkpointAlone(alone: boolean): void {
    if (this.#database.isOpen) this.#database.exec(`pragma wal_autocheckpoint = ${alone ? logPages : 0}`)
  }

  command(text: string): void {
    this.change(text, [])
  }

  close(): void {
    this.#questions.clear()
    this.#changes.clear()
    this.#database.close()
  }
}

function asQuestion(statement: StatementSync): PreparedQuery {
  statement.setReturnArrays(true)
  return { statement, columns: namesOf(statement) }
}

function asChange(statement: StatementSync): StatementSync {
  statement.setReadBigInts(true)
  return statement
}

const namesOf = (statement: StatementSync): readonly string[] => statement.columns().map(({ name }) => name)

const cellsOf = (rows: unknown): readonly (readonly unknown[])[] => rows as readonly (readonly unknown[])[]

/** Returns the names of the columns, read again if `select *` returns more of them after a migration. */
function columnsOf(question: PreparedQuery, cells: readonly unknown[]): readonly string[] {
  if (cells.length !== question.columns.length) question.columns = namesOf(question.statement)
  return question.columns
}

const templates = new WeakMap<readonly string[], Readonly<Record<string, unknown>>>()

/**
 * Makes a row by copying a template of the same shape. Built member by member, a large object would be in dictionary mode, several times
 * slower to make and to read. `columns` must be the same array for all rows of a statement.
 */
function rowOf(columns: readonly string[], cells: readonly unknown[]): Record<string, unknown> {
  let template = templates.get(columns)
  if (template === undefined) {
    template = JSON.parse(JSON.stringify(Object.fromEntries(columns.map((column) => [column, null])))) as Record<
      string,
      unknown
    >
    templates.set(columns, template)
  }
  const row = { ...template }
  for (let index = 0; index < columns.length; index += 1) row[columns[index] ?? ""] = cells[index]
  return row
}

/**
 * Pages of the write-ahead log at which the writer itself checkpoints. The commit that does so waits for the disk, so it should be rare.
 */
const logPages = 4_000

// `WriteAheadSync` makes commits durable. `cache_size` is in KiB. Each commit walks the writer's whole cache, which costs as much as ten
// inserts at 16 MiB. No memory map: its pages would count as memory of the server.
const pragmas: Record<"writer" | "reader", readonly string[]> = {
  writer: [
    "journal_mode = wal",
    "synchronous = normal",
    "foreign_keys = on",
    "cache_size = -4096",
    "temp_store = memory",
    `wal_autocheckpoint = ${logPages}`,
    "journal_size_limit = 67108864",
    "trusted_schema = off",
  ],
  reader: ["cache_size = -8192", "temp_store = memory", "trusted_schema = off"],
}

export async function openConnection(
  path: string,
  kind: "writer" | "reader",
  { random, attempts, image, freePages }: Omit<BackendOptions, "metrics">,
): Promise<SqliteConnection> {
  for (let attempt = 1; ; attempt += 1) {
    const database = new DatabaseSync(path, { readOnly: kind === "reader", timeout: 0 })
    try {
      if (path === memory && image !== undefined) database.deserialize(image)
      for (const pragma of pragmas[kind]) database.exec(`pragma ${pragma}`)
      if (kind === "writer" && path !== memory) rejectWithoutLog(database)
      if (kind === "writer" && freePages !== undefined) limitPages(database, freePages)
      return new SqliteConnection(database)
    } catch (error) {
      database.close()
      if (!isBusy(error)) throw error
      if (attempt >= (attempts ?? defaultAttempts)) throw busyDatabase(error)
      await backOff(attempt, random)
    }
  }
}

function limitPages(database: DatabaseSync, freePages: number): void {
  const count = Number(database.prepare("pragma page_count").get()?.["page_count"])
  database.exec(`pragma max_page_count = ${count + freePages}`)
}

/** Throws `UnusableStore` if SQLite fell back to a rollback journal, which `WriteAheadSync` would not sync. */
function rejectWithoutLog(database: DatabaseSync): void {
  if (database.prepare("pragma journal_mode").get()?.["journal_mode"] === "wal") return
  throw new UnusableStore(
    "The database cannot use a write-ahead log in its folder, as on some network drives; move it to a local disk.",
  )
}

const primaryCodeMask = 0xff
const busyCode = 5
const fullCode = 13
const foreignKeyCode = 787
const uniqueCodes = [1555, 2067, 2579]

const errorCode = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : 0

export const isBusy = (error: unknown): boolean => (errorCode(error) & primaryCodeMask) === busyCode

export function translated(error: unknown): unknown {
  const code = errorCode(error)
  if (uniqueCodes.includes(code)) {
    return new UniqueViolation((error as Error).message.replace(/^.*failed: /, ""), { cause: error })
  }
  if ((code & primaryCodeMask) === fullCode) return storeFull(error)
  return code === foreignKeyCode ? new ReferenceViolation({ cause: error }) : error
}

export const busyDatabase = (cause: unknown) => busy("The database is in use by another process.", cause)
