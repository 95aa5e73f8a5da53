// Embedded storage: one writer connection per file and process, a few read-only ones beside it (WAL), and group commit.
// Queued works run one after another as savepoints inside one `begin immediate` and hear of success and failure alike
// only after the shared commit is on disk: a failure, too, may rest on what an earlier work of the batch wrote.
// `busy_timeout` is 0: waiting inside SQLite would stop the event loop that the holder of the lock may need.
import { closeSync, mkdirSync, openSync, realpathSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { setImmediate as nextTurn } from "node:timers/promises"
import { busy } from "../core/errors.ts"
import { noStorageActivity, type StorageActivity } from "../core/storage-activity.ts"
import { type Backend, type BackendOptions, defaultLongestWorkMs } from "./backend.ts"
import { backOff } from "./backoff.ts"
import type { Bound } from "./dialect.ts"
import { InternedRows, rowOf } from "./interned-rows.ts"
import { ReferenceViolation, UniqueViolation, type Session } from "./session.ts"
import { UnitOfWork, type Fetch } from "./unit-of-work.ts"

const memory = ":memory:"
const largestBatch = 256
const defaultReaders = 4
/** With the delays of `backOff`, about five seconds. */
const defaultAttempts = 80
const cachedStatements = 512

/** Opens the file, creating it (0600, in a folder made 0700). Everyone in this process who opens it shares one writer. */
export async function openSqlite(path: string, options: BackendOptions): Promise<Backend> {
  if (path === memory) return new SqliteStore(await openConnection(memory, "writer", options), [], options)
  const file = createPrivately(path)
  const shared = openFiles.get(file) ?? { users: 0, store: openFile(file, options) }
  openFiles.set(file, shared)
  shared.users += 1
  const leave = async () => {
    shared.users -= 1
    if (shared.users > 0) return
    openFiles.delete(file)
    await (await shared.store).close()
  }
  try {
    const store = await shared.store
    return new SharedStore(store, leave)
  } catch (error) {
    openFiles.delete(file)
    throw error
  }
}

const openFiles = new Map<string, { users: number; readonly store: Promise<SqliteStore> }>()

async function openFile(file: string, options: BackendOptions): Promise<SqliteStore> {
  const writer = await openConnection(file, "writer", options)
  const readers = Array.from({ length: options.connections ?? defaultReaders }, () =>
    openConnection(file, "reader", options),
  )
  return new SqliteStore(writer, await Promise.all(readers), options)
}

/** One opener's hold on a store that others may hold too. */
class SharedStore implements Backend {
  readonly dialect = "sqlite"
  readonly activity: StorageActivity
  readonly #store: SqliteStore
  readonly #leave: () => Promise<void>
  #closed: Promise<void> | undefined

  constructor(store: SqliteStore, leave: () => Promise<void>) {
    this.#store = store
    this.activity = store.activity
    this.#leave = leave
  }

  async read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError()
    return this.#store.read(work)
  }

  async transact<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError()
    return this.#store.transact(work)
  }

  exclusively<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.transact(work)
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#leave())
  }
}

interface Job {
  readonly queuedAt: number
  readonly work: (session: Session) => Promise<unknown>
  readonly readOnly: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

class SqliteStore implements Backend {
  readonly dialect = "sqlite"
  readonly activity = noStorageActivity()
  readonly #options: BackendOptions
  readonly #writer: Connection
  readonly #queue: Job[] = []
  #drained: Promise<void> | undefined
  /** None in memory, where a second connection would see another database: reads queue with the writes. */
  readonly #readers: readonly Connection[]
  readonly #idle: Connection[]
  readonly #waiting: ((reader: Connection) => void)[] = []
  #closed = false

  constructor(writer: Connection, readers: readonly Connection[], options: BackendOptions) {
    this.#writer = writer
    this.#readers = readers
    this.#idle = [...readers]
    this.#options = options
  }

  transact<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#enqueue(work, false)
  }

