import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { minuteMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import type { SecretIdRepository } from "./app-role-repository.ts"

export const sweepSecretIdsJob = { name: "secret-ids", everyMs: 5 * minuteMs, timeoutMs: 5 * minuteMs } as const

/** Secret ids deleted in one transaction. */
export const secretIdsPerWrite = 500
/** Transactions of one run of the job. The rest waits for the next run. */
const maxWrites = 2_000

/** Deletes expired secret ids, with which clients can no longer log in. */
export async function sweepSecretIds(
  {
    storage,
    runtime,
  }: {
    readonly storage: Storage<{ readonly secretIds: SecretIdRepository }>
    readonly runtime: Pick<Runtime, "clock">
  },
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const now = runtime.clock.now()
  for (let writes = 0; writes < maxWrites; writes += 1) {
    signal.throwIfAborted()
    const swept = await storage.transact(({ secretIds }) => secretIds.sweep(now, secretIdsPerWrite))
    if (swept < secretIdsPerWrite) return
    await nextTurn()
  }
}
