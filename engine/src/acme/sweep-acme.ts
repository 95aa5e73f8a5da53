import type { Held } from "../core/leases.ts"
import { minuteMs } from "../core/time.ts"
import { nextTurn } from "../core/timers.ts"
import { registrationsCountMs } from "./rate-limits.ts"
import type { PkiContext } from "../pki/authority-service.ts"

/** The name of the job. */
export const sweepAcmeJob = { name: "acme", everyMs: 5 * minuteMs, timeoutMs: 5 * minuteMs } as const

/** In one transaction. */
const rowsPerWrite = 500
/** In one run of the job; the rest waits for the next. */
const writesMaximum = 2_000

/** Takes away nonces, bindings and registrations whose time is over, and which nobody could use or count any more. */
export async function sweepAcme(
  { storage, runtime }: Pick<PkiContext, "storage" | "runtime">,
  { signal }: Pick<Held, "signal">,
): Promise<void> {
  const now = runtime.clock.now()
  for (let writes = 0; writes < writesMaximum; writes += 1) {
    signal.throwIfAborted()
    const removed = await storage.transact(async ({ acmeNonces, acmeAccounts, acmeRates }) =>
      Math.max(
        await acmeNonces.sweep(now, rowsPerWrite),
        await acmeAccounts.sweepBindings(now, rowsPerWrite),
        await acmeRates.sweep(now - registrationsCountMs, rowsPerWrite),
      ),
    )
    if (removed < rowsPerWrite) return
    await nextTurn()
  }
}
