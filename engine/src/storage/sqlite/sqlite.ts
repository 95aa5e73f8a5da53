// Embedded storage: one writer connection per file and process, a few read-only connections (WAL), and group commit
// (docs/decisions/sqlite-group-commit.md).
// Queued units of work run one after another inside one `begin immediate`. Each gets its result or error only after the shared commit is on
// disk: an error, too, may depend on what an earlier unit wrote. A read that may have seen the commit waits for the disk as well. The disk
// never blocks the thread.
// A savepoint around each unit costs as much as two of its inserts, and few units fail after a write. Only then is the batch rolled back
// and run again with savepoints.
// `busy_timeout` is 0: waiting inside SQLite would block the event loop, which the holder of the lock may need.
import { closeSync, mkdirSync, openSync, realpathSync } from "node:fs"
import { dirname } from "node:path"
import type { SQLInputValue } from "node:sqlite"
import { isStoreFull, outOfService } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import type { Span } from "../../core/tracing.ts"
import { type Backend, type BackendOptions, type BackendTransactOptions, defaultLongestWorkMs } from "../sql/backend.ts"
import { backOff } from "../sql/retry-backoff.ts"
import type { Bound } from "../sql/dialect.ts"
import { Checkpointer } from "./checkpointer.ts"
import type { QueryRunner } from "../sql/query-runner.ts"
import {
  busyDatabase,
  defaultAttempts,
  isBusy,
  memory,
  openConnection,
  type SqliteConnection,
  translated,
} from "./sqlite-connection.ts"
import type { UnitKind } from "../sql/storage-metrics.ts"
import { commitSpan } from "../sql/traced-backend.ts"
import { UnitOfWork, type Fetch } from "../sql/unit-of-work.ts"
import { syncFile, WriteAheadSync } from "./write-ahead-sync.ts"

const largestBatch = 256
const defaultReaders = 4

/** Opens the file, creating it with mode 0600 in a folder with mode 0700. All openers in this process share one writer. */
export async function openSqlite(path: string, options: BackendOptions): Promise<Backend> {
  if (path === memory) return new SqliteStore(await openConnection(memory, "writer", options), [], undefined, options)
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

/** Opens an existing file for reading only, while other connections may have it open. Creates no file. */
export async function openSqliteReader(
  path: string,
  options: BackendOptions,
): Promise<Pick<Backend, "dialect" | "read"> & AsyncDisposable> {
  const reader = await openConnection(path, "reader", options)
  return {
    dialect: "sqlite",
    read: (work) => untilReadable(() => snapshot(reader, work), options),
    [Symbol.asyncDispose]: async () => reader.close(),
  }
}

const openFiles = new Map<string, { users: number; readonly store: Promise<SqliteStore> }>()

async function openFile(file: string, options: BackendOptions): Promise<SqliteStore> {
  const writer = await openConnection(file, "writer", options)
  const readers = Array.from({ length: options.connections ?? defaultReaders }, () =>
    openConnection(file, "reader", options),
  )
  return new SqliteStore(writer, await Promise.all(readers), file, options)
}

/** Handle of one opener on a database that is shared in this process. Closing the last handle closes the database. */
class SharedStore implements Backend {
  readonly dialect = "sqlite"
  readonly #store: SqliteStore
  readonly #leave: () => Promise<void>
  #closed: Promise<void> | undefined

  constructor(store: SqliteStore, leave: () => Promise<void>) {
    this.#store = store
    this.#leave = leave
  }

  get commitCount(): number {
    return this.#store.commitCount
  }

  // Not async: the calls that pass through here need no further promise.
  read<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#closed === undefined ? this.#store.read(work) : Promise.reject(closedError())
  }

  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#closed === undefined ? this.#store.readSingle(work) : Promise.reject(closedError())
  }

  transact<T>(work: (session: QueryRunner) => Promise<T>, options?: BackendTransactOptions): Promise<T> {
    return this.#closed === undefined ? this.#store.transact(work, options) : Promise.reject(closedError())
  }

  exclusively<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.transact(work)
  }

  alter<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.transact(work)
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#leave())
  }
}

