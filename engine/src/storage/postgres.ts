// PostgreSQL, or a database that speaks its protocol. Transactions are serializable and run again when the server says
// so; reads are one repeatable-read snapshot. Under load many works share a transaction (`commit-queue.ts`). Statements are prepared once per connection, under a stable name.
import { DatabaseError, Pool, types, type PoolClient } from "pg"
import { busy } from "../core/errors.ts"
import { noStorageActivity, type UnitsOfWork } from "../core/storage-activity.ts"
import { type Backend, type BackendOptions, defaultLongestWorkMs, defaultPoolSize } from "./backend.ts"
import { backOff } from "./backoff.ts"
import { type Commits, CommitQueue, type QueuedWork } from "./commit-queue.ts"
import type { Bound } from "./dialect.ts"
import { ReferenceViolation, UniqueViolation, type Session } from "./session.ts"
import { UnitOfWork, type Fetch } from "./unit-of-work.ts"

const defaultAttempts = 40
const connectTimeoutMs = 5_000
/** Every replica of every release takes this one advisory lock to migrate ("Chancery" in ASCII). */
const migrationLock = "4857239324860969593"

export async function openPostgres(url: string, options: BackendOptions): Promise<Backend> {
  const pool = new Pool({
    connectionString: url,
    max: options.connections ?? defaultPoolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: "chancery",
    types: { getTypeParser },
  })
  // A connection that dies is replaced at the next use. Without a listener its error would end the process: the pool
  // listens while a connection is idle, we while it is in use.
  pool.on("error", (error) => options.log.warn("database-connection-lost", { message: error.message }))
  pool.on("connect", (client) => client.on("error", () => {}))
  return new PostgresStore(pool, options)
}

const int8 = 20
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  oid === int8 ? Number : typeParserOf(oid, format)
// The declaration knows a closed list of types; a server may have more.
const typeParserOf: (oid: number, format?: "text" | "binary") => (value: string) => unknown = types.getTypeParser

class PostgresStore implements Backend, Commits {
  readonly dialect = "postgres"
  readonly activity = noStorageActivity()
  readonly #pool: Pool
  readonly #options: BackendOptions
  /** Set per transaction, because connection poolers refuse such settings at the start of a connection. */
  readonly #limits: string
  readonly #begin: string
  readonly #queue: CommitQueue
  readonly #running = new Set<Promise<unknown>>()
  #closed: Promise<void> | undefined

  constructor(pool: Pool, options: BackendOptions) {
    this.#pool = pool
    this.#options = options
    const limitMs = options.longestWorkMs ?? defaultLongestWorkMs
    this.#limits = `set local statement_timeout = ${limitMs}; set local idle_in_transaction_session_timeout = ${limitMs}`
    this.#begin = `begin isolation level serializable; ${this.#limits}`
    // The other half is for reads.
    this.#queue = new CommitQueue(this, Math.ceil((options.connections ?? defaultPoolSize) / 2))
  }

