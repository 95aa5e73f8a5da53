import type { Meter, ObservableResult } from "@opentelemetry/api"
import { systemRuntime, type Log } from "../../core/runtime.ts"
import type { RandomSource } from "../../core/random.ts"
import { type EngineErrorCode, isEngineError } from "../../core/errors.ts"
import { noopMeter } from "../../core/metrics.ts"
import type { TransactOptions } from "../../core/storage.ts"
import { systemTimers, type Timers } from "../../core/timers.ts"
import type { Tracer } from "../../core/tracing.ts"
import type { Backend, BackendOptions, PostgresLimits, ReadReplicaOptions } from "./backend.ts"
import { migrate, type Migration } from "../schema/migrate.ts"
import { migrations } from "../schema/migrations/index.ts"
import type { DialectName, QueryRunner } from "./query-runner.ts"
import { openSqlite } from "../sqlite/sqlite.ts"
import { tracedBackend, tracedRun } from "./traced-backend.ts"
import { createStorageMetrics, type UnitKind, type UnitOutcome } from "./storage-metrics.ts"
import { StoreRoom } from "./store-capacity.ts"
import { UnusableStore } from "./unusable-store.ts"
import type { SyncFile } from "../sqlite/write-ahead-sync.ts"

export interface Database extends AsyncDisposable {
  readonly dialect: DialectName
  /** Durable commits of writes since it was opened. */
  readonly commitCount: number
  /** One consistent snapshot; writes are refused. */
  read<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** The same, by a read replica that has all that was committed when this was called; by the primary where there is none. */
  readReplica<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** One query, of a work that has no other. On PostgreSQL it needs no transaction, which would be three round trips for one. */
  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /**
   * All or nothing, durable when the promise resolves. `work` may run several times, and may wait for nothing but its
   * session: on SQLite others wait for the same commit. A transaction begun inside a work would wait for itself.
   */
  transact<T>(work: (session: QueryRunner) => Promise<T>, options?: TransactOptions): Promise<T>
  /** Changes tables beside servers at work; throws `EngineError("busy")` where others hold them. */
  alter<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /**
   * Brings the schema up to this release, and names what was applied; read replicas are used from then on. Throws `NewerDatabase`
   * when it is ahead.
   */
  migrate(): Promise<readonly string[]>
  /** Throws `EngineError("busy")` while the disk of the store has no room for writes. */
  checkRoom(): Promise<void>
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly random?: RandomSource
  readonly log?: Log
  readonly connections?: number | undefined
  readonly attempts?: number
  readonly longestWorkMs?: number
  readonly limits?: PostgresLimits | undefined
  readonly sync?: SyncFile
  readonly logThread?: boolean
  /** As which a database in memory begins; tests have one with the schema of this release. */
  readonly image?: Uint8Array | undefined
  readonly freePages?: number | undefined
  readonly tracer?: Tracer | undefined
  /** A file of SQLite that is open in this process already is counted on the meter of its first opener. */
  readonly meter?: Meter
  readonly readReplicas?: ReadReplicaOptions | undefined
  readonly timers?: Timers
  /** Of tests; a release has its own. */
  readonly migrations?: readonly Migration[]
}

