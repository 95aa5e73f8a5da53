import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import { minuteMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import type { EnrolmentRepository } from "./enrolment-repository.ts"

export const sweepEnrolmentsJob = { name: "enrolments", everyMs: 5 * minuteMs, timeoutMs: 5 * minuteMs } as const

/** Enrolments deleted in one transaction. Each has a CSR of some kilobytes. */
const enrolmentsPerWrite = 500
/** Transactions of one run of the job. The rest waits for the next run. */
const maxWrites = 2_000

/** Deletes expired enrolments. Their certificates stay. */
export async function sweepEnrolments(
  {
    storage,
    runtime,
  }: {
    readonly storage: Storage<{ readonly enrolments: EnrolmentRepository }>
    readonly runtime: Pick<Runtime, "clock">
  },
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const now = runtime.clock.now()
  for (let writes = 0; writes < maxWrites; writes += 1) {
    signal.throwIfAborted()
    // Repeatable read: nothing changes an enrolment that has expired.
    const swept = await storage.transact(({ enrolments }) => enrolments.sweep(now, enrolmentsPerWrite), repeatableRead)
    if (swept < enrolmentsPerWrite) return
    await nextTurn()
  }
}
