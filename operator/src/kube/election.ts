// Leader election: the replica that holds a Lease leads. Replicas do not trust each other's clocks. A lease counts as expired if a replica
// saw it unchanged for its duration by its own clock. A leader steps down by its own clock well before that.
import type { ApiClient } from "./api-client.ts"
import { ApiError } from "./cluster.ts"
import { type KubernetesObject, microTime, type Resource } from "./kubernetes-object.ts"
import { type OperatorRuntime, pause } from "../runtime.ts"

export interface ElectionOptions {
  readonly api: Pick<ApiClient, "get" | "create" | "replace">
  readonly runtime: OperatorRuntime
  /** `namespace/name` of the Lease. */
  readonly lease: string
  /** Unique identity of this replica. */
  readonly identity: string
  readonly durationMs?: number
  /** A leader steps down if it could not renew for so long. */
  readonly renewDeadlineMs?: number
  readonly retryMs?: number
}

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" }

export class Election {
  readonly #options: Required<ElectionOptions>
  /** Last seen version of the lease, and when this replica first saw that version, by its own clock. */
  #seen: { readonly object: KubernetesObject; readonly at: number } | undefined
  #leading = false
  #renewedAt = 0

  constructor(options: ElectionOptions) {
    this.#options = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000, ...options }
    const { durationMs, renewDeadlineMs, retryMs } = this.#options
    if (!(durationMs > renewDeadlineMs && renewDeadlineMs > 2 * retryMs))
      throw new Error(
        "the duration of the lease must be longer than the renewal timeout, and the renewal timeout longer than two attempts",
      )
  }

  get leading(): boolean {
    return this.#leading
  }

  /** Milliseconds since the lease was renewed; undefined while another replica leads. */
  get renewalAgeMs(): number | undefined {
    return this.#leading ? this.#options.runtime.stopwatch() - this.#renewedAt : undefined
  }

  /**
   * Waits to lead, runs `work` while leading, and then releases the lease. The signal of `work` aborts with `signal`, and when the lease is
   * lost. Resolves to `lost` if the lease was lost. The process should end then, because work that ignores the signal would run next to the
   * next leader's.
   */
  async lead(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<"ended" | "lost"> {
    const { runtime, retryMs, identity, lease } = this.#options
    while (!signal.aborted && !(await this.#attempt(signal)))
      await pause(retryMs * (1 + runtime.random() / 5), runtime, signal)
    if (signal.aborted) {
      await this.#release()
      return "ended"
    }
    this.#leading = true
    runtime.log.info("leading", { lease, identity })
    const lost = new AbortController()
    const renewals = new AbortController()
    const renewing = this.#renew(renewals.signal, lost)
    try {
      await work(AbortSignal.any([signal, lost.signal]))
    } finally {
      renewals.abort()
      await renewing
      this.#leading = false
      if (!lost.signal.aborted) await this.#release()
    }
    return lost.signal.aborted ? "lost" : "ended"
  }

  /** Meets the deadline even if requests hang, because it does not wait for their response. */
  async #renew(signal: AbortSignal, lost: AbortController): Promise<void> {
    const { runtime, retryMs, renewDeadlineMs, lease } = this.#options
    while (!signal.aborted && !lost.signal.aborted) {
      const leftMs = this.#renewedAt + renewDeadlineMs - runtime.stopwatch()
      const deadline = new AbortController()
      const cancel = runtime.timers.after(Math.max(leftMs, 0), () => deadline.abort())
      const renewed = await this.#attempt(AbortSignal.any([signal, deadline.signal]))
      cancel()
      if (signal.aborted) return
      const late = runtime.stopwatch() - this.#renewedAt >= renewDeadlineMs
      if (late || (!renewed && this.#heldByOther())) {
        runtime.log.error("the lease was lost", { lease })
        this.#leading = false
        lost.abort()
      } else await pause(retryMs, runtime, signal)
    }
  }

  /** Tries to acquire or renew the lease. Returns whether this replica holds it. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { api, lease, runtime, identity } = this.#options
    const begunAt = runtime.stopwatch()
    try {
      const present = await untilAborted(this.#read(), signal)
      if (present !== undefined && !this.#free(present)) return false
      const wanted = this.#claim(present)
      const written = present === undefined ? api.create(leases, wanted) : api.replace(leases, lease, wanted)
      this.#saw(await untilAborted(written, signal))
      // Counted from before the request: the server may have written at once and answered late.
      this.#renewedAt = begunAt
      return true
    } catch (error) {
      const raced = error instanceof ApiError && error.status === 409
      if (!raced && !signal.aborted)
        runtime.log.warn("the lease could not be written", { lease, identity, error: String(error) })
      return false
    }
  }

  async #read(): Promise<KubernetesObject | undefined> {
    const { api, lease } = this.#options
    try {
      const present = await api.get(leases, lease)
      this.#saw(present)
      return present
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    }
  }

  #saw(object: KubernetesObject): void {
    const version = object.metadata.resourceVersion
    if (this.#seen?.object.metadata.resourceVersion === version) return
    this.#seen = { object, at: this.#options.runtime.stopwatch() }
  }

  #heldByOther(): boolean {
    const holder = this.#seen === undefined ? undefined : specOf(this.#seen.object).holderIdentity
    return holder !== undefined && holder !== "" && holder !== this.#options.identity
  }

  #free(present: KubernetesObject): boolean {
    const { holderIdentity = "", leaseDurationSeconds = 0 } = specOf(present)
    if (holderIdentity === "" || holderIdentity === this.#options.identity) return true
    return this.#options.runtime.stopwatch() - (this.#seen?.at ?? 0) >= leaseDurationSeconds * 1_000
  }

  #claim(present: KubernetesObject | undefined): KubernetesObject {
    const { identity, durationMs, runtime, lease } = this.#options
    const now = microTime(runtime.clock.now())
    const before = present === undefined ? {} : specOf(present)
    const ours = before.holderIdentity === identity
    const spec: LeaseSpec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1_000),
      acquireTime: ours ? (before.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (before.leaseTransitions ?? 0) + (ours || present === undefined ? 0 : 1),
    }
    if (present !== undefined) return { ...present, spec }
    const [namespace = "", name = ""] = lease.split("/")
    return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace, name }, spec }
  }

  /** Releases the lease, so that the next leader need not wait for its expiry. A failure is only logged. */
  async #release(): Promise<void> {
    const { api, lease, runtime, identity } = this.#options
    const seen = this.#seen?.object
    if (seen === undefined || specOf(seen).holderIdentity !== identity) return
    const spec = {
      ...specOf(seen),
      holderIdentity: "",
      leaseDurationSeconds: 1,
      renewTime: microTime(runtime.clock.now()),
    }
    try {
      await api.replace(leases, lease, { ...seen, spec })
    } catch (error) {
      runtime.log.warn("the lease could not be given back", { lease, identity, error: String(error) })
    }
  }
}

const specOf = ({ spec }: KubernetesObject): LeaseSpec => spec ?? {}

/** Stops waiting when the signal aborts. The request may still arrive; a late write merely renews the lease once more. */
function untilAborted<Value>(answer: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error("timed out"))
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort)
    void answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}