  read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#tracked(`begin isolation level repeatable read read only; ${this.#limits}`, this.activity.read, work)
  }

  // One query needs no transaction of its own making.
  async glance<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError()
    const client = await this.#connect(this.activity.read)
    const session = new PostgresSession(client)
    let broken = false
    try {
      return await work(session)
    } catch (error) {
      broken = isConnectionFailure(session.failure?.error ?? error)
      throw broken ? unreachableDatabase(error) : error
    } finally {
      session.settle()
      client.release(broken)
    }
  }

  transact<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closedError())
    return this.#followed(this.#queued(work))
  }

  // Read committed: a snapshot taken while waiting for the lock would not show what its last holder did.
  exclusively<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const begin = `begin isolation level read committed; select pg_advisory_xact_lock(${migrationLock})`
    return this.#tracked(begin, this.activity.write, work)
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#finish())
  }

  // A pool that ends forgets whoever still waits for one of its connections.
  async #finish(): Promise<void> {
    await Promise.allSettled(this.#running)
    await this.#pool.end()
  }

  async #tracked<T>(begin: string, units: UnitsOfWork, work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError()
    return this.#followed(this.#retrying(begin, units, work))
  }

  async #followed<T>(outcome: Promise<T>): Promise<T> {
    this.#running.add(outcome)
    try {
      return await outcome
    } finally {
      this.#running.delete(outcome)
    }
  }

  #queued<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const began = this.#options.stopwatch()
    const { write } = this.activity
    write.waitingCount += 1
    let isFirst = true
    const started = (session: Session) => {
      if (isFirst) {
        isFirst = false
        write.waitingCount -= 1
        write.waitedMs += this.#options.stopwatch() - began
      }
      return work(session)
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#queue.add({
      work: started,
      resolve,
      reject(error) {
        if (isFirst) write.waitingCount -= 1
        isFirst = false
        reject(error)
      },
    })
    return promise as Promise<T>
  }

  async alone({ work, resolve, reject }: QueuedWork): Promise<void> {
    await this.#retrying(this.#begin, this.activity.write, work).then(resolve, reject)
  }

  async together(works: readonly QueuedWork[]): Promise<readonly QueuedWork[]> {
    let client: PoolClient
    try {
      client = await this.#connect(this.activity.write)
    } catch (error) {
      for (const { reject } of works) reject(error)
      return []
    }
    let broken = false
    const shared: Shared = { told: [], spoiler: undefined }
    try {
      await client.query(this.#begin)
      for (const one of works) await share(client, one, shared)
      await client.query("commit")
      this.activity.commitCount += 1
      for (const tell of shared.told) tell()
      return []
    } catch (error) {
      broken = isConnectionFailure(error) || !(await rolledBack(client))
      this.activity.retryCount += 1
      return spoiled(error, works, shared.spoiler)
    } finally {
      client.release(broken)
    }
  }

  async #retrying<T>(begin: string, units: UnitsOfWork, work: (session: Session) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#once(begin, units, work)
      if (outcome.kind === "done") return outcome.value
      if (attempt >= (this.#options.attempts ?? defaultAttempts)) {
        throw busy("The change could not be made beside concurrent ones in time.", outcome.cause)
      }
      this.activity.retryCount += 1
      await backOff(attempt, this.#options.random)
    }
  }

  async #once<T>(
    begin: string,
    units: UnitsOfWork,
    work: (session: Session) => Promise<T>,
  ): Promise<{ readonly kind: "done"; readonly value: T } | { readonly kind: "run-again"; readonly cause: unknown }> {
    const client = await this.#connect(units)
    const session = new PostgresSession(client)
    let broken = false
    try {
      await client.query(begin)
      const value = await work(session)
      session.settle()
      await session.finished()
      if (session.failure !== undefined) throw session.failure.error
      await client.query("commit")
      if (units === this.activity.write) this.activity.commitCount += 1
      return { kind: "done", value }
    } catch (error) {
      session.settle()
      await session.finished()
      // The work may have wrapped the error: the session knows what the server said.
      const cause = session.failure?.error ?? error
      broken = isConnectionFailure(cause) || !(await rolledBack(client))
      if (isConnectionFailure(cause)) throw unreachableDatabase(cause)
      if (sqlState(cause) === queryCanceled) throw unanswered(cause)
      if (runAgainCodes.has(sqlState(cause))) return { kind: "run-again", cause }
      throw error
    } finally {
      client.release(broken)
    }
  }

  async #connect(units: UnitsOfWork): Promise<PoolClient> {
    const began = this.#options.stopwatch()
    units.waitingCount += 1
    try {
      return await this.#pool.connect()
    } catch (error) {
      if (isRefusal(error)) throw error
      throw unreachableDatabase(error)
    } finally {
      units.waitingCount -= 1
      units.waitedMs += this.#options.stopwatch() - began
    }
  }
}

/** A transaction of several works. */
interface Shared {
  /** What each of them hears once it is committed, failures as well: they may rest on what another has written. */
  readonly told: (() => void)[]
  /** The one that was at work when it failed. */
  spoiler: QueuedWork | undefined
}

