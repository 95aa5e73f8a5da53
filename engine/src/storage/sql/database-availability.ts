// Whether the database is there, as those find it who use it. However many meet that it is not, the log hears so once, and once
// more when it is back.
import type { BackendOptions } from "./backend.ts"

type Absence = "cannot be reached" | "takes no writes"

export class Presence {
  readonly #options: Pick<BackendOptions, "log" | "stopwatch">
  #absent: { readonly absence: Absence; readonly since: number } | undefined

  constructor(options: Pick<BackendOptions, "log" | "stopwatch">) {
    this.#options = options
  }

  away(absence: Absence, cause: unknown): void {
    if (this.#absent !== undefined) return
    const { log, stopwatch } = this.#options
    this.#absent = { absence, since: stopwatch() }
    log.error("database-away", { absence, reason: reasonOf(cause) })
  }

  /** A unit of work has come to its end. One that only read says nothing of writes. */
  found({ writes }: { readonly writes: boolean }): void {
    if (this.#absent === undefined) return
    if (this.#absent.absence === "takes no writes" && !writes) return
    const { log, stopwatch } = this.#options
    log.info("database-back", { awayMs: Math.round(stopwatch() - this.#absent.since) })
    this.#absent = undefined
  }
}

/** Where several addresses of one name were tried, the error of them all has no words of its own. */
function reasonOf(cause: unknown): string {
  const first = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}
