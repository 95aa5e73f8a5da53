import type { HeldLease } from "../core/leases.ts"
import { dayMs, type Instant, minuteMs } from "../core/time.ts"
import { nextTurn } from "../core/timers.ts"
import type { AcmeTools } from "./directory-service.ts"
import { registrationsCountMs } from "./orders/rate-limits.ts"
import type { MountId } from "../pki/mounts/mount.ts"
import type { AcmeContext } from "./acme-context.ts"

export const sweepAcmeJob = { name: "acme", everyMs: 5 * minuteMs, timeoutMs: 5 * minuteMs } as const

/** Rows in one transaction. */
const rowsPerWrite = 500
/** Transactions in one run of the job; the next run does the rest. */
const maxWrites = 2_000

/** Age of expired orders that a server ends after its start. */
const lookBackMs = dayMs

type ExpiredOrdersContext = Pick<AcmeContext, "storage" | "runtime" | "mountDirectory"> & {
  readonly acmeTools: Pick<AcmeTools, "metrics">
}

/** Ends expired orders. Remembers for each mount up to which time this process has done so; at first, a day ago. */
export class ExpiredOrders {
  readonly #context: ExpiredOrdersContext
  readonly #until = new Map<MountId, Instant>()

  constructor(context: ExpiredOrdersContext) {
    this.#context = context
  }

  /** Ends expired orders. Each is counted once, by the server that ends it. */
  async end({ signal }: Pick<HeldLease, "signal">): Promise<void> {
    const { storage, runtime, mountDirectory, acmeTools } = this.#context
    const until = runtime.clock.now()
    const { mounts } = await mountDirectory.current()
    const known = new Set(mounts.map(({ id }) => id))
    for (const id of this.#until.keys()) if (!known.has(id)) this.#until.delete(id)
    for (const { id } of mounts) {
      const time = { after: this.#until.get(id) ?? until - lookBackMs, until }
      let isDone = false
      for (let writes = 0; writes < maxWrites && !isDone; writes += 1) {
        signal.throwIfAborted()
        const { ended, newly } = await storage.transact(({ acmeOrders }) =>
          acmeOrders.endExpired(id, time, rowsPerWrite),
        )
        acmeTools.metrics.orders.add(newly, { status: "invalid" })
        isDone = ended < rowsPerWrite
        if (!isDone) await nextTurn()
      }
      // The next run finds the rest, because it begins at the same instant.
      if (isDone) this.#until.set(id, until)
    }
  }
}

/** Deletes expired nonces, bindings and registrations, which nothing uses or counts any more. */
export async function sweepAcme(
  { storage, runtime }: Pick<AcmeContext, "storage" | "runtime">,
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const now = runtime.clock.now()
  for (let writes = 0; writes < maxWrites; writes += 1) {
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
