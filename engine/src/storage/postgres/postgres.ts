// PostgreSQL, or a database that speaks its protocol. Transactions are serializable, or repeatable read where a service says
// that this is enough, and run again when the server says so; reads are one repeatable-read
// snapshot. Statements are prepared once per connection, under a stable name.
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
import { faultOf, isBroken, isCertainlyRolledBack, isReadOnly, isRefusal } from "./postgres-errors.ts"
import { Presence } from "../sql/database-availability.ts"
import { OutdatedSnapshot, ReferenceViolation, UniqueViolation, type QueryRunner } from "../sql/query-runner.ts"
import type { UnitKind } from "../sql/storage-metrics.ts"
import { commitSpan } from "../sql/traced-backend.ts"
import { UnitOfWork, type Fetch } from "../sql/unit-of-work.ts"

const defaultAttempts = 40
const singleReadAttempts = 3
const defaultConnectTimeoutMs = 5_000
const defaultLockTimeoutMs = 5_000
/** A server that is there ends a statement itself; one that has said nothing for so much longer is not there. */
const silenceMs = 2_000
/** A migration may have to rewrite what is large. */
const longestMigrationMs = 3_600_000
/** The same for a server that holds the lock to migrate and does nothing: it was stopped, or its machine is gone. */
const defaultIdleMigrationMs = 60_000
/**
 * Who reads a table from its beginning to its end collides with whoever changes any row of it, and one that is small, as
 * `generations` is for ever, would always be read so (PostgreSQL documentation, 13.2.3).
 */
const rowsOnly = "set local enable_seqscan = off"
/** What changes tables beside servers at work waits no longer for any: those that come after it wait as well. */
const alterLockTimeoutMs = 1_000
/** For its turn, while nobody waits for it. */
const alterTurnTimeoutMs = 30_000
/** Of one of its statements: rows that are moved are few, and a look at a part of all of them takes a while. */
const longestAlterationMs = 600_000
/** Every replica of every release takes this one advisory lock to migrate ("Chancery" in ASCII). */
const migrationLock = "4857239324860969593"

export async function openPostgres(url: string, options: BackendOptions): Promise<Backend> {
  return openServer(url, options, "primary")
}