/** Does one of several works; throws what spoils the transaction for all of them. */
async function share(client: PoolClient, one: QueuedWork, shared: Shared): Promise<void> {
  shared.spoiler = one
  const session = new PostgresSession(client)
  const ended = async () => {
    session.settle()
    await session.finished()
  }
  try {
    const value = await one.work(session)
    await ended()
    if (session.failure !== undefined) throw session.failure.error
    shared.told.push(() => one.resolve(value))
  } catch (error) {
    await ended()
    if (session.failure !== undefined) throw session.failure.error
    if (session.hasWritten) throw error
    shared.told.push(() => one.reject(error))
  }
  shared.spoiler = undefined
}

/** Who has heard nothing yet. Whoever made the server wait for too long would do so again. */
function spoiled(error: unknown, works: readonly QueuedWork[], spoiler: QueuedWork | undefined): readonly QueuedWork[] {
  if (isConnectionFailure(error)) {
    for (const { reject } of works) reject(unreachableDatabase(error))
    return []
  }
  if (spoiler === undefined || sqlState(error) !== queryCanceled) return works
  spoiler.reject(unanswered(error))
  return works.filter((one) => one !== spoiler)
}

class PostgresSession extends UnitOfWork {
  readonly #client: PoolClient
  /** Something that only a rollback undoes. */
  hasWritten = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(client: PoolClient) {
    super("postgres")
    this.#client = client
  }

  /** Queries that the work began and did not wait for. */
  async finished(): Promise<void> {
    await this.#last
  }

  // A work may ask several things at once; a connection answers one after another. What follows a failure is not sent.
  protected override execute(fetch: Fetch, bound: Bound): Promise<unknown> {
    const answer = this.#last.then(() => {
      if (this.failure !== undefined) throw new Error("an earlier query of the unit of work failed")
      this.hasWritten ||= !bound.text.startsWith("select ")
      return this.#query(fetch, bound)
    })
    this.#last = answer.catch(() => {})
    return answer
  }

  async #query(fetch: Fetch, { text, values, prepared }: Bound): Promise<unknown> {
    const name = prepared ? preparedName(text) : undefined
    try {
      const { rows, rowCount } = await this.#client.query({ ...(name && { name }), text, values: [...values] })
      if (fetch === "all") return rows
      return fetch === "first" ? rows[0] : (rowCount ?? 0)
    } catch (error) {
      throw translated(error)
    }
  }
}

// Statements are constants of the program, so the map stays small.
const preparedNames = new Map<string, string>()

function preparedName(text: string): string {
  const known = preparedNames.get(text)
  if (known !== undefined) return known
  const name = `chancery_${preparedNames.size + 1}`
  preparedNames.set(text, name)
  return name
}

async function rolledBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query("rollback")
    return true
  } catch {
    return false
  }
}

const uniqueViolation = "23505"
const foreignKeyViolation = "23503"
const serializationFailure = "40001"
const deadlockDetected = "40P01"
const queryCanceled = "57014"
const runAgainCodes = new Set([serializationFailure, deadlockDetected])

const sqlState = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? "") : "")

function translated(error: unknown): unknown {
  switch (sqlState(error)) {
    case uniqueViolation:
      return new UniqueViolation((error as DatabaseError).constraint ?? "", { cause: error })
    case foreignKeyViolation:
      return new ReferenceViolation({ cause: error })
    default:
      return error
  }
}

/** The server said no for good: wrong password, no such database, no permission. */
const isRefusal = (error: unknown): boolean => /^(28|3D|42)/.test(sqlState(error))

const socketCodes = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOENT", "EHOSTUNREACH"])

/** Class 08, 57P01…57P03 and 25P03: the connection or the server went away (PostgreSQL, appendix A). */
function isConnectionFailure(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^(08|57P0[1-3]|25P03)/.test(error.code ?? "")
  if (!(error instanceof Error)) return false
  return "code" in error
    ? socketCodes.has(String(error.code))
    : /^Connection terminated|not queryable/.test(error.message)
}

const unreachableDatabase = (cause: unknown) => busy("The database cannot be reached.", cause)
const unanswered = (cause: unknown) => busy("The database did not answer in time.", cause)
const closedError = () => new Error("the database is closed")
