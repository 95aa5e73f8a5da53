// Embedded storage: one writer connection per file and process, a few read-only ones beside it (WAL), and group commit.
// Queued works run one after another inside one `begin immediate` and hear of success and failure alike only after the
// shared commit is on disk: a failure, too, may rest on what an earlier work of the batch wrote. So does a read that may
// have seen the commit. Nobody waits for the disk on the thread itself. A savepoint around each work costs as much as two
// of its inserts, and few works fail once they have written: only then is the batch undone and done again with savepoints.
// `busy_timeout` is 0: waiting inside SQLite would stop the event loop that the holder of the lock may need.
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

/** Opens the file, creating it (0600, in a folder made 0700). Everyone in this process who opens it shares one writer. */
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

/** Reads beside whoever else has the file open, and changes nothing: a file that is not there is not made. */
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

/** One opener's hold on a store that others may hold too. */
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

  // Not async: all that goes through here waits for no further promise.
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

/** What became of a job in its batch. */
interface Attempt {
  readonly settle: () => void
  /** Something that is to be kept. */
  readonly hasWritten: boolean
  /** Of a failure: something that must not be kept, and that no savepoint has undone. */
  readonly leavesWrites: boolean
  /** The error, where the disk was full. */
  readonly full: unknown
}

/** Of a batch with the work that it is at. */
interface Patience {
  over: boolean
  /** Ends that work, whatever it waits for. */
  giveUp: (error: Error) => void
}

/** A race with a promise that stands for the whole batch would take longer than most works do. */
const inTime = <T>(work: Promise<T>, patience: Patience): Promise<T> =>
  new Promise((resolve, reject) => {
    patience.giveUp = reject
    work.then(resolve, reject)
  })

/** Committed, and told to nobody yet. */
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
  /** The next batch has savepoints, because the one before was undone for the lack of them. */
  #guarded = false
  #drained: Promise<void> | undefined
  /** None in memory, where a second connection would see another database: reads queue with the writes. */
  readonly #readers: readonly SqliteConnection[]
  readonly #idle: SqliteConnection[]
  readonly #waiting: ((reader: SqliteConnection) => void)[] = []
  readonly #disk: { readonly log: WriteAheadSync; readonly checkpointer: Checkpointer | undefined } | undefined
  /** From a commit until it is on disk. */
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

  /** There is one writer, so every isolation is serializable here. */
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

  // One query needs no transaction of its own making.
  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#read(work, single)
  }

  async #read<T>(work: (session: QueryRunner) => Promise<T>, run: typeof snapshot): Promise<T> {
    if (this.#readers.length === 0) return this.#enqueue(work, true)
    this.#refuseUnusable()
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
      this.#refuseUnusable()
      this.#queue.push({ work, readOnly, span, resolve, reject, queuedAt: this.#options.stopwatch() })
      this.#waits(kindOf(readOnly))
      this.#drained ??= this.#drain()
    }) as Promise<T>
  }

  #refuseUnusable(): void {
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
      // The next batch gathers meanwhile, so that as many share a commit as the disk makes wait.
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
        // What the disk kept of it nobody can tell, and a later sync would not say (it forgets what it could not write).
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

  /** Before everyone else, with savepoints. */
  #queueAgain(taken: readonly Job[]): void {
    this.#guarded = true
    this.#queue.unshift(...taken.map((job) => ({ ...job, queuedAt: this.#options.stopwatch() })))
    for (const { readOnly } of taken) this.#waits(kindOf(readOnly))
  }

  /** Undefined where nothing was committed: everyone has heard of it, or is queued again. */
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
    // A work that waits only for its session is done before a timer can fire, however many there are in the batch.
    const patience: Patience = { over: false, giveUp() {} }
    const timer = setTimeout(() => {
      patience.over = true
      patience.giveUp(new Error("a unit of work waited too long for something other than its session"))
    }, this.#options.longestWorkMs ?? defaultLongestWorkMs)
    try {
      for (let count = 0; count < largestBatch && this.#writer.inTransaction && !patience.over; count += 1) {
        const job = this.#nextJob()
        if (job === undefined) break
        taken.push(job)
        const attempt = await this.#attempt(job, patience, guarded)
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
      // Also the one whose attempt could not even be undone: nobody is left waiting. Where a full disk has ended the transaction, the
      // commit only says that there is none.
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

  async #attempt(job: Job, patience: Patience, guarded: boolean): Promise<Attempt> {
    const writer = this.#writer
    if (guarded) writer.command("savepoint work")
    if (job.readOnly) writer.command("pragma query_only = on")
    const session = new SqliteSession(writer)
    try {
      const value = await inTime(job.work(session), patience)
      if (session.failure !== undefined) throw session.failure.error
      if (guarded) writer.command("release work")
      return { settle: () => job.resolve(value), hasWritten: session.hasWritten, leavesWrites: false, full: undefined }
    } catch (error) {
      // A full disk or an I/O error undoes the whole batch by itself; then the commit fails, and everyone hears of it.
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
      // Another process may be recovering the write-ahead log or leaving it.
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
  /** A statement went through that may have been more than a question. One that fails undoes itself. */
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
  outOfService("The database could not be brought onto the disk; it has to be opened anew.", cause)
const closedError = () => new Error("the database is closed")