/** A server that is read only, and follows another. */
export interface Standby {
  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** One snapshot, taken on a connection that `readiness` has been found on; tried once. */
  readWhen<T>(readiness: Readiness, work: (session: QueryRunner) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Of a server, for a unit of work. */
interface Readiness {
  /** Returns once the server is fit for it, and throws where it is not. */
  readonly await: (session: QueryRunner) => Promise<void>
  /** Of one answer. */
  readonly patienceMs: number
}

/** Whether the server is one, and what it has, whoever reads there finds out each time, and tells. */
export function openStandby(url: string, options: Omit<BackendOptions, "log">): Standby {
  return openServer(url, { ...options, log: silentLog, attempts: 1 }, "standby")
}

function openServer(url: string, options: BackendOptions, expected: "primary" | "standby"): PostgresStore {
  const limits = limitsOf(options)
  const pool = new Pool({
    connectionString: url,
    max: options.connections ?? defaultPoolSize,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    // What lies between may forget a connection that is silent; the kernel finds out while it is idle.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: "chancery",
    types: { getTypeParser },
    // Waited for, whatever its declaration says.
    ...(expected === "primary" && {
      onConnect: (client) => rejectStandby(client, limits.connectTimeoutMs) as unknown as void,
    }),
  })
  // A connection that dies is replaced at the next use, which tells where there is none to be had. Without a listener its error
  // would end the process: the pool listens while a connection is idle, we while it is in use.
  pool.on("error", (error) => options.log.debug("database-connection-lost", { message: error.message }))
  return new PostgresStore(pool, options, limits)
}

/** Whoever reads there does not see what it has just written; an address that leads to one is about to lead elsewhere. */
async function rejectStandby(client: ClientBase, patienceMs: number): Promise<void> {
  const { rows } = await ask(client, { text: "select pg_is_in_recovery() as standby" }, patienceMs)
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
/** No Buffer, which is written to JSON otherwise: the same bytes are the same value whatever the store. */
function bytesOf(value: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = typeParserOf(bytea)(value) as Buffer
  return new Uint8Array(buffer, byteOffset, byteLength)
}
// The declaration knows a closed list of types; a server may have more.
const typeParserOf: (oid: number, format?: "text" | "binary") => (value: string) => unknown = types.getTypeParser

/** How a unit of work is run. */
interface Manner {
  readonly begin: string
  readonly kind: UnitKind
  /** Of one answer; what is not there by then will not come. */
  readonly patienceMs: number
  readonly writes: boolean
  /** Goes on until it gets what somebody else has locked. */
  readonly awaitsLocks: boolean
  /**
   * Names prepared statements; `chancery` when left out. A plan is made once per name and kept: one made while tables may be
   * scanned from end to end must not serve a transaction that may not.
   */
  readonly statementPrefix?: string
  /** Before the transaction begins; its own begins with what is there then. */
  readonly readiness?: Readiness
}

type Phase = "beginning" | "working" | "committing"

type Outcome<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "run-again"; readonly cause: unknown }

class PostgresStore implements Backend, Standby {
  readonly dialect = "postgres"
  commitCount = 0
  readonly #pool: Pool
  readonly #options: BackendOptions
  readonly #limits: Limits
  readonly #reading: Manner
  readonly #writing: Readonly<Record<Isolation, Manner>>
  readonly #migrating: Manner
  readonly #altering: Manner
  readonly #presence: Presence
  readonly #inFlight = new Set<Promise<unknown>>()
  /** Ends a connection where it is, which one whose server is silent never does by itself. */
  readonly #open = new Set<PoolClient>()
  /** Connections made in an earlier age are not used any more: a server that was lost takes all of them with it. */
  #age = 0
  readonly #ages = new WeakMap<PoolClient, number>()
  /** By what a connection broke. */
  readonly #breaks = new WeakMap<PoolClient, Error>()
  #hasConnected = false
  #closed: Promise<void> | undefined

  constructor(pool: Pool, options: BackendOptions, limits: Limits) {
    this.#pool = pool
    this.#options = options
    this.#limits = limits
    this.#presence = new Presence(options)
    const { statementTimeoutMs, lockTimeoutMs, idleTimeoutMs, idleMigrationMs } = limits
    // Set per transaction, because connection poolers refuse such settings at the start of a connection.
    const set = [
      `set local statement_timeout = ${statementTimeoutMs}`,
      `set local lock_timeout = ${lockTimeoutMs}`,
      `set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`,
    ].join("; ")
    const patienceMs = statementTimeoutMs + silenceMs
    this.#reading = {
      begin: `begin isolation level repeatable read read only; ${set}`,
      kind: "read",
      patienceMs,
      writes: false,
      awaitsLocks: false,
    }
    const writing = { kind: "write" as const, patienceMs, writes: true, awaitsLocks: false }
    this.#writing = {
      serializable: {
        ...writing,
        begin: `begin isolation level serializable; ${set}; ${rowsOnly}`,
        statementPrefix: "chancery_serializable",
      },
      "repeatable-read": { ...writing, begin: `begin isolation level repeatable read; ${set}` },
    }
    this.#migrating = {
      // Read committed: a snapshot taken while waiting for the lock would not show what its last holder did. Only the wait for
      // this lock is long: one for a table would make all that come after it wait as well.
      begin:
        `begin isolation level read committed; set local lock_timeout = 0; set local statement_timeout = 0; ` +
        `set local idle_in_transaction_session_timeout = ${idleMigrationMs}; ` +
        `select pg_advisory_xact_lock(${migrationLock}); set local lock_timeout = ${lockTimeoutMs}`,
      kind: "write",
      patienceMs: longestMigrationMs,
      writes: true,
      awaitsLocks: true,
    }
    this.#altering = {
      // As above. Two that alter, or one that alters and one that migrates, would only be in each other's way.
      begin:
        `begin isolation level read committed; set local lock_timeout = ${alterTurnTimeoutMs}; ` +
        `set local statement_timeout = ${longestAlterationMs}; set local idle_in_transaction_session_timeout = ${idleTimeoutMs}; ` +
        `select pg_advisory_xact_lock(${migrationLock}); set local lock_timeout = ${alterLockTimeoutMs}`,
      kind: "write",
      patienceMs: longestAlterationMs + silenceMs,
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

  // One query needs no transaction of its own making.
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
        if (met.runsAgain !== true || attempt >= singleReadAttempts) throw met.told ?? error
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

  // A pool that ends forgets whoever still waits for one of its connections.
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

  async #tracked<T>(manner: Manner, work: (session: QueryRunner) => Promise<T>, span?: Span): Promise<T> {
    if (this.#closed !== undefined) throw closedError()
    const outcome = this.#retrying(manner, work, span)
    this.#inFlight.add(outcome)
    try {
      return await outcome
    } finally {
      this.#inFlight.delete(outcome)
    }
  }

