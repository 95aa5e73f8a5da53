// PostgreSQL, or a database that speaks its protocol. Transactions are serializable, or repeatable read where a service chooses it. They
// are retried when the server reports a conflict. Reads use one repeatable-read snapshot. Statements are prepared once per connection,
// under a stable name.
import { type ClientBase, DatabaseError, Pool, types, type PoolClient, type QueryConfig } from "pg"
import { busy, storeAway, storeFull, undecided } from "../../core/errors.ts"
import { silentLog } from "../../core/runtime.ts"
import type { Isolation } from "../../core/storage.ts"
import { secondMs } from "../../core/time.ts"
import type { Span } from "../../core/tracing.ts"
import {
  type Backend,
  type BackendOptions,
  type BackendTransactOptions,
  defaultLongestWorkMs,
  defaultPoolSize,
} from "../sql/backend.ts"
import { backOff } from "../sql/retry-backoff.ts"
import type { Bound } from "../sql/dialect.ts"
import { faultOf, isBroken, isCertainlyRolledBack, isReadOnly, isPermanentError } from "./postgres-errors.ts"
import { DatabaseAvailability } from "../sql/database-availability.ts"
import { OutdatedSnapshot, ReferenceViolation, UniqueViolation, type QueryRunner } from "../sql/query-runner.ts"
import type { UnitKind } from "../sql/storage-metrics.ts"
import { commitSpan } from "../sql/traced-backend.ts"
import { UnitOfWork, type Fetch } from "../sql/unit-of-work.ts"

const defaultAttempts = 40
const singleReadAttempts = 3
const defaultConnectTimeoutMs = 5_000
const defaultLockTimeoutMs = 5_000
/** Milliseconds beyond the statement timeout. The server ends slow statements itself; if it has not by then, it is unreachable. */
const silenceMs = 2_000
/** One hour: a migration may have to rewrite large tables. */
const longestMigrationMs = 3_600_000
/** Ends the transaction of a server that holds the migration lock and is idle: it was stopped, or its machine is lost. */
const defaultIdleMigrationMs = 60_000
/**
 * Disables sequential scans. A serializable sequential scan conflicts with every change of the table. The planner always chooses one for a
 * small table such as `generations` (PostgreSQL documentation, 13.2.3).
 */
const rowsOnly = "set local enable_seqscan = off"
/** `alter` waits at most this long for a table lock, because queries queue behind it. */
const alterLockTimeoutMs = 1_000
/** `alter` waits at most this long for the migration lock, which blocks no queries. */
const alterTurnTimeoutMs = 30_000
/** Limit of one statement of `alter`: it moves few rows, but may have to scan a whole partition. */
const longestAlterationMs = 600_000
/** Advisory lock of migrations, the same for all replicas and releases ("Chancery" in ASCII). */
const migrationLock = "4857239324860969593"

export async function openPostgres(url: string, options: BackendOptions): Promise<Backend> {
  return openServer(url, options, "primary")
}

