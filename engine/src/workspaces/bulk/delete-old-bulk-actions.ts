// Deletes stored bulk actions after their key has expired.
import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import type { BulkRepository } from "./bulk-action.ts"

interface Context {
  readonly storage: Storage<{ readonly bulkActions: BulkRepository }>
  readonly runtime: Pick<Runtime, "clock">
}

export const forgetBulkActionsJob = { name: "bulk-actions", everyMs: hourMs, timeoutMs: 5 * minuteMs } as const

/** Limit of actions per transaction. */
const actionsPerWrite = 20
/** Limit of transactions per run of the job. The next run continues. */
const maxWrites = 1_000

export async function forgetBulkActions(
  { storage, runtime }: Context,
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const now = runtime.clock.now()
  for (let writes = 0; writes < maxWrites; writes += 1) {
    signal.throwIfAborted()
    if ((await storage.transact(({ bulkActions }) => bulkActions.sweep(now, actionsPerWrite))) === 0) return
    await nextTurn()
  }
}