  async #retrying<T>(manner: Manner, work: (session: QueryRunner) => Promise<T>, span?: Span): Promise<T> {
    const { attempts = defaultAttempts, random, stopwatch } = this.#options
    const began = stopwatch()
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#once(manner, work, span)
      if (outcome.kind === "done") return outcome.value
      if (attempt >= attempts || stopwatch() - began >= manner.patienceMs) {
        throw busy("The change could not be made beside concurrent ones in time.", outcome.cause)
      }
      this.#options.metrics.retries.add(1)
      await backOff(attempt, random)
    }
  }

  async #once<T>(manner: Manner, work: (session: QueryRunner) => Promise<T>, span?: Span): Promise<Outcome<T>> {
    const client = await this.#connect(manner.kind)
    const session = new PostgresSession(client, manner)
    let usable = true
    let phase: Phase = "beginning"
    try {
      if (manner.readiness !== undefined) await ready(client, manner.readiness)
      await ask(client, { text: manner.begin }, manner.patienceMs)
      phase = "working"
      const value = await work(session)
      session.settle()
      await session.finished()
      if (session.failure !== undefined) throw session.failure.error
      phase = "committing"
      await commit(client, manner.patienceMs, span && commitSpan("postgres", [{ span }]))
      if (manner.writes) this.commitCount += 1
      this.#found(client, manner)
      return { kind: "done", value }
    } catch (error) {
      session.settle()
      await session.finished()
      // The work may have wrapped the error: the session knows what the server said.
      const cause = error instanceof OutdatedSnapshot ? error : (session.failure?.error ?? error)
      const met = this.#met(cause, client, manner, phase)
      usable = met.usable && (await rolledBack(client))
      if (phase === "committing" && manner.writes && !isCertainlyRolledBack(cause)) throw undecided(cause)
      if (met.told !== undefined) throw met.told
      if (met.runsAgain) return { kind: "run-again", cause }
      throw error
    } finally {
      this.#release(client, usable)
    }
  }

  /** What follows from an error: for the connection, and for whoever asked. */
  #met(
    error: unknown,
    client: PoolClient,
    { writes, awaitsLocks }: Manner,
    phase: Phase = "working",
  ): { readonly usable: boolean; readonly told?: Error; readonly runsAgain?: true } {
    if (writes && isReadOnly(error, { beginning: phase === "beginning" })) {
      this.#outlive(client)
      this.#presence.away("takes no writes", error)
      return { usable: false, told: storeAway("The database takes no writes at present.", error) }
    }
    // Of one that broke while nothing was asked, the next who asks hears only that it did.
    switch (faultOf(isBroken(error) ? (this.#breaks.get(client) ?? error) : error)) {
      case "run-again":
        return { usable: true, runsAgain: true }
      case "stale-statement":
        return { usable: false, runsAgain: true }
      case "server-lost":
        this.#outlive(client)
        this.#presence.away("cannot be reached", error)
        return { usable: false, told: unreachableDatabase(error) }
      case "connection-ended":
        return { usable: false, told: busy("The database has ended the connection.", error) }
      case "locked":
        // Let those go first who came meanwhile, and then ask again.
        return awaitsLocks ? { usable: true, runsAgain: true } : { usable: true, told: lockedOut(error) }
      case "full":
        return { usable: true, told: storeFull(error) }
      case "overloaded":
        return { usable: true, told: busy("The database could not do it in time, or has no room for it.", error) }
      default:
        return { usable: true }
    }
  }

  /** What an old connection still has to say does not count: its server may be about to end it. */
  #found(client: PoolClient, { writes }: Manner): void {
    if ((this.#ages.get(client) ?? 0) >= this.#age) this.#presence.found({ writes })
  }

  /** Nothing that is as old as this connection is used again. Those that others use end with their work. */
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
      // A server that has let us in before, and now does not, is being changed over.
      if (isRefusal(error) && !this.#hasConnected) throw error
      if (isExhausted(error)) throw this.#exhausted(error)
      // Who opens the store for the first time is told so.
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

async function ready(client: PoolClient, { await: waited, patienceMs }: Readiness): Promise<void> {
  const session = new PostgresSession(client, { patienceMs })
  try {
    await waited(session)
  } finally {
    session.settle()
  }
}

/** At once: to say good-bye to a server that does not listen takes for ever. */
const cut = (client: PoolClient): void => void client.connection.stream.destroy()

/** One statement, or several without parameters. */
const ask = (client: ClientBase, query: QueryConfig, patienceMs: number) =>
  client.query({ ...query, query_timeout: patienceMs } as QueryConfig)

class PostgresSession extends UnitOfWork {
  readonly #client: PoolClient
  readonly #patienceMs: number
  readonly #statementPrefix: string
  /** Something that only a rollback undoes. */
  hasWritten = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    client: PoolClient,
    { patienceMs, statementPrefix = "chancery" }: Pick<Manner, "patienceMs" | "statementPrefix">,
  ) {
    super("postgres")
    this.#client = client
    this.#patienceMs = patienceMs
    this.#statementPrefix = statementPrefix
  }

  /** Queries that the work began and did not wait for. */
  async finished(): Promise<void> {
    await this.#last
  }

  // A work may ask several things at once; a connection answers one after another. What follows a failure is not sent.
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
      const { rows, rowCount } = await ask(this.#client, query, this.#patienceMs)
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

async function commit(client: PoolClient, patienceMs: number, span: Span | undefined): Promise<void> {
  try {
    const { command } = await ask(client, { text: "commit" }, patienceMs)
    // So the server answers where there is nothing left to commit.
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
    await ask(client, { text: "rollback" }, silenceMs)
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

/** The pool's own words: it has no code for it. */
const isExhausted = (error: unknown): boolean =>
  error instanceof Error && error.message === "timeout exceeded when trying to connect"

export const unreachableDatabase = (cause: unknown) => storeAway("The database cannot be reached.", cause)
const lockedOut = (cause: unknown) => busy("Others hold what the change needs to lock.", cause)
const closedError = () => new Error("the database is closed")
