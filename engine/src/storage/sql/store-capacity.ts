// Tracks whether the database has disk space for writes. The first write that fails for a full disk sets the state. From then on a probe
// tests it, with as much data as a small request writes. A load balancer that has removed this server sends it no other writes.
import { isStoreFull } from "../../core/errors.ts"
import type { Log } from "../../core/runtime.ts"
import type { Backend } from "./backend.ts"
import { statement } from "./query-runner.ts"

const probeName = "storage-probe"
/** More than fits into partly filled pages. */
const probeBytes = 64 * 1024

export class StorageCapacity {
  readonly #backend: Pick<Backend, "transact">
  readonly #log: Log
  #isFull = false

  constructor(backend: Pick<Backend, "transact">, log: Log) {
    this.#backend = backend
    this.#log = log
  }

  /** Records the error of a failed write. */
  failed(error: unknown): void {
    if (!isStoreFull(error) || this.#isFull) return
    this.#isFull = true
    this.#log.error("storage-full", {
      error: error.cause,
      advice: "free space on the disk of the database or enlarge it",
    })
  }

  /** Throws the error of the probe (see `storeFull`) while the disk is full. Returns without a query if no write has failed. */
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