/** Read-only server that follows a primary. */
export interface Standby {
  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** Runs `work` on one snapshot, taken after `readiness` has succeeded on the same connection. No retries. */
  readWhen<T>(readiness: Readiness, work: (session: QueryRunner) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Check that a server is ready for a unit of work. */
interface Readiness {
  /** Returns once the server is ready; throws if it is not. */
  readonly await: (session: QueryRunner) => Promise<void>
  /** Milliseconds to wait for each answer. */
  readonly timeoutMs: number
}

/** Opens a standby. Does not check that the server is one or how current it is: callers check that at each read and log it. */
export function openStandby(url: string, options: Omit<BackendOptions, "log">): Standby {
  return openServer(url, { ...options, log: silentLog, attempts: 1 }, "standby")
}

function openServer(url: string, options: BackendOptions, expected: "primary" | "standby"): PostgresStore {
  const limits = limitsOf(options)
  const pool = new Pool({
    connectionString: url,
    max: options.connections ?? defaultPoolSize,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    // Middleboxes may drop idle connections; keep-alive makes the kernel notice it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: "chancery",
    types: { getTypeParser },
    // The pool awaits the promise, although its type declares void.
    ...(expected === "primary" && {
      onConnect: (client) => rejectStandby(client, limits.connectTimeoutMs) as unknown as void,
    }),
  })
  // A lost connection is replaced at its next use, which reports an unreachable server. Without a listener, the error would end the
  // process. The pool listens while a connection is idle, this class while it is in use.
  pool.on("error", (error) => options.log.debug("database-connection-lost", { message: error.message }))
  return new PostgresStore(pool, options, limits)
}

/** Throws if the server is a standby, where a read would not see the writes just made. The address will lead elsewhere soon. */
async function rejectStandby(client: ClientBase, timeoutMs: number): Promise<void> {
  const { rows } = await runQuery(client, { text: "select pg_is_in_recovery() as standby" }, timeoutMs)
  if ((rows[0] as { readonly standby: boolean } | undefined)?.standby) throw new Error("the server is a standby")
}

interface Limits {
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly idleMigrationMs: number
}

function limitsOf({ limits = {}, longestWorkMs = defaultLongestWorkMs }: BackendOptions): Limits {
  return {
    connectTimeoutMs: limits.connectTimeoutMs ?? defaultConnectTimeoutMs,
    statementTimeoutMs: limits.statementTimeoutMs ?? longestWorkMs,
    lockTimeoutMs: limits.lockTimeoutMs ?? defaultLockTimeoutMs,
    idleTimeoutMs: limits.idleTimeoutMs ?? longestWorkMs,
    idleMigrationMs: limits.idleMigrationMs ?? defaultIdleMigrationMs,
  }
}

const int8 = 20
const bytea = 17
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  oid === int8 ? Number : oid === bytea ? bytesOf : typeParserOf(oid, format)
/** Returns a plain Uint8Array, because a Buffer has another JSON form: the same bytes must be the same value on both databases. */
function bytesOf(value: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = typeParserOf(bytea)(value) as Buffer
  return new Uint8Array(buffer, byteOffset, byteLength)
}
// The declared type is a closed list of types; a server may have more.
const typeParserOf: (oid: number, format?: "text" | "binary") => (value: string) => unknown = types.getTypeParser

/** Settings of a kind of unit of work. */
interface TransactionMode {
  readonly begin: string
  readonly kind: UnitKind
  /** Milliseconds to wait for each answer. After that the server counts as unreachable. */
  readonly timeoutMs: number
  readonly writes: boolean
  /** True to retry until a lock held by another session is free. */
  readonly awaitsLocks: boolean
  /**
   * Prefix of the names of prepared statements. Default: `chancery`. The server plans a prepared statement once per name. A plan made while
   * sequential scans were allowed must not serve a transaction that forbids them.
   */
  readonly statementPrefix?: string
  /** Runs before the transaction begins, so that the snapshot is taken after it. */
  readonly readiness?: Readiness
}

type Phase = "beginning" | "working" | "committing"

type AttemptResult<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "run-again"; readonly cause: unknown }

class PostgresStore implements Backend, Standby {
  readonly dialect = "postgres"
  commitCount = 0
  readonly #pool: Pool
  readonly #options: BackendOptions
  readonly #limits: Limits
  readonly #reading: TransactionMode
  readonly #writing: Readonly<Record<Isolation, TransactionMode>>
  readonly #migrating: TransactionMode
  readonly #altering: TransactionMode
  readonly #presence: DatabaseAvailability
  readonly #inFlight = new Set<Promise<unknown>>()
  /** Open connections, to destroy at closing those whose server no longer answers. */
  readonly #open = new Set<PoolClient>()
  /** Connections of an earlier age are not used again: a lost server takes all of its connections with it. */
  #age = 0
  readonly #ages = new WeakMap<PoolClient, number>()
  /** First error of each broken connection. */
  readonly #breaks = new WeakMap<PoolClient, Error>()
  #hasConnected = false
  #closed: Promise<void> | undefined