  exclusively<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.transact(work)
  }

  async read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#readers.length === 0) return this.#enqueue(work, true)
    if (this.#closed) throw closedError()
    const reader = this.#idle.pop() ?? (await this.#nextReader())
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await snapshot(reader, work)
        } catch (error) {
          // Another process may be recovering the write-ahead log or leaving it.
          if (!isBusy(error)) throw error
          if (attempt >= (this.#options.attempts ?? defaultAttempts)) throw busyDatabase(error)
          this.activity.retryCount += 1
          await backOff(attempt, this.#options.random)
        }
      }
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#idle.push(reader)
      else next(reader)
    }
  }

  async #nextReader(): Promise<Connection> {
    const { read } = this.activity
    const began = this.#options.stopwatch()
    read.waitingCount += 1
    const reader = await new Promise<Connection>((resolve) => this.#waiting.push(resolve))
    read.waitingCount -= 1
    read.waitedMs += this.#options.stopwatch() - began
    return reader
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#drained
    while (this.#idle.length < this.#readers.length) await nextTurn()
    for (const reader of this.#readers) reader.close()
    this.#writer.close()
  }

  #enqueue<T>(work: (session: Session) => Promise<T>, readOnly: boolean): Promise<T> {
    if (this.#closed) return Promise.reject(closedError())
    return new Promise<unknown>((resolve, reject) => {
      this.#queue.push({ work, readOnly, resolve, reject, queuedAt: this.#options.stopwatch() })
      this.#activityOf(readOnly).waitingCount += 1
      // At the end of this turn, so that all its requests share one commit.
      this.#drained ??= nextTurn().then(() => this.#drain())
    }) as Promise<T>
  }

  #activityOf(readOnly: boolean) {
    return readOnly ? this.activity.read : this.activity.write
  }

  #nextJob(): Job | undefined {
    const job = this.#queue.shift()
    if (job === undefined) return undefined
    const units = this.#activityOf(job.readOnly)
    units.waitingCount -= 1
    units.waitedMs += this.#options.stopwatch() - job.queuedAt
    return job
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#commitBatch()
      await nextTurn()
    }
    this.#drained = undefined
  }

  async #commitBatch(): Promise<void> {
    try {
      await this.#begin()
    } catch (error) {
      for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) job.reject(error)
      return
    }
    const taken: Job[] = []
    const settlements: (() => void)[] = []
    // A work that waits only for its session is done before a timer can fire, however many there are in the batch.
    const patience = { ...Promise.withResolvers<never>(), over: false }
    const timer = setTimeout(() => {
      patience.over = true
      patience.reject(new Error("a unit of work waited too long for something other than its session"))
    }, this.#options.longestWorkMs ?? defaultLongestWorkMs)
    patience.promise.catch(() => {})
    try {
      for (let count = 0; count < largestBatch && this.#writer.inTransaction && !patience.over; count += 1) {
        const job = this.#nextJob()
        if (job === undefined) break
        taken.push(job)
        settlements.push(await this.#attempt(job, patience.promise))
      }
      this.#writer.command("commit")
      this.activity.commitCount += 1
    } catch (error) {
      if (this.#writer.inTransaction) this.#writer.command("rollback")
      // Also the one whose attempt could not even be undone: nobody is left waiting.
      for (const job of taken) job.reject(error)
      return
    } finally {
      clearTimeout(timer)
    }
    for (const settle of settlements) settle()
  }

  async #begin(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#writer.command("begin immediate")
        return
      } catch (error) {
        if (!isBusy(error)) throw error
        if (attempt >= (this.#options.attempts ?? defaultAttempts)) throw busyDatabase(error)
        this.activity.retryCount += 1
        await backOff(attempt, this.#options.random)
      }
    }
  }

  async #attempt(job: Job, patience: Promise<never>): Promise<() => void> {
    const writer = this.#writer
    writer.command("savepoint work")
    if (job.readOnly) writer.command("pragma query_only = on")
    const session = new SqliteSession(writer)
    try {
      const value = await Promise.race([job.work(session), patience])
      if (session.failure !== undefined) throw session.failure.error
      writer.command("release work")
      return () => job.resolve(value)
    } catch (error) {
      // A full disk or an I/O error undoes the whole batch by itself; then the commit fails, and everyone hears of it.
      if (writer.inTransaction) {
        writer.command("rollback to work")
        writer.command("release work")
      }
      return () => job.reject(error)
    } finally {
      session.settle()
      if (job.readOnly) writer.command("pragma query_only = off")
    }
  }
}

async function snapshot<T>(reader: Connection, work: (session: Session) => Promise<T>): Promise<T> {
  const session = new SqliteSession(reader)
  reader.command("begin")
  try {
    const value = await work(session)
    if (session.failure !== undefined) throw session.failure.error
    return value
  } finally {
    session.settle()
    if (reader.inTransaction) reader.command("commit")
  }
}

class SqliteSession extends UnitOfWork {
  readonly #connection: Connection

  constructor(connection: Connection) {
    super("sqlite")
    this.#connection = connection
  }

