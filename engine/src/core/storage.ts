/**
 * Isolation of a transaction from concurrent changes. `serializable` protects all that it reads. `repeatable-read` reads one snapshot;
 * only writes of the same row and constraints of the schema conflict. PostgreSQL tracks reads of a serializable transaction by page. In a
 * small table nearly all rows share a page, so that unrelated transactions conflict. SQLite ignores it, because it runs one transaction
 * after another.
 */
export type Isolation = "serializable" | "repeatable-read"

export interface TransactOptions {
  /** Default: `serializable`. A comment at each use of `repeatable-read` explains why outdated reads cannot affect its decisions. */
  readonly isolation?: Isolation
}

export const repeatableRead: TransactOptions = { isolation: "repeatable-read" }

/** Returns the same storage with repeatable-read transactions. */
export const atRepeatableRead = <Stores>(storage: Storage<Stores>): Storage<Stores> => ({
  read: (work) => storage.read(work),
  readReplica: (work) => storage.readReplica(work),
  transact: (work, options) => storage.transact(work, { ...options, ...repeatableRead }),
})

/**
 * The storage port. `Stores` is the set of repositories that the work needs; a service names only the ones it uses. The repositories are
 * valid until `work` settles; later calls on them throw.
 */
export interface Storage<Stores> {
  /** Runs `work` on one consistent snapshot. Writes are rejected. */
  read<T>(work: (repositories: Stores) => Promise<T>): Promise<T>
  /**
   * Like `read`, for lists and counts that may take long. A replica of the database may answer. It has all commits that precede this
   * call. `work` may run twice.
   */
  readReplica<T>(work: (repositories: Stores) => Promise<T>): Promise<T>
  /**
   * Runs `work` in a transaction: all or nothing, durable when the promise resolves. `work` may run several times, so it must have no
   * side effects: no network, no logging that assumes success. Throws `EngineError("busy")` if conflicts outlast the retries.
   */
  transact<T>(work: (repositories: Stores) => Promise<T>, options?: TransactOptions): Promise<T>
}
