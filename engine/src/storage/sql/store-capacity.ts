// Whether the store has room for what is written. A write that finds its disk full says so; from then on a probe decides, which writes
// as much as a small request does: a load balancer that has taken this server out sends it no writes to find out by.
import { isStoreFull } from "../../core/errors.ts"
import type { Log } from "../../core/runtime.ts"
import type { Backend } from "./backend.ts"
import { statement } from "./query-runner.ts"

const probeName = "storage-probe"
/** More than is left over in pages that are begun. */
const probeBytes = 64 * 1024

export class StoreRoom {
  readonly #backend: Pick<Backend, "transact">
  readonly #log: Log
  #isFull = false

  constructor(backend: Pick<Backend, "transact">, log: Log) {
    this.#backend = backend
    this.#log = log
  }

  /** Of a write that failed. */
  failed(error: unknown): void {
    if (!isStoreFull(error) || this.#isFull) return
    this.#isFull = true
    this.#log.error("storage-full", {
      error: error.cause,
      advice: "free space on the disk of the database or enlarge it",
    })
  }

  /** Throws what `storeFull` made while writes find no room. */
  async check(): Promise<void> {
    if (!this.#isFull) return
    await this.#backend.transact((session) => session.execute(writeProbe, { value: "x".repeat(probeBytes) }))
    await this.#backend.transact((session) => session.execute(removeProbe, {}))
    this.#isFull = false
    this.#log.info("storage-has-room", {})
  }
}

const writeProbe = statement<{ readonly value: string }, unknown>((db, { value }) =>
  db
    .insertInto("settings")
    .values({ name: probeName, value })
    .onConflict((known) => known.column("name").doUpdateSet({ value })),
)
const removeProbe = statement<object, unknown>((db) => db.deleteFrom("settings").where("name", "=", probeName))
