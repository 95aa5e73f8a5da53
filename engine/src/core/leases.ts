// Leases between the servers of one database. A lease avoids duplicate work; a condition in the statement, such as the fence, guards each
// write (docs/decisions/job-leases.md).
import type { Instant } from "./time.ts"

export interface Lease {
  readonly name: string
  readonly holder: string
  /** Increases with each new holder, so that writes under an older lease can be rejected. */
  readonly fence: number
  readonly expiresAt: Instant
}

export interface LeaseRequest {
  readonly name: string
  readonly holder: string
  readonly now: Instant
  readonly ttlMs: number
  /** Does not acquire the lease if any server completed the task after this instant. */
  readonly unlessDoneAfter?: Instant
}

export interface Leases {
  /**
   * Returns undefined while another server has the lease, or if the task is already done (`unlessDoneAfter`). A lease that was acquired
   * by a clock far ahead of `now` does not block.
   */
  acquire(request: LeaseRequest): Promise<Lease | undefined>
  /** Returns undefined if the lease expired or another server acquired it. The caller must stop its work then. */
  renew(lease: Lease, renewal: { readonly now: Instant; readonly ttlMs: number }): Promise<Lease | undefined>
  /** Releases the lease. `doneAt` records that the task was completed, as of this instant. Does nothing if another server has the lease. */
  release(lease: Lease, outcome: { readonly doneAt: Instant | undefined }): Promise<void>
}

/** Arguments of work that runs under a lease. */
export interface HeldLease {
  /** Aborts when the lease is lost, the timeout is over or the engine closes. The work must stop soon; the next run does the rest. */
  readonly signal: AbortSignal
  readonly fence: number
}

export interface ExclusiveTask {
  /** Name of the lease, such as `crl/iss-…/0`. Its row stays in the database, so the set of names must be bounded. */
  readonly name: string
  /** Time after which the signal aborts the work. */
  readonly timeoutMs: number
  readonly unlessDoneAfter?: Instant
}

/**
 * Runs `work` unless another server runs the same task, and returns whether it ran. The lease lasts as long as `work` may run. It expires
 * within a minute after a crash of the server. `work` must check again that it is still needed.
 */
export type Exclusively = <T>(
  task: ExclusiveTask,
  work: (held: HeldLease) => Promise<T>,
) => Promise<{ readonly held: true; readonly value: T } | { readonly held: false }>