interface Job {
  readonly queuedAt: number
  readonly work: (session: QueryRunner) => Promise<unknown>
  readonly readOnly: boolean
  readonly span: Span | undefined
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Result of running a job in a batch. */
interface Attempt {
  readonly settle: () => void
  /** True if the job wrote something to be committed. */
  readonly hasWritten: boolean
  /** True if the job failed and left writes that no savepoint has undone. */
  readonly leavesWrites: boolean
  /** Error of a full disk. */
  readonly full: unknown
}

/** Time limit of a batch. */
interface BatchDeadline {
  over: boolean
  /** Rejects the running unit of work. */
  giveUp: (error: Error) => void
}

/** Cheaper than a race with one promise for the whole batch, which would take longer than most units of work do. */
const inTime = <T>(work: Promise<T>, deadline: BatchDeadline): Promise<T> =>
  new Promise((resolve, reject) => {
    deadline.giveUp = reject
    work.then(resolve, reject)
  })

/** Batch that is committed but not on disk yet, so that its jobs are not settled. */
interface Batch {
  readonly taken: readonly Job[]
  readonly settlements: readonly (() => void)[]
  readonly commit: Span | undefined
}

class SqliteStore implements Backend {
  readonly dialect = "sqlite"
  commitCount = 0
  readonly #options: BackendOptions
  readonly #writer: SqliteConnection
  readonly #queue: Job[] = []
  /** True if the next batch needs savepoints, because the previous one was rolled back for lack of them. */
  #guarded = false
  #drained: Promise<void> | undefined
  /** Empty for memory, where a second connection would see another database: reads queue with the writes. */
  readonly #readers: readonly SqliteConnection[]
  readonly #idle: SqliteConnection[]
  readonly #waiting: ((reader: SqliteConnection) => void)[] = []
  readonly #disk: { readonly log: WriteAheadSync; readonly checkpointer: Checkpointer | undefined } | undefined
  /** Pending from a commit until it is on disk. */
  #syncing: Promise<void> | undefined
  #unsyncable: { readonly cause: unknown } | undefined
  #closed = false

  constructor(
    writer: SqliteConnection,
    readers: readonly SqliteConnection[],
    file: string | undefined,
    options: BackendOptions,
  ) {
    this.#writer = writer
    this.#readers = readers
    this.#idle = [...readers]
    this.#options = options
    this.#disk = file === undefined ? undefined : diskOf(file, writer, options)
  }

  /** Ignores the isolation: there is one writer, so every transaction is serializable. */
  transact<T>(work: (session: QueryRunner) => Promise<T>, { span }: BackendTransactOptions = {}): Promise<T> {
    return this.#enqueue(work, false, span)
  }

  exclusively<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.transact(work)
  }

