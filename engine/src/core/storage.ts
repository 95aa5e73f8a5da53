/**
 * How much of what a transaction reads is protected from concurrent changes. `serializable`: all of it. `repeatable-read`: one
 * snapshot, in which only writes of the same row and the constraints of the schema conflict, so that transactions about
 * different objects never do. PostgreSQL tracks the reads of a serializable transaction by page, and in a small table nearly
 * every row shares its pages with others. SQLite runs one transaction after another and ignores it.
 */
export type Isolation = "serializable" | "repeatable-read"

export interface TransactOptions {
  /** `serializable` when left out. A caller that passes `repeatable-read` says beside it why nothing it decides can be outdated. */
  readonly isolation?: Isolation
}

export const repeatableRead: TransactOptions = { isolation: "repeatable-read" }

/** The same storage, whose transactions are repeatable read. */
export const atRepeatableRead = <Stores>(storage: Storage<Stores>): Storage<Stores> => ({
  read: (work) => storage.read(work),
  readReplica: (work) => storage.readReplica(work),
  transact: (work, options) => storage.transact(work, { ...options, ...repeatableRead }),
})

/**
 * The storage port. `Stores` is whatever set of stores the work needs; a service names only the ones it uses.
 * The stores handed to `work` are valid until it settles; a later call on them throws.
 */
export interface Storage<Stores> {
  /** One consistent snapshot; writes are refused. */
  read<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  /**
   * The same, for lists and counts, which may be long: another server of the database may answer, which has all that was
   * committed when this was called. `work` may run twice.
   */
  readReplica<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  /**
   * All or nothing, durable when the promise resolves. `work` may run several times, so it must not reach outside:
   * no network, no logging that assumes success. Throws `EngineError("busy")` when contention outlasts the retries.
   */
  transact<T>(work: (stores: Stores) => Promise<T>, options?: TransactOptions): Promise<T>
}
