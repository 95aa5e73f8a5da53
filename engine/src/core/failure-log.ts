import { isStoreAway } from "./errors.ts"
import type { Log } from "./runtime.ts"

/**
 * Of work that nobody waits for, and that is tried again. While the store is away all of it fails: the store has told why, and each
 * of them says so at `debug` alone.
 */
export function logFailure(
  log: Log,
  level: "warn" | "error",
  event: string,
  fields: Readonly<Record<string, unknown>> & { readonly error: unknown },
): void {
  log[isStoreAway(fields.error) ? "debug" : level](event, fields)
}