  constructor(pool: Pool, options: BackendOptions, limits: Limits) {
    this.#pool = pool
    this.#options = options
    this.#limits = limits
    this.#presence = new DatabaseAvailability(options)
    const { statementTimeoutMs, lockTimeoutMs, idleTimeoutMs, idleMigrationMs } = limits
    // Set per transaction, because connection poolers reject such settings as startup parameters.
    const set = [
      `set local statement_timeout = ${statementTimeoutMs}`,
      `set local lock_timeout = ${lockTimeoutMs}`,
      `set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`,
    ].join("; ")
    const timeoutMs = statementTimeoutMs + silenceMs
    this.#reading = {
      begin: `begin isolation level repeatable read read only; ${set}`,
      kind: "read",
      timeoutMs,
      writes: false,
      awaitsLocks: false,
    }
    const writing = { kind: "write" as const, timeoutMs, writes: true, awaitsLocks: false }
    this.#writing = {
      serializable: {
        ...writing,
        begin: `begin isolation level serializable; ${set}; ${rowsOnly}`,
        statementPrefix: "chancery_serializable",
      },
      "repeatable-read": { ...writing, begin: `begin isolation level repeatable read; ${set}` },
    }
    this.#migrating = {
      // Read committed: a snapshot taken while waiting for the lock would miss what the last holder committed. Only the wait for this lock
      // is unlimited. All queries of a table would queue behind a long wait for its lock.
      begin:
        `begin isolation level read committed; set local lock_timeout = 0; set local statement_timeout = 0; ` +
        `set local idle_in_transaction_session_timeout = ${idleMigrationMs}; ` +
        `select pg_advisory_xact_lock(${migrationLock}); set local lock_timeout = ${lockTimeoutMs}`,
      kind: "write",
      timeoutMs: longestMigrationMs,
      writes: true,
      awaitsLocks: true,
    }
    this.#altering = {
      // Read committed for the same reason. The advisory lock serializes alterations and migrations, which would only block each other.
      begin:
        `begin isolation level read committed; set local lock_timeout = ${alterTurnTimeoutMs}; ` +
        `set local statement_timeout = ${longestAlterationMs}; set local idle_in_transaction_session_timeout = ${idleTimeoutMs}; ` +
        `select pg_advisory_xact_lock(${migrationLock}); set local lock_timeout = ${alterLockTimeoutMs}`,
      kind: "write",
      timeoutMs: longestAlterationMs + silenceMs,
      writes: true,
      awaitsLocks: false,
    }
    pool.on("connect", (client) => {
      client.on("error", (error) => this.#breaks.set(client, this.#breaks.get(client) ?? error))
      this.#open.add(client)
      this.#ages.set(client, this.#age)
    })
    pool.on("remove", (client) => this.#open.delete(client))
  }

  read<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#tracked(this.#reading, work)
  }

  // One query needs no explicit transaction.
  async readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError()
    for (let attempt = 1; ; attempt += 1) {
      const client = await this.#connect("read")
      const session = new PostgresSession(client, this.#reading)
      let usable = true
      try {
        const value = await work(session)
        this.#found(client, this.#reading)
        return value
      } catch (error) {
        const met = this.#met(session.failure?.error ?? error, client, this.#reading)
        usable = met.usable
        if (met.runsAgain !== true || attempt >= singleReadAttempts) throw met.error ?? error
      } finally {
        session.settle()
        this.#release(client, usable)
      }
    }
  }

  readWhen<T>(readiness: Readiness, work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#tracked({ ...this.#reading, readiness }, work)
  }

  transact<T>(work: (session: QueryRunner) => Promise<T>, options: BackendTransactOptions = {}): Promise<T> {
    const { isolation = "serializable", span } = options
    return this.#tracked(this.#writing[isolation], work, span)
  }

  exclusively<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#tracked(this.#migrating, work)
  }

  alter<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    return this.#tracked(this.#altering, work)
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#finish())
  }

  // Pending requests for a connection never settle once the pool has ended, so units of work complete first.
  async #finish(): Promise<void> {
    await Promise.allSettled(this.#inFlight)
    const impatience = setTimeout(() => {
      for (const client of this.#open) cut(client)
    }, silenceMs)
    try {
      await this.#pool.end()
    } finally {
      clearTimeout(impatience)
    }
  }

  async #tracked<T>(manner: TransactionMode, work: (session: QueryRunner) => Promise<T>, span?: Span): Promise<T> {
    if (this.#closed !== undefined) throw closedError()
    const outcome = this.#retrying(manner, work, span)
    this.#inFlight.add(outcome)
    try {
      return await outcome
    } finally {
      this.#inFlight.delete(outcome)
    }
  }

  async #retrying<T>(manner: TransactionMode, work: (session: QueryRunner) => Promise<T>, span?: Span): Promise<T> {
    const { attempts = defaultAttempts, random, stopwatch } = this.#options
    const began = stopwatch()
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#once(manner, work, span)
      if (outcome.kind === "done") return outcome.value
      if (attempt >= attempts || stopwatch() - began >= manner.timeoutMs) {
        throw busy("The change kept conflicting with concurrent changes.", outcome.cause)
      }
      this.#options.metrics.retries.add(1)
      await backOff(attempt, random)
    }
  }

  async #once<T>(
    manner: TransactionMode,
    work: (session: QueryRunner) => Promise<T>,
    span?: Span,
  ): Promise<AttemptResult<T>> {
    const client = await this.#connect(manner.kind)
    const session = new PostgresSession(client, manner)
    let usable = true
    let phase: Phase = "beginning"
    try {
      if (manner.readiness !== undefined) await ready(client, manner.readiness)
      await runQuery(client, { text: manner.begin }, manner.timeoutMs)
      phase = "working"
      const value = await work(session)
      session.settle()
      await session.finished()
      if (session.failure !== undefined) throw session.failure.error
      phase = "committing"
      await commit(client, manner.timeoutMs, span && commitSpan("postgres", [{ span }]))
      if (manner.writes) this.commitCount += 1
      this.#found(client, manner)
      return { kind: "done", value }
    } catch (error) {
      session.settle()
      await session.finished()
      // The unit of work may have wrapped the error. The session has the original.
      const cause = error instanceof OutdatedSnapshot ? error : (session.failure?.error ?? error)
      const met = this.#met(cause, client, manner, phase)
      usable = met.usable && (await rolledBack(client))
      if (phase === "committing" && manner.writes && !isCertainlyRolledBack(cause)) throw undecided(cause)
      if (met.error !== undefined) throw met.error
      if (met.runsAgain) return { kind: "run-again", cause }
      throw error
    } finally {
      this.#release(client, usable)
    }
  }

  /** Derives the consequences of an error: for the connection, for a retry, and the error for the caller. */
  #met(
    error: unknown,
    client: PoolClient,
    { writes, awaitsLocks }: TransactionMode,
    phase: Phase = "working",
  ): { readonly usable: boolean; readonly error?: Error; readonly runsAgain?: true } {
    if (writes && isReadOnly(error, { beginning: phase === "beginning" })) {
      this.#outlive(client)
      this.#presence.away("takes no writes", error)
      return { usable: false, error: storeAway("The database does not accept writes at present.", error) }
    }
    // The next query on a connection that broke while idle only reports that it is broken, so the first error is used.
    switch (faultOf(isBroken(error) ? (this.#breaks.get(client) ?? error) : error)) {
      case "run-again":
        return { usable: true, runsAgain: true }
      case "stale-statement":
        return { usable: false, runsAgain: true }
      case "server-lost":
        this.#outlive(client)
        this.#presence.away("cannot be reached", error)
        return { usable: false, error: unreachableDatabase(error) }
      case "connection-ended":
        return { usable: false, error: busy("The database closed the connection.", error) }
      case "locked":
        // Yields to the queries that queued up behind this one, then retries.
        return awaitsLocks ? { usable: true, runsAgain: true } : { usable: true, error: lockedOut(error) }
      case "full":
        return { usable: true, error: storeFull(error) }
      case "overloaded":
        return { usable: true, error: busy("The database timed out or ran out of memory.", error) }
      default:
        return { usable: true }
    }
  }

  /** Ignores results of old connections: their server may be about to end them. */
  #found(client: PoolClient, { writes }: TransactionMode): void {
    if ((this.#ages.get(client) ?? 0) >= this.#age) this.#presence.found({ writes })
  }

  /** Retires all connections as old as this one. Those in use end with their unit of work. */
  #outlive(client: PoolClient): void {
    this.#age = Math.max(this.#age, (this.#ages.get(client) ?? 0) + 1)
  }

  #release(client: PoolClient, usable: boolean): void {
    if (!usable) cut(client)
    client.release(!usable)
  }

  async #connect(kind: UnitKind): Promise<PoolClient> {
    const { stopwatch, metrics } = this.#options
    const began = stopwatch()
    metrics.waiting.add(1, { kind })
    try {
      for (;;) {
        const client = await this.#pool.connect()
        this.#hasConnected = true
        if ((this.#ages.get(client) ?? 0) >= this.#age) return client
        this.#release(client, false)
      }
    } catch (error) {
      // A refusal by a server that has accepted us before indicates a failover.
      if (isPermanentError(error) && !this.#hasConnected) throw error
      if (isExhausted(error)) throw this.#exhausted(error)
      // The first failure at startup is not logged here: the opener of the database gets the error.
      if (this.#hasConnected) this.#presence.away("cannot be reached", error)
      throw unreachableDatabase(error)
    } finally {
      metrics.waiting.add(-1, { kind })
      metrics.waitSeconds.add((stopwatch() - began) / secondMs, { kind })
    }
  }

  #exhausted(cause?: unknown) {
    return busy(`No connection to the database was free within ${this.#limits.connectTimeoutMs} ms.`, cause)
  }
}

async function ready(client: PoolClient, { await: waited, timeoutMs }: Readiness): Promise<void> {
  const session = new PostgresSession(client, { timeoutMs })
  try {
    await waited(session)
  } finally {
    session.settle()
  }
}

/** Destroys the socket at once: a graceful end never completes if the server does not answer. */
const cut = (client: PoolClient): void => void client.connection.stream.destroy()

/** Runs one statement, or several without parameters. */
const runQuery = (client: ClientBase, query: QueryConfig, timeoutMs: number) =>
  client.query({ ...query, query_timeout: timeoutMs } as QueryConfig)

class PostgresSession extends UnitOfWork {
  readonly #client: PoolClient
  readonly #timeoutMs: number
  readonly #statementPrefix: string
  /** True once a statement was sent whose effect only a rollback undoes. */
  hasWritten = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    client: PoolClient,
    { timeoutMs, statementPrefix = "chancery" }: Pick<TransactionMode, "timeoutMs" | "statementPrefix">,
  ) {
    super("postgres")
    this.#client = client
    this.#timeoutMs = timeoutMs
    this.#statementPrefix = statementPrefix
  }

  /** Waits for queries that the unit of work started and did not await. */
  async finished(): Promise<void> {
    await this.#last
  }

  // A unit of work may start several queries at once; the connection runs them in order. After a failure, later ones are not sent.
  protected override fetchBound(fetch: Fetch, bound: Bound): Promise<unknown> {
    const answer = this.#last.then(() => {
      if (this.failure !== undefined) throw new Error("an earlier query of the unit of work failed")
      this.hasWritten ||= !bound.text.startsWith("select ")
      return this.#query(fetch, bound)
    })
    this.#last = answer.catch(() => {})
    return answer
  }

  async #query(fetch: Fetch, { text, values, prepared }: Bound): Promise<unknown> {
    const name = prepared ? `${this.#statementPrefix}_${statementNumber(text)}` : undefined
    try {
      const query = { ...(name && { name }), text, values: [...values] }
      const { rows, rowCount } = await runQuery(this.#client, query, this.#timeoutMs)
      if (fetch === "all") return rows
      return fetch === "first" ? rows[0] : (rowCount ?? 0)
    } catch (error) {
      throw translated(error)
    }
  }
}

