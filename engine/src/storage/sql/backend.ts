import type { RandomSource } from "../../core/random.ts"
import type { Log } from "../../core/runtime.ts"
import type { Isolation } from "../../core/storage.ts"
import type { Span } from "../../core/tracing.ts"
import type { StorageMetrics } from "./storage-metrics.ts"
import type { SyncFile } from "../sqlite/write-ahead-sync.ts"
import type { DialectName, QueryRunner } from "./query-runner.ts"

export const defaultLongestWorkMs = 10_000
/** Connections that one server keeps to PostgreSQL. */
export const defaultPoolSize = 10

/** What a dialect must be able to do; `database.ts` builds the rest on it. */
export interface Backend {
  readonly dialect: DialectName
  /** Durable commits of writes since it was opened; on SQLite one may carry many units of work. */
  readonly commitCount: number
  read<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** One query, of a work that has no other. On PostgreSQL it needs no transaction, which would be three round trips for one. */
  readSingle<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** `span`: of the unit of work, which what the backend itself does for it is told of. */
  transact<T>(work: (session: QueryRunner) => Promise<T>, options?: BackendTransactOptions): Promise<T>
  /** One transaction that no other process or replica runs beside; for migrations. */
  exclusively<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /**
   * One transaction that changes tables beside servers at work, one of all of them at a time: whoever comes meanwhile waits for
   * as long as it waits, so it gives up soon, and throws `EngineError("busy")`.
   */
  alter<T>(work: (session: QueryRunner) => Promise<T>): Promise<T>
  /** Finishes what was accepted, refuses what comes later. */
  close(): Promise<void>
}

export interface BackendTransactOptions {
  readonly span?: Span | undefined
  readonly isolation?: Isolation | undefined
}

export interface BackendOptions {
  /** Jitters retries. */
  readonly random: RandomSource
  readonly log: Log
  readonly metrics: StorageMetrics
  /** Milliseconds with fractions, for durations only. */
  readonly stopwatch: () => number
  /** Of a file of SQLite; tests let it fail. */
  readonly sync?: SyncFile | undefined
  /** Whether a busy process moves SQLite's log into the file on a thread of its own; true when left out. */
  readonly logThread?: boolean | undefined
  /** Of tests: the bytes of the database as which one in memory begins; without a write-ahead log, which memory has not. */
  readonly image?: Uint8Array | undefined
  /** Of tests: the file of SQLite may grow by so many pages, as if its disk had no room for more. */
  readonly freePages?: number | undefined
  /** How many reads run beside each other: reader connections of SQLite, the whole pool of PostgreSQL. */
  readonly connections?: number | undefined
  /** How often a contended transaction is tried before the caller hears `busy`. */
  readonly attempts?: number | undefined
  /** How long a work may go without settling before it is given up: it holds the writer, or a connection and locks. */
  readonly longestWorkMs?: number | undefined
  readonly limits?: PostgresLimits | undefined
}

/** Of PostgreSQL alone. */
export interface ReadReplicaOptions {
  /** `postgres://…`; each of one standby, or of whatever divides connections among several. */
  readonly urls: readonly string[]
  /** How long a read waits for a replica to have what was committed before it; a quarter of a second when left out. */
  readonly waitMs?: number | undefined
}

/** Of PostgreSQL alone; in milliseconds. */
export interface PostgresLimits {
  /** Until a connection is there, be it a new one or one that is free again; 5 seconds when left out. */
  readonly connectTimeoutMs?: number | undefined
  /** Of one statement, and of the whole of what one unit of work tries again; 10 seconds when left out. */
  readonly statementTimeoutMs?: number | undefined
  /** Of the wait for a lock of the database; 5 seconds when left out. */
  readonly lockTimeoutMs?: number | undefined
  /** After which a transaction is ended whose server asks nothing more; 10 seconds when left out. */
  readonly idleTimeoutMs?: number | undefined
  /** The same of one that migrates, whose server may be about to rewrite what is large; a minute when left out. */
  readonly idleMigrationMs?: number | undefined
}