  alter<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.transact(work)
  }

  read<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#read(work, snapshot)
  }

  // One query needs no explicit transaction.
  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#read(work, single)
  }

  async #read<T>(work: (session: QueryRunner) => Promise<T>, run: typeof snapshot): Promise<T> {
    if (this.#readers.length === 0) return this.#enqueue(work, true)
    this.#rejectUnusable()
    try {
      return await this.#withReader((reader) => run(reader, work))
    } finally {
      if (this.#syncing !== undefined) await this.#syncing
    }
  }

  async #withReader<T>(read: (reader: SqliteConnection) => Promise<T>): Promise<T> {
    const reader = this.#idle.pop() ?? (await this.#nextReader())
    try {
      return await untilReadable(() => read(reader), this.#options)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#idle.push(reader)
      else next(reader)
    }
  }

  async #nextReader(): Promise<SqliteConnection> {
    const began = this.#options.stopwatch()
    this.#waits("read")
    const reader = await new Promise<SqliteConnection>((resolve) => this.#waiting.push(resolve))
    this.#waited("read", began)
    return reader
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#drained
    while (this.#idle.length < this.#readers.length) await nextTurn()
    await this.#disk?.checkpointer?.close()
    this.#disk?.log.close()
    for (const reader of this.#readers) reader.close()
    this.#writer.close()
  }

  #enqueue<T>(work: (session: QueryRunner) => Promise<T>, readOnly: boolean, span?: Span): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      this.#rejectUnusable()
      this.#queue.push({ work, readOnly, span, resolve, reject, queuedAt: this.#options.stopwatch() })
      this.#waits(kindOf(readOnly))
      this.#drained ??= this.#drain()
    }) as Promise<T>
  }

  #rejectUnusable(): void {
    if (this.#closed) throw closedError()
    if (this.#unsyncable !== undefined) throw unsyncable(this.#unsyncable.cause)
  }

  #waits(kind: UnitKind): void {
    this.#options.metrics.waiting.add(1, { kind })
  }

  #waited(kind: UnitKind, began: number): void {
    const { metrics, stopwatch } = this.#options
    metrics.waiting.add(-1, { kind })
    metrics.waitSeconds.add((stopwatch() - began) / secondMs, { kind })
  }

  #nextJob(): Job | undefined {
    const job = this.#queue.shift()
    if (job === undefined) return undefined
    this.#waited(kindOf(job.readOnly), job.queuedAt)
    return job
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // All requests of this turn share one commit.
      await nextTurn()
      const batch = await this.#commitBatch()
      // The next batch gathers during the sync, so that a slower disk makes more units of work share a commit.
      if (batch !== undefined) await this.#settleOnDisk(batch)
      const quiet = this.#disk?.checkpointer?.committed()
      if (quiet !== undefined) await quiet
    }
    this.#drained = undefined
  }

  async #settleOnDisk({ taken, settlements, commit }: Batch): Promise<void> {
    if (this.#disk !== undefined) {
      try {
        await (this.#syncing = this.#disk.log.synced())
      } catch (cause) {
        // It is unknown how much of the log is on disk. A later sync would not report it, because a failed sync forgets the unwritten
        // pages.
        this.#unsyncable = { cause }
        const error = unsyncable(cause)
        commit?.fail(error)
        commit?.end()
        for (const job of taken) job.reject(error)
        this.#rejectQueued(error)
        return
      } finally {
        this.#syncing = undefined
      }
    }
    commit?.end()
    for (const settle of settlements) settle()
  }

  #rejectQueued(error: unknown): void {
    for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) job.reject(error)
  }

  /** Puts the jobs back at the head of the queue, to run with savepoints. */
  #queueAgain(taken: readonly Job[]): void {
    this.#guarded = true
    this.#queue.unshift(...taken.map((job) => ({ ...job, queuedAt: this.#options.stopwatch() })))
    for (const { readOnly } of taken) this.#waits(kindOf(readOnly))
  }

  /** Returns undefined if nothing was committed: each job has got its error or is queued again. */
  async #commitBatch(): Promise<Batch | undefined> {
    try {
      await this.#begin()
    } catch (error) {
      this.#rejectQueued(error)
      return undefined
    }
    const guarded = this.#guarded
    this.#guarded = false
    const taken: Job[] = []
    const settlements: (() => void)[] = []
    let hasWritten = false
    let full: unknown
    let commit: Span | undefined
    // A unit of work that awaits only its session completes before a timer can fire, whatever the size of the batch.
    const deadline: BatchDeadline = { over: false, giveUp() {} }
    const timer = setTimeout(() => {
      deadline.over = true
      deadline.giveUp(new Error("a unit of work waited too long for something other than its session"))
    }, this.#options.longestWorkMs ?? defaultLongestWorkMs)
    try {
      for (let count = 0; count < largestBatch && this.#writer.inTransaction && !deadline.over; count += 1) {
        const job = this.#nextJob()
        if (job === undefined) break
        taken.push(job)
        const attempt = await this.#attempt(job, deadline, guarded)
        full ??= attempt.full
        if (attempt.leavesWrites) {
          this.#writer.command("rollback")
          if (hasWritten) {
            this.#queueAgain(taken)
            return undefined
          }
          await this.#begin()
        }
        hasWritten ||= attempt.hasWritten
        settlements.push(attempt.settle)
      }
      commit = commitSpan("sqlite", taken)
      this.#writer.command("commit")
      this.commitCount += 1
    } catch (error) {
      commit?.fail(error)
      commit?.end()
      if (this.#writer.inTransaction) this.#writer.command("rollback")
      // This includes a job whose writes could not be undone, so that all callers get an answer. After a full disk ended the transaction,
      // the error of the commit only reports that there is none; `full` has the cause.
      for (const job of taken) job.reject(full ?? translated(error))
      return undefined
    } finally {
      clearTimeout(timer)
    }
    return { taken, settlements, commit }
  }

  async #begin(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#writer.command("begin immediate")
        return
      } catch (error) {
        if (!isBusy(error)) throw translated(error)
        if (attempt >= (this.#options.attempts ?? defaultAttempts)) throw busyDatabase(error)
        this.#options.metrics.retries.add(1)
        await backOff(attempt, this.#options.random)
      }
    }
  }

  async #attempt(job: Job, deadline: BatchDeadline, guarded: boolean): Promise<Attempt> {
    const writer = this.#writer
    if (guarded) writer.command("savepoint work")
    if (job.readOnly) writer.command("pragma query_only = on")
    const session = new SqliteSession(writer)
    try {
      const value = await inTime(job.work(session), deadline)
      if (session.failure !== undefined) throw session.failure.error
      if (guarded) writer.command("release work")
      return { settle: () => job.resolve(value), hasWritten: session.hasWritten, leavesWrites: false, full: undefined }
    } catch (error) {
      // A full disk or an I/O error rolls back the whole batch. The commit then fails, and all jobs of the batch are rejected.
      if (guarded && writer.inTransaction) {
        writer.command("rollback to work")
        writer.command("release work")
      }
      const leavesWrites = !guarded && session.hasWritten && writer.inTransaction
      return {
        settle: () => job.reject(error),
        hasWritten: false,
        leavesWrites,
        full: isStoreFull(session.failure?.error) ? session.failure?.error : undefined,
      }
    } finally {
      session.settle()
      if (job.readOnly) writer.command("pragma query_only = off")
    }
  }
}