  protected override execute(fetch: Fetch, { text, values, interned }: Bound): unknown {
    const parameters = values.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)) as SQLInputValue[]
    try {
      if (interned) {
        const rows = this.#connection.internedRows(text, parameters)
        return fetch === "all" ? rows : rows[0]
      }
      if (fetch === "all") return this.#connection.prepare(text).all(...parameters)
      if (fetch === "first") return this.#connection.prepare(text).get(...parameters)
      return this.#connection.change(text, parameters)
    } catch (error) {
      throw translated(error)
    }
  }
}

class Connection {
  readonly #database: DatabaseSync
  /** What a writer reads it is about to change: remembering that would be work for nothing. */
  readonly #interns: boolean
  readonly #statements = new Map<string, StatementSync>()
  readonly #changes = new Map<string, StatementSync>()
  /** There are few of them, and they are never dropped. */
  readonly #interned = new Map<string, { readonly statement: StatementSync; readonly columns: readonly string[] }>()
  readonly #rows = new InternedRows()

  constructor(database: DatabaseSync, kind: "writer" | "reader") {
    this.#database = database
    this.#interns = kind === "reader"
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  prepare(text: string): StatementSync {
    return this.#cached(this.#statements, text)
  }

  /**
   * How many rows the statement changed. With every such answer SQLite also tells the last row id, and the name index has row
   * ids above 2^53 of its own (the marks of deleted names), for which a plain number would throw after the work was done.
   */
  change(text: string, values: readonly SQLInputValue[]): number {
    const statement = this.#cached(this.#changes, text, (made) => made.setReadBigInts(true))
    return Number(statement.run(...values).changes)
  }

  #cached(
    statements: Map<string, StatementSync>,
    text: string,
    setUp: (statement: StatementSync) => void = () => {},
  ): StatementSync {
    const known = statements.get(text)
    if (known !== undefined) return known
    const statement = this.#database.prepare(text)
    setUp(statement)
    if (statements.size >= cachedStatements) {
      for (const oldest of statements.keys()) {
        statements.delete(oldest)
        break
      }
    }
    statements.set(text, statement)
    return statement
  }

  internedRows(text: string, values: readonly SQLInputValue[]): readonly object[] {
    let known = this.#interned.get(text)
    if (known === undefined) {
      const statement = this.#database.prepare(text)
      statement.setReturnArrays(true)
      known = { statement, columns: statement.columns().map(({ name }) => name) }
      this.#interned.set(text, known)
    }
    const cells = known.statement.all(...values) as unknown as readonly (readonly unknown[])[]
    const { columns } = known
    return this.#interns ? this.#rows.rowsOf(text, values, columns, cells) : cells.map((row) => rowOf(columns, row))
  }

  command(text: string): void {
    this.change(text, [])
  }

  close(): void {
    this.#statements.clear()
    this.#changes.clear()
    this.#interned.clear()
    this.#database.close()
  }
}

// Caches are in KiB. No memory map: its pages would count as the server's memory.
const pragmas: Record<"writer" | "reader", readonly string[]> = {
  writer: [
    "journal_mode = wal",
    "synchronous = full",
    "foreign_keys = on",
    "cache_size = -16384",
    "temp_store = memory",
    "wal_autocheckpoint = 4000",
    "journal_size_limit = 67108864",
    "trusted_schema = off",
  ],
  reader: ["cache_size = -8192", "temp_store = memory", "trusted_schema = off"],
}

async function openConnection(
  path: string,
  kind: "writer" | "reader",
  { random, attempts }: BackendOptions,
): Promise<Connection> {
  for (let attempt = 1; ; attempt += 1) {
    const database = new DatabaseSync(path, { readOnly: kind === "reader", timeout: 0 })
    try {
      for (const pragma of pragmas[kind]) database.exec(`pragma ${pragma}`)
      return new Connection(database, kind)
    } catch (error) {
      database.close()
      if (!isBusy(error)) throw error
      if (attempt >= (attempts ?? defaultAttempts)) throw busyDatabase(error)
      await backOff(attempt, random)
    }
  }
}

function createPrivately(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, "a", 0o600))
  return realpathSync(path)
}

const primaryCodeMask = 0xff
const busyCode = 5
const foreignKeyCode = 787
const uniqueCodes = [1555, 2067, 2579]

const errorCode = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : 0

const isBusy = (error: unknown): boolean => (errorCode(error) & primaryCodeMask) === busyCode

function translated(error: unknown): unknown {
  const code = errorCode(error)
  if (uniqueCodes.includes(code)) {
    return new UniqueViolation((error as Error).message.replace(/^.*failed: /, ""), { cause: error })
  }
  return code === foreignKeyCode ? new ReferenceViolation({ cause: error }) : error
}

const busyDatabase = (cause: unknown) => busy("The database is in use by another process.", cause)
const closedError = () => new Error("the database is closed")
