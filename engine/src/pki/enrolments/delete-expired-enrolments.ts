import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import { sweepInParts } from "../../core/sweep.ts"
import { minuteMs } from "../../core/time.ts"
import type { EnrolmentRepository } from "./enrolment-repository.ts"

export const sweepEnrolmentsJob = { name: "enrolments", everyMs: 5 * minuteMs, timeoutMs: 5 * minuteMs } as const

/** Enrolments deleted in one transaction. Each has a CSR of some kilobytes. */
const enrolmentsPerWrite = 500

/** Deletes expired enrolments. Their certificates stay. */
export async function sweepEnrolments(
  {
    storage,
    runtime,
  }: {
    readonly storage: Storage<{ readonly enrolments: EnrolmentRepository }>
    readonly runtime: Pick<Runtime, "clock">
  },
  lease: Pick<HeldLease, "signal">,
): Promise<void> {
  const now = runtime.clock.now()
  // Repeatable read: nothing changes an enrolment that has expired.
  await sweepInParts(enrolmentsPerWrite, lease, () =>
    storage.transact(({ enrolments }) => enrolments.sweep(now, enrolmentsPerWrite), repeatableRead),
  )
}
