import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { minuteMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import type { EventRepository } from "./event.ts"

export const sweepEventsJob = { name: "events", everyMs: 5 * minuteMs, timeoutMs: 5 * minuteMs } as const

/** Events of one transaction. */
const eventsPerWrite = 1_000
/** Transactions of one run of the job. The rest waits for the next run. */
const maxWrites = 5_000

/** Deletes events that are older than the retention, even if the feed is turned off. */
export async function sweepEvents(
  {
    storage,
    runtime,
    eventRetentionMs,
  }: {
    readonly storage: Storage<{ readonly events: EventRepository }>
    readonly runtime: Pick<Runtime, "clock">
    readonly eventRetentionMs: number
  },
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const before = runtime.clock.now() - eventRetentionMs
  for (let writes = 0; writes < maxWrites; writes += 1) {
    signal.throwIfAborted()
    const swept = await storage.transact(({ events }) => events.sweep(before, eventsPerWrite))
    if (swept < eventsPerWrite) return
    await nextTurn()
  }
}
