// Tracks whether the database is reachable, as units of work experience it. The log gets one entry when it becomes unavailable and one when
// it is back, however many units of work fail.
import type { BackendOptions } from "./backend.ts"

type UnavailabilityReason = "cannot be reached" | "takes no writes"

export class DatabaseAvailability {
  readonly #options: Pick<BackendOptions, "log" | "stopwatch">
  #absent: { readonly absence: UnavailabilityReason; readonly since: number } | undefined

  constructor(options: Pick<BackendOptions, "log" | "stopwatch">) {
    this.#options = options
  }

  away(absence: UnavailabilityReason, cause: unknown): void {
    if (this.#absent !== undefined) return
    const { log, stopwatch } = this.#options
    this.#absent = { absence, since: stopwatch() }
    log.error("database-away", { absence, reason: reasonOf(cause) })
  }

  /** Records a unit of work that completed. One that only read does not show that the database takes writes. */
  found({ writes }: { readonly writes: boolean }): void {
    if (this.#absent === undefined) return
    if (this.#absent.absence === "takes no writes" && !writes) return
    const { log, stopwatch } = this.#options
    log.info("database-back", { awayMs: Math.round(stopwatch() - this.#absent.since) })
    this.#absent = undefined
  }
}

/** If several addresses of one name were tried, the `AggregateError` has no message of its own. */
function reasonOf(cause: unknown): string {
  const first = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}
