import type { Held } from "../core/leases.ts"

/** Work without a request, done by one of the servers on a store. */
export interface Job {
  /** Of its lease, its metrics and its log lines: `tidy`. */
  readonly name: string
  /** How often it is done, by whichever server. */
  readonly everyMs: number
  /** How long a run may take; then its signal aborts, and what is left waits for the next. */
  readonly timeoutMs: number
  /** Looks for itself what there is to do: there may be nothing. Repeating what was done must do no harm. */
  run(context: Held): Promise<void>
}
