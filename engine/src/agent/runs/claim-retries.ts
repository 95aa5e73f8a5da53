// Calls of an agent while the server may be away. Nearly all calls of a claim can be repeated (docs/runs.md), so they are repeated until
// the lease would have ended anyway.
import { setTimeout as sleep } from "node:timers/promises"
import { isEngineError } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"

const pauseMs = 2 * secondMs

/** Returns whether the server may be able to answer later. */
export const isTemporary = (error: unknown): boolean =>
  (["unavailable", "busy", "out-of-service", "rate-limited", "internal"] as const).some((code) =>
    isEngineError(error, code),
  )

/** Returns whether the run no longer belongs to the caller: its lease has ended, or another caller ended the run. */
export const isLost = (error: unknown): boolean => isEngineError(error, "not-found") || isEngineError(error, "conflict")

/** Repeats `call` while the server is away, with pauses of `retryMs` milliseconds in total. */
export async function withRetries<T>(call: () => Promise<T>, retryMs: number): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return await call()
    } catch (error) {
      if (!isTemporary(error) || waitedMs >= retryMs) throw error
      await sleep(pauseMs)
    }
  }
}
