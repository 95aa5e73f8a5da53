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
import { StorageCapacity } from "./store-capacity.ts"
import { UnusableStore } from "./unusable-store.ts"
import type { SyncFile } from "../sqlite/write-ahead-sync.ts"

export interface Database extends AsyncDisposable {
  readonly dialect: DialectName
  /** Number of durable commits of writes since the database was opened. */
  readonly commitCount: number
  /** Runs `work` on one consistent snapshot. Writes fail. */
  read<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** Like `read`, but a read replica that has everything committed before this call may answer. Without one, the primary answers. */
  readReplica<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** Runs a unit of work that consists of one query. PostgreSQL needs no transaction for it, which saves two of three round trips. */
  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /**
   * Runs a transaction, all or nothing, durable when the promise resolves. `work` may run several times. It must await nothing but its
   * session: on SQLite other units of work wait for the same commit. A nested transaction would deadlock.
   */
  transact<T>(work: (session: QueryRunner) => Promise<T>, options?: TransactOptions): Promise<T>
  /** Runs DDL while other servers are live. Throws `EngineError("busy")` if it does not get its locks in time. */
  alter<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /**
   * Migrates the schema to this release and returns the ids of the applied migrations. Then starts to use the read replicas. Throws
   * `NewerDatabase` if the schema is of a newer release.
   */
  migrate(): Promise<readonly string[]>
  /** Throws `EngineError("busy")` while the disk of the database is full. */
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
  /** Initial content of a database in memory. For tests, which start from the schema of this release. */
  readonly image?: Uint8Array | undefined
  readonly freePages?: number | undefined
  readonly tracer?: Tracer | undefined
  /** A SQLite file that is already open in this process is counted on the meter of its first opener. */
  readonly meter?: Meter
  readonly readReplicas?: ReadReplicaOptions | undefined
  readonly timers?: Timers
  /** Migrations to apply. For tests; the default is those of this release. */
  readonly migrations?: readonly Migration[]
}

/**
 * Opens `sqlite:PATH`, `sqlite::memory:`, `postgres://…` or `postgresql://…`. Throws `UnusableStore` if a read replica belongs to another
 * database. A replica that is not reachable yet is used later.
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
    throw new UnusableStore("Read replicas need a store in PostgreSQL; omit them.")
  const replicas =
    readReplicas.urls.length === 0
      ? undefined
      : // Imported on demand, with the PostgreSQL driver, which SQLite does not need.
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
    description: "Durable commits. Completed writes divided by commits is the number of writes per commit.",
  })
  const observeCommits = (result: ObservableResult) => result.observe(backend.commitCount)
  commits.addCallback(observeCommits)
  opening.defer(() => commits.removeCallback(observeCommits))
  const room = new StorageCapacity(backend, backendOptions.log)
  const closing = opening.move()
  // Observes the promise instead of wrapping it, so that the caller waits for no further promise.
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
  // Each step applies at least one migration, or is the last.
  for (let count = 0; count <= known.length; count += 1) {
    const step = await backend.exclusively((session) => migrate(session, known))
    if (step.length === 0) return applied
    applied.push(...step)
  }
  return applied
}

const outcomeOf = (error: unknown): UnitOutcome =>
  isEngineError(error) ? (passing.has(error.code) ? "busy" : "refused") : "failed"

/** Codes that are answered with 503 and `Retry-After`. */
const passing: ReadonlySet<EngineErrorCode> = new Set(["busy", "unavailable"])

/** Returns the path of a `sqlite:` URL, or undefined for `sqlite::memory:` and other URLs. */
export function sqliteFile(url: string): string | undefined {
  if (!url.startsWith("sqlite:") || url === "sqlite::memory:") return undefined
  return url.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "")
}

async function openBackend(url: string, options: Parameters<typeof openSqlite>[1]): Promise<Backend> {
  if (url === "sqlite::memory:") return openSqlite(":memory:", options)
  const file = sqliteFile(url)
  if (file !== undefined && file !== "") return openSqlite(file, options)
  if (/^postgres(ql)?:\/\//.test(url)) {
    // Imported on demand, with its driver, which SQLite does not need.
    const { openPostgres } = await import("../postgres/postgres.ts")
    return openPostgres(url, options)
  }
  // The URL may contain a password: only its scheme is repeated.
  throw new Error(
    `Storage "${url.split(":", 1)[0]}:…" is not supported; use sqlite:PATH, sqlite::memory: or postgres://….`,
  )
}
