import { isStoreAway } from "./errors.ts"
import type { Log } from "./runtime.ts"

/**
 * Logs a failure of background work that is retried. While the database is unavailable, all such work fails. The storage logs the cause,
 * so these failures are logged at `debug` only.
 */
export function logFailure(
  log: Log,
  level: "warn" | "error",
  event: string,
  fields: Readonly<Record<string, unknown>> & { readonly error: unknown },
): void {
  log[isStoreAway(fields.error) ? "debug" : level](event, fields)
}
