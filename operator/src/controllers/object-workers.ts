// Queue and workers of one kind: changes and timers put keys into the queue, and workers handle one object at a time, as the watch has shown
// it since the last write.
import type { Changed } from "../kube/cluster.ts"
import { isOutdated } from "../kube/cluster.ts"
import type { KubernetesObject, ObjectKey, Resource } from "../kube/kubernetes-object.ts"
import type { ControllerMetrics, OperatorMetrics, ReconcileOutcomeLabel } from "../metrics.ts"
import type { ObjectStore } from "../kube/object-store.ts"
import { RequeueAfter } from "./reconcile-result.ts"
import { ReadYourWrites } from "../kube/read-your-writes.ts"
import type { OperatorRuntime } from "../runtime.ts"
import { belongsTo, type Shard } from "./shard.ts"
import { type Urgency, WorkQueue } from "./work-queue.ts"

export interface ObjectWorkersOptions {
  readonly runtime: OperatorRuntime
  readonly resource: Resource
  readonly store: Pick<ObjectStore, "get">
  readonly metrics: Pick<OperatorMetrics, "controller">
  readonly workers?: number
  readonly shard?: Shard
  /** Handles one object. It must end soon after the signal aborts, and write nothing then. */
  readonly handle: (key: ObjectKey, object: KubernetesObject, signal: AbortSignal) => Promise<ReconcileOutcomeLabel>
  /** Called for a key whose object is gone. */
  readonly gone?: (key: ObjectKey) => void
}

const drainMs = 25_000
/** Longer work probably waits for something that never happens; it is aborted, and a new attempt may succeed. */
const maxWorkMs = 300_000
/** The watch is about to deliver the newer object. If it does not, the object is handled anyway. */
const outdatedMs = 1_000

export class ObjectWorkers {
  readonly metrics: ControllerMetrics
  readonly queue: WorkQueue
  readonly #options: ObjectWorkersOptions
  readonly #workers: number
  readonly #writes: ReadYourWrites
  /** Keys whose own last write the watch has not delivered yet. */
  readonly #behind = new Set<ObjectKey>()
  readonly #begunAt = new Map<ObjectKey, number>()

  constructor(options: ObjectWorkersOptions) {
    const { runtime, resource, metrics, workers = 16 } = options
    this.#options = options
    this.#workers = workers
    this.metrics = metrics.controller(resource.plural, {
      maxWorkers: workers,
      depth: () => this.queue.depth,
      runningMs: () => [...this.#begunAt.values()].map((at) => runtime.stopwatch() - at),
    })
    this.queue = new WorkQueue({ ...runtime, observer: this.metrics.queue })
    this.#writes = new ReadYourWrites(runtime.stopwatch)
  }

  /** Queues an object after a change from the cluster, if the change matters or the object waited for the watch. */
  changed(key: ObjectKey, how: Parameters<Changed>[1], matters: boolean): void {
    const caughtUp = this.#behind.delete(key)
    if (caughtUp || matters) this.queue.add(key, how === "found" ? "resync" : "change")
  }

  /** Requeues an object after a change of something that it references. */
  touch(key: ObjectKey, urgency: Urgency = "change"): void {
    this.queue.forget(key)
    this.queue.add(key, urgency)
  }

  /** Call after each write of an object. It is not handled again before the watch has shown the write. */
  wrote(key: ObjectKey, { metadata: { resourceVersion } }: KubernetesObject): void {
    if (resourceVersion !== undefined) this.#writes.remember(key, resourceVersion)
  }

  /** Returns the objects whose own last write the watch has not shown yet, as it has shown them before. */
  behind(): readonly KubernetesObject[] {
    return this.#writes.keys().flatMap((key) => {
      const object = this.#options.store.get(key)
      return object === undefined || this.#writes.waitMs(key, object.metadata.resourceVersion) === 0 ? [] : [object]
    })
  }

  /**
   * Runs workers until the signal aborts, then finishes objects in progress. If `orderly` has not aborted by then, another replica leads
   * now, and work stops at once.
   */
  async run(signal: AbortSignal, orderly: AbortSignal): Promise<void> {
    const { runtime, resource } = this.#options
    const cut = new AbortController()
    const stop = () => this.queue.close()
    signal.addEventListener("abort", stop)
    if (signal.aborted) stop()
    let cancel = () => {}
    signal.addEventListener("abort", () => {
      if (orderly.aborted) cancel = runtime.timers.after(drainMs, () => cut.abort())
      else cut.abort()
    })
    await Promise.all(Array.from({ length: this.#workers }, () => this.#work(cut.signal)))
    cancel()
    signal.removeEventListener("abort", stop)
    if (cut.signal.aborted) runtime.log.warn("work was cut short", { controller: resource.plural })
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      await this.#handle(key, signal)
      this.queue.done(key)
    }
  }

  async #handle(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const { store, shard, runtime, handle, gone } = this.#options
    const object = store.get(key)
    if (object === undefined) {
      this.queue.forget(key)
      this.#writes.forget(key)
      gone?.(key)
      return
    }
    if (shard !== undefined && !belongsTo(shard, object)) return
    const waitMs = this.#writes.waitMs(key, object.metadata.resourceVersion)
    if (waitMs > 0) {
      this.#behind.add(key)
      this.queue.addAfter(key, waitMs, "retry")
      return
    }
    const begunAt = runtime.stopwatch()
    this.#begunAt.set(key, begunAt)
    let result: ReconcileOutcomeLabel = "error"
    const overdue = new AbortController()
    const { promise: never, reject } = Promise.withResolvers<never>()
    const cancel = runtime.timers.after(maxWorkMs, () => {
      // If the work resumes later, it writes nothing.
      overdue.abort()
      reject(new ReconcileTimeout())
    })
    try {
      result = await Promise.race([handle(key, object, AbortSignal.any([signal, overdue.signal])), never])
    } catch (error) {
      result = this.#failed(key, error)
    } finally {
      cancel()
      this.metrics.ended(result, runtime.stopwatch() - begunAt)
      this.#begunAt.delete(key)
    }
  }

  #failed(key: ObjectKey, error: unknown): ReconcileOutcomeLabel {
    const { runtime, resource } = this.#options
    if (isOutdated(error) || error instanceof RequeueAfter) {
      this.queue.addAfter(key, error instanceof RequeueAfter ? error.againAfterMs : outdatedMs, "retry")
      return "requeue_after"
    }
    if (isFault(error)) this.metrics.panicked()
    if (isTimeout(error)) this.metrics.timedOut()
    const againAfterMs = this.queue.retry(key)
    const { plural: controller } = resource
    runtime.log.error("reconciling failed", { controller, key, againAfterMs, error: String(error) })
    return "error"
  }
}

/** Errors that only a defect of the operator causes. */
const isFault = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError

/** Timeout codes of undici. */
const timeoutCodes: readonly unknown[] = ["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]

const isTimeout = (error: unknown): boolean =>
  error instanceof ReconcileTimeout || (error instanceof Error && "code" in error && timeoutCodes.includes(error.code))

class ReconcileTimeout extends Error {
  constructor() {
    super(`The reconciliation took longer than ${maxWorkMs / 1_000} s and was aborted.`)
  }
}
