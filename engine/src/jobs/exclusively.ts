import { logFailure } from "../core/failure-log.ts"
import { type Exclusively, type ExclusiveTask, type HeldLease, type Lease, type Leases } from "../core/leases.ts"
import type { Runtime } from "../core/runtime.ts"
import { minuteMs, secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"

export interface ExclusivelyOptions {
  readonly leases: Leases
  /** Identifies this engine among all others, including others in this process. */
  readonly holder: string
  readonly runtime: Pick<Runtime, "clock" | "log">
  readonly timers: Timers
  /** Aborts when the engine closes. */
  readonly stopped: AbortSignal
}

/** A lease outlives the timeout of its work by this much, so that work which obeys its signal never outlasts its lease. */
const marginMs = 30 * secondMs
/** Maximum lease time. Longer work renews its lease, so that after a crash other servers wait no longer than this. */
const longestTtlMs = minuteMs

export function exclusively(options: ExclusivelyOptions): Exclusively {
  return async (task, work) => {
    const { leases, holder, runtime } = options
    const began = runtime.clock.now()
    const ttlMs = Math.min(task.timeoutMs + marginMs, longestTtlMs)
    const { name, unlessDoneAfter } = task
    const lease = await leases.acquire({
      name,
      holder,
      now: began,
      ttlMs,
      ...(unlessDoneAfter === undefined ? {} : { unlessDoneAfter }),
    })
    if (lease === undefined) return { held: false }

    const keeper = keep(lease, task, ttlMs, options)
    let doneAt: number | undefined
    try {
      const value = await work(keeper.held)
      if (!keeper.held.signal.aborted) doneAt = began
      return { held: true, value }
    } finally {
      await keeper.release(doneAt)
    }
  }
}

/** Renews a lease until it is released. Aborts its work if the lease is lost or the timeout passes. */
function keep(
  lease: Lease,
  { name, timeoutMs }: ExclusiveTask,
  ttlMs: number,
  { leases, runtime, timers, stopped }: ExclusivelyOptions,
): { readonly held: HeldLease; release(doneAt: number | undefined): Promise<void> } {
  const { clock, log } = runtime
  const lost = new AbortController()
  let expiresAt = lease.expiresAt
  let renewing: Promise<void> = Promise.resolve()
  let cancelRenewal = () => {}

  const renewLater = () => {
    cancelRenewal = timers.after(Math.floor(ttlMs / 3), () => {
      renewing = renew()
    })
  }
  const renew = async () => {
    try {
      const now = clock.now()
      const renewed = await leases.renew(lease, { now, ttlMs })
      if (renewed === undefined) return lost.abort(new Error(`the lease ${name} was lost`))
      expiresAt = renewed.expiresAt
    } catch (error) {
      logFailure(log, "warn", "lease-not-renewed", { lease: name, error })
      if (clock.now() >= expiresAt) return lost.abort(new Error(`the lease ${name} expired`, { cause: error }))
    }
    if (!signal.aborted) renewLater()
  }

  const cancelTimeout = timers.after(timeoutMs, () =>
    lost.abort(new Error(`${name} took longer than ${timeoutMs / secondMs} seconds`)),
  )
  const signal = AbortSignal.any([lost.signal, stopped])
  renewLater()

  return {
    held: { signal, fence: lease.fence },
    async release(doneAt) {
      cancelTimeout()
      cancelRenewal()
      await renewing
      cancelRenewal()
      try {
        await leases.release(lease, { doneAt })
      } catch (error) {
        // The lease expires by itself.
        logFailure(log, "warn", "lease-not-released", { lease: name, error })
      }
    },
  }
}
