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
  readElsewhere<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  /**
   * All or nothing, durable when the promise resolves. `work` may run several times, so it must not reach outside:
   * no network, no logging that assumes success. Throws `EngineError("busy")` when contention outlasts the retries.
   */
  transact<T>(work: (stores: Stores) => Promise<T>): Promise<T>
}