/**
 * `sqlite:PATH`, `sqlite::memory:`, `postgres://…` or `postgresql://…`. Throws `UnusableStore` for a read replica of another
 * database; one that does not answer may do so later.
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const system = systemRuntime()
  const stopwatch = () => performance.now()
  const { tracer, meter = noopMeter, readReplicas = { urls: [] } } = options
  const metrics = createStorageMetrics(meter)
  const backendOptions: BackendOptions = {
    random: options.random ?? system.random,
    log: options.log ?? system.log,
    connections: options.connections,
    attempts: options.attempts,
    longestWorkMs: options.longestWorkMs,
    limits: options.limits,
    sync: options.sync,
    logThread: options.logThread,
    image: options.image,
    freePages: options.freePages,
    stopwatch,
    metrics,
  }
  await using opening = new AsyncDisposableStack()
  const opened = await openBackend(url, backendOptions)
  opening.defer(() => opened.close())
  const backend = tracer === undefined ? opened : tracedBackend(opened, tracer, stopwatch)
  if (readReplicas.urls.length > 0 && backend.dialect !== "postgres")
    throw new UnusableStore("Read replicas are standbys of PostgreSQL, and this store has none; leave them out.")
  const replicas =
    readReplicas.urls.length === 0
      ? undefined
      : // With the driver, which SQLite does without.
        await import("../replicas/read-replicas.ts").then(({ openReadReplicas }) =>
          openReadReplicas(readReplicas, {
            ...backendOptions,
            primary: backend,
            timers: options.timers ?? systemTimers,
            meter,
            ...(tracer && { traced: tracedRun(backend.dialect, tracer, stopwatch) }),
          }),
        )
  if (replicas !== undefined) opening.defer(() => replicas.close())
  const commits = meter.createObservableCounter("chancery_storage_commits_total", {
    description: "Durable commits; writes done divided by it is how many share one.",
  })
  const observeCommits = (result: ObservableResult) => result.observe(backend.commitCount)
  commits.addCallback(observeCommits)
  opening.defer(() => commits.removeCallback(observeCommits))
  const room = new StoreRoom(backend, backendOptions.log)
  const closing = opening.move()
  // Beside the answer and not around it: the caller waits for no further promise.
  const counted = <T>(kind: UnitKind, answer: Promise<T>): Promise<T> => {
    answer.then(
      () => metrics.transactions.add(1, { kind, outcome: "done" }),
      (error: unknown) => metrics.transactions.add(1, { kind, outcome: outcomeOf(error) }),
    )
    return answer
  }
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closing.disposeAsync())
  return {
    dialect: backend.dialect,
    get commitCount() {
      return backend.commitCount
    },
    read: (work) => counted("read", backend.read(work)),
    readReplica: (work) => counted("read", (replicas ?? backend).read(work)),
    readSingle: (work) => backend.readSingle(work),
    transact: (work, options) => {
      const answer = backend.transact(work, options)
      answer.catch((error: unknown) => room.failed(error))
      return counted("write", answer)
    },
    checkRoom: () => room.check(),
    alter: (work) => backend.alter(work),
    async migrate() {
      const applied = await migrateStepwise(backend, options.migrations ?? migrations)
      await replicas?.follow()
      return applied
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function migrateStepwise(backend: Backend, known: readonly Migration[]): Promise<readonly string[]> {
  const applied: string[] = []
  // Each step applies one at least, or is the last.
  for (let count = 0; count <= known.length; count += 1) {
    const step = await backend.exclusively((session) => migrate(session, known))
    if (step.length === 0) return applied
    applied.push(...step)
  }
  return applied
}

const outcomeOf = (error: unknown): UnitOutcome =>
  isEngineError(error) ? (passing.has(error.code) ? "busy" : "refused") : "failed"

/** Told with 503 and a time to ask again. */
const passing: ReadonlySet<EngineErrorCode> = new Set(["busy", "unavailable"])

/** The file of a `sqlite:` URL; undefined for memory and for other stores. */
export function sqliteFile(url: string): string | undefined {
  if (!url.startsWith("sqlite:") || url === "sqlite::memory:") return undefined
  return url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "")
}

async function openBackend(url: string, options: Parameters<typeof openSqlite>[1]): Promise<Backend> {
  if (url === "sqlite::memory:") return openSqlite(":memory:", options)
  const file = sqliteFile(url)
  if (file !== undefined && file !== "") return openSqlite(file, options)
  if (/^postgres(ql)?:\/\//.test(url)) {
    // With its driver, which SQLite does without.
    const { openPostgres } = await import("../postgres/postgres.ts")
    return openPostgres(url, options)
  }
  // The URL may hold a password: only its scheme is repeated.
  throw new Error(`Storage "${url.split(":", 1)[0]}:…" is not known; use sqlite:PATH, sqlite::memory: or postgres://….`)
}