// Statements are constants of the program, so the map stays small.
const statementNumbers = new Map<string, number>()

function statementNumber(text: string): number {
  const known = statementNumbers.get(text)
  if (known !== undefined) return known
  const number = statementNumbers.size + 1
  statementNumbers.set(text, number)
  return number
}

async function commit(client: PoolClient, timeoutMs: number, span: Span | undefined): Promise<void> {
  try {
    const { command } = await runQuery(client, { text: "commit" }, timeoutMs)
    // PostgreSQL answers `commit` with ROLLBACK if the transaction had failed.
    if (command !== "COMMIT") throw new Error(`the commit was answered with ${command}`)
  } catch (error) {
    span?.fail(error)
    throw error
  } finally {
    span?.end()
  }
}

async function rolledBack(client: PoolClient): Promise<boolean> {
  try {
    await runQuery(client, { text: "rollback" }, silenceMs)
    return true
  } catch {
    return false
  }
}

const uniqueViolation = "23505"
const foreignKeyViolation = "23503"

function translated(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error
  switch (error.code) {
    case uniqueViolation:
      return new UniqueViolation(error.constraint ?? "", { cause: error })
    case foreignKeyViolation:
      return new ReferenceViolation({ cause: error })
    default:
      return error
  }
}

/** Matches the message of the pool, which has no error code for it. */
const isExhausted = (error: unknown): boolean =>
  error instanceof Error && error.message === "timeout exceeded when trying to connect"

export const unreachableDatabase = (cause: unknown) => storeAway("The database cannot be reached.", cause)
const lockedOut = (cause: unknown) => busy("Other transactions lock rows that the change needs.", cause)
const closedError = () => new Error("the database is closed")