const kindOf = (readOnly: boolean): UnitKind => (readOnly ? "read" : "write")

async function untilReadable<T>(
  read: () => Promise<T>,
  { attempts = defaultAttempts, random, metrics }: BackendOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read()
    } catch (error) {
      // Another process may be recovering the write-ahead log or closing it.
      if (!isBusy(error)) throw error
      if (attempt >= attempts) throw busyDatabase(error)
      metrics.retries.add(1)
      await backOff(attempt, random)
    }
  }
}

async function snapshot<T>(reader: SqliteConnection, work: (session: QueryRunner) => Promise<T>): Promise<T> {
  reader.command("begin")
  try {
    return await single(reader, work)
  } finally {
    if (reader.inTransaction) reader.command("commit")
  }
}

async function single<T>(reader: SqliteConnection, work: (session: QueryRunner) => Promise<T>): Promise<T> {
  const session = new SqliteSession(reader)
  try {
    const value = await work(session)
    if (session.failure !== undefined) throw session.failure.error
    return value
  } finally {
    session.settle()
  }
}

class SqliteSession extends UnitOfWork {
  readonly #connection: SqliteConnection
  /** True once a statement other than a `select` has succeeded. A failed statement undoes its own changes. */
  hasWritten = false

  constructor(connection: SqliteConnection) {
    super("sqlite")
    this.#connection = connection
  }

  protected override fetchBound(fetch: Fetch, { text, values }: Bound): unknown {
    const parameters = values.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)) as SQLInputValue[]
    try {
      const answer = this.#answerTo(fetch, text, parameters)
      this.hasWritten ||= !isQuestion(text)
      return answer
    } catch (error) {
      throw translated(error)
    }
  }

  #answerTo(fetch: Fetch, text: string, parameters: SQLInputValue[]): unknown {
    if (fetch === "all") return this.#connection.all(text, parameters)
    if (fetch === "first") return this.#connection.first(text, parameters)
    return this.#connection.change(text, parameters)
  }
}

const isQuestion = (text: string): boolean => text.startsWith("select ")

function createPrivately(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, "a", 0o600))
  return realpathSync(path)
}

const diskOf = (path: string, writer: SqliteConnection, { sync = syncFile, logThread = true }: BackendOptions) => ({
  log: new WriteAheadSync(path, sync),
  checkpointer: logThread
    ? new Checkpointer({
        path,
        loggedPages: () => writer.loggedPages(),
        takeOver: (taken) => writer.checkpointAlone(!taken),
      })
    : undefined,
})

const unsyncable = (cause: unknown) =>
  outOfService("The database could not be synchronized to the disk; it must be reopened.", cause)
const closedError = () => new Error("the database is closed")
