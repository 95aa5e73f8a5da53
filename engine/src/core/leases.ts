// Leases between the servers of one store. A lease avoids duplicate work; a condition in the statement, such as the fence, guards
// each write (docs/decisions/job-leases.md).
import type { Instant } from "./time.ts"

export interface Lease {
  readonly name: string
  readonly holder: string
  /** Grows with every new holder: a write made under an older one can be refused. */
  readonly fence: number
  readonly expiresAt: Instant
}

export interface LeaseRequest {
  readonly name: string
  readonly holder: string
  readonly now: Instant
  readonly ttlMs: number
  /** Not if what the lease is for was done after this instant, by whomever. */
  readonly unlessDoneAfter?: Instant
}

export interface Leases {
  /**
   * Undefined while another holds it, unless that one took it by a clock that is far ahead of `now`, or when there is nothing to do
   * (`unlessDoneAfter`).
   */
  acquire(request: LeaseRequest): Promise<Lease | undefined>
  /** Undefined when it ran out or was taken over: stop what it covered. */
  renew(lease: Lease, renewal: { readonly now: Instant; readonly ttlMs: number }): Promise<Lease | undefined>
  /** `doneAt`: what the lease is for was done, as of this instant. Does nothing to a lease that is another's by now. */
  release(lease: Lease, outcome: { readonly doneAt: Instant | undefined }): Promise<void>
}

/** What work under a lease is told. */
export interface Held {
  /** Aborts when the lease is lost, the time is up or the engine closes: stop soon; what is left waits for the next run. */
  readonly signal: AbortSignal
  readonly fence: number
}

export interface ExclusiveTask {
  /** Of the lease, such as `crl/iss-…/0`. Its row stays, so names come from a set that does not grow without end. */
  readonly name: string
  /** When to give up, by way of the signal. */
  readonly timeoutMs: number
  readonly unlessDoneAfter?: Instant
}

/**
 * Runs `work` if no other server is at the same task, and says whether it did. The lease lasts for as long as `work` may
 * run, and runs out within a minute where a server dies. Look again, inside `work`, whether it is still needed.
 */
export type Exclusively = <T>(
  task: ExclusiveTask,
  work: (held: Held) => Promise<T>,
) => Promise<{ readonly held: true; readonly value: T } | { readonly held: false }>
