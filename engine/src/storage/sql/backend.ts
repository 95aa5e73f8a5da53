import type { RandomSource } from "../../core/random.ts"
import type { Log } from "../../core/runtime.ts"
import type { Isolation } from "../../core/storage.ts"
import type { Span } from "../../core/tracing.ts"
import type { StorageMetrics } from "./storage-metrics.ts"
import type { SyncFile } from "../sqlite/write-ahead-sync.ts"
import type { DialectName, QueryRunner } from "./query-runner.ts"

export const defaultLongestWorkMs = 10_000
/** Default size of a server's PostgreSQL connection pool. */
export const defaultPoolSize = 10

/** Operations that each database implements; `database.ts` adds the rest. */
export interface Backend {
  readonly dialect: DialectName
  /** Number of durable commits of writes since the database was opened. On SQLite, one commit may contain many units of work. */
  readonly commitCount: number
  read<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** Runs a unit of work that consists of one query. PostgreSQL needs no transaction for it, which saves two of three round trips. */
  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** Runs a read-write transaction. `options.span` is the span of the unit of work; the commit becomes a child of it. */
  transact<T>(work: (session: QueryRunner) => Promise<T>, options?: BackendTransactOptions): Promise<T>
  /** Runs one transaction, excluding `exclusively` and `alter` of all other processes and replicas. For migrations. */
  exclusively<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /**
   * Runs DDL while other servers are live, in one transaction, one at a time over all servers. Its `lock_timeout` is short because queries
   * queue behind it. Throws `EngineError("busy")` on timeout.
   */
  alter<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** Completes pending units of work and rejects later ones. */
  close(): Promise<void>
}

export interface BackendTransactOptions {
  readonly span?: Span | undefined
  readonly isolation?: Isolation | undefined
}

export interface BackendOptions {
  readonly random: RandomSource
  readonly log: Log
  readonly metrics: StorageMetrics
  /** Returns milliseconds with fractions, for durations only. */
  readonly stopwatch: () => number
  /** Syncs a SQLite file to disk. Tests make it fail. */
  readonly sync?: SyncFile | undefined
  /** Moves pages from SQLite's write-ahead log into the file on a separate thread if the process commits often. Default: true. */
  readonly logThread?: boolean | undefined
  /** Initial bytes of a database in memory, which must not be in WAL mode: memory has no write-ahead log. For tests. */
  readonly image?: Uint8Array | undefined
  /** Maximum number of pages by which the SQLite file may grow, to simulate a full disk. For tests. */
  readonly freePages?: number | undefined
  /** Number of parallel reads: reader connections of SQLite, or the whole pool of PostgreSQL. */
  readonly connections?: number | undefined
  /** Number of attempts of a contended transaction before the caller gets `busy`. */
  readonly attempts?: number | undefined
  /** Milliseconds after which a unit of work that has not settled is aborted. It holds the writer, or a connection and locks. */
  readonly longestWorkMs?: number | undefined
  readonly limits?: PostgresLimits | undefined
}

export interface ReadReplicaOptions {
  /** `postgres://…` URLs, each of one standby or of a load balancer over several. */
  readonly urls: readonly string[]
  /** Milliseconds that a read waits for a replica to catch up with what was committed before it. Default: 250. */
  readonly waitMs?: number | undefined
}

/** Timeouts of PostgreSQL, in milliseconds. */
export interface PostgresLimits {
  /** Wait for a connection, new or from the pool. Default: 5 seconds. */
  readonly connectTimeoutMs?: number | undefined
  /** Limit of one statement, and of all retries of one unit of work. Default: 10 seconds. */
  readonly statementTimeoutMs?: number | undefined
  /** Wait for a database lock. Default: 5 seconds. */
  readonly lockTimeoutMs?: number | undefined
  /** Idle time after which PostgreSQL ends a transaction. Default: 10 seconds. */
  readonly idleTimeoutMs?: number | undefined
  /** Idle time after which PostgreSQL ends a migration, whose server may be preparing to rewrite large data. Default: one minute. */
  readonly idleMigrationMs?: number | undefined
}
