import type { HeldLease } from "../core/leases.ts"

/** Background work, run by one server at a time. */
export interface Job {
  /** Name of the lease, metrics and log entries of the job, such as `tidy`. */
  readonly name: string
  /** Milliseconds between two runs, whichever server does them. */
  readonly everyMs: number
  /** Maximum duration of a run in milliseconds. Its signal then aborts, and the next run does the rest. */
  readonly timeoutMs: number
  /** Determines what there is to do, possibly nothing, and does it. Must be idempotent. */
  run(context: HeldLease): Promise<void>
}
