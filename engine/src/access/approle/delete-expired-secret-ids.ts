import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { sweepInParts } from "../../core/sweep.ts"
import { minuteMs } from "../../core/time.ts"
import type { SecretIdRepository } from "./app-role-repository.ts"

export const sweepSecretIdsJob = { name: "secret-ids", everyMs: 5 * minuteMs, timeoutMs: 5 * minuteMs } as const

/** Secret ids deleted in one transaction. */
export const secretIdsPerWrite = 500

/** Deletes expired secret ids, with which clients can no longer log in. */
export async function sweepSecretIds(
  {
    storage,
    runtime,
  }: {
    readonly storage: Storage<{ readonly secretIds: SecretIdRepository }>
    readonly runtime: Pick<Runtime, "clock">
  },
  lease: Pick<HeldLease, "signal">,
): Promise<void> {
  const now = runtime.clock.now()
  await sweepInParts(secretIdsPerWrite, lease, () =>
    storage.transact(({ secretIds }) => secretIds.sweep(now, secretIdsPerWrite)),
  )
}
