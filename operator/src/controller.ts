// Keeps the status of every object of one kind true: a change or the clock puts its key into the queue, a worker looks at the
// object and writes what it found, at most once and only if it differs.
import { isDeepStrictEqual } from "node:util"
import type { ApiClient } from "./api-client.ts"
import { type Condition, conditionsOf, type Health, stored, type StoredCondition } from "./conditions.ts"
import type { EventRecorder } from "./event-recorder.ts"
import type { KubernetesObject, ObjectKey, Resource } from "./kubernetes-object.ts"
import type { ControllerMetrics, OperatorMetrics } from "./metrics.ts"
import type { ObjectStore } from "./object-store.ts"
import { OwnWrites } from "./own-writes.ts"
import type { OperatorRuntime } from "./runtime.ts"
import { belongsTo, type Shard } from "./shard.ts"
import { WorkQueue } from "./work-queue.ts"

export interface Outcome {
  readonly health: Health
  /** After how long to look again though nothing changed; unless given, after a while that grows with each failure. */
  readonly againAfterMs?: number
}

export interface ControllerOptions {
  readonly api: Pick<ApiClient, "applyStatus">
  readonly runtime: OperatorRuntime
  readonly resource: Resource
  readonly store: ObjectStore
  readonly reconcile: (object: KubernetesObject, signal: AbortSignal) => Promise<Outcome>
  readonly recorder: Pick<EventRecorder, "record">
  readonly metrics: Pick<OperatorMetrics, "controller">
  readonly workers?: number
  readonly shard?: Shard
}

interface Status {
  readonly observedGeneration?: number
  readonly lastHandledReconcileAt?: string
  readonly conditions?: readonly StoredCondition[]
}

const pausedAnnotation = "chancery.dev/paused"
/** Ours, and the one that Flux sets. */
const requestAnnotations = ["chancery.dev/reconcile-requested-at", "reconcile.fluxcd.io/requestedAt"]
const fieldManager = "chancery-operator"
const drainMs = 25_000
/** Polls of objects that were made together drift apart. */
const pollJitter = 0.1

export class Controller {
  readonly #options: ControllerOptions
  readonly #workers: number
  readonly #metrics: ControllerMetrics
  readonly #queue: WorkQueue
  readonly #writes: OwnWrites
  /** Those that wait for the watch to show an own write. */
  readonly #behind = new Set<ObjectKey>()
  readonly #begunAt = new Map<ObjectKey, number>()

  constructor(options: ControllerOptions) {
    const { runtime, resource, metrics, workers = 16 } = options
    this.#options = options
    this.#workers = workers
    this.#metrics = metrics.controller(resource.plural, {
      workersMaximum: workers,
      depth: () => this.#queue.depth,
      runningMs: () => [...this.#begunAt.values()].map((at) => runtime.stopwatch() - at),
    })
    this.#queue = new WorkQueue({ ...runtime, observer: this.#metrics.queue })
    this.#writes = new OwnWrites(runtime.stopwatch)
  }

  /** What the reflector tells. Our own writes of a status are nothing to look at. */
  changed(key: ObjectKey, how: "found" | "changed", previous: KubernetesObject | undefined): void {
    const object = this.#options.store.get(key)
    const caughtUp = this.#behind.delete(key)
    if (caughtUp || matters(previous, object)) this.#queue.add(key, how === "found" ? "resync" : "change")
  }

  /** Something that the object refers to has changed. */
  touch(key: ObjectKey): void {
    this.#queue.forget(key)
    this.#queue.add(key, "change")
  }

  /**
   * Works until the signal, then finishes what it has begun. Unless `orderly` has ended too it does not finish: somebody else
   * works from now on.
   */
  async run(signal: AbortSignal, orderly: AbortSignal): Promise<void> {
    const { runtime, resource } = this.#options
    const cut = new AbortController()
    const stop = () => this.#queue.close()
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
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      await this.#visit(key, signal)
      this.#queue.done(key)
    }
  }

  async #visit(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const { store, shard, runtime, resource } = this.#options
    const object = store.get(key)
    if (object === undefined) {
      this.#queue.forget(key)
      this.#writes.forget(key)
      return
    }
    if (shard !== undefined && !belongsTo(shard, object)) return
    const waitMs = this.#writes.waitMs(key, object.metadata.resourceVersion)
    if (waitMs > 0) {
      this.#behind.add(key)
      this.#queue.addAfter(key, waitMs, "retry")
      return
    }
    const begunAt = runtime.stopwatch()
    this.#begunAt.set(key, begunAt)
    try {
      const { againAfterMs } = await this.#reconcile(key, object, signal)
      if (againAfterMs === undefined) this.#queue.retry(key)
      else {
        this.#queue.forget(key)
        const jittered = againAfterMs * (1 + pollJitter * (2 * runtime.random() - 1))
        this.#queue.addAfter(key, jittered, "resync")
      }
      this.#metrics.ended(againAfterMs === undefined ? "error" : "requeue_after", runtime.stopwatch() - begunAt)
    } catch (error) {
      this.#metrics.ended("error", runtime.stopwatch() - begunAt)
      const againAfterMs = this.#queue.retry(key)
      const { plural: controller } = resource
      runtime.log.error("reconciling failed", { controller, key, againAfterMs, error: String(error) })
    } finally {
      this.#begunAt.delete(key)
    }
  }

  async #reconcile(key: ObjectKey, object: KubernetesObject, signal: AbortSignal): Promise<{ againAfterMs?: number }> {
    const before = (object["status"] ?? {}) as Status
    if (object.metadata.annotations?.[pausedAnnotation] === "true") {
      await this.#report(key, object, pausedConditions(before.conditions ?? []), signal)
      return { againAfterMs: pausedPollMs }
    }
    const { health, againAfterMs } = await this.#options.reconcile(object, signal)
    await this.#report(key, object, conditionsOf(health), signal)
    return againAfterMs === undefined ? {} : { againAfterMs }
  }

  async #report(
    key: ObjectKey,
    object: KubernetesObject,
    conditions: readonly Condition[],
    signal: AbortSignal,
  ): Promise<void> {
    const { api, resource, runtime, recorder } = this.#options
    const before = (object["status"] ?? {}) as Status
    const { generation = 0, annotations } = object.metadata
    const handled = requestAnnotations.map((name) => annotations?.[name]).find((token) => token !== undefined)
    const status: Status = {
      observedGeneration: generation,
      ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
      conditions: stored(conditions, before.conditions ?? [], generation, runtime.clock.now()),
    }
    if (isDeepStrictEqual(status, object["status"])) return
    signal.throwIfAborted()
    const written = await api.applyStatus(resource, object, status, fieldManager)
    this.#metrics.wroteStatus()
    const { resourceVersion } = written.metadata
    if (resourceVersion !== undefined) this.#writes.remember(key, resourceVersion)
    const said = turningPoint(before.conditions ?? [], conditions)
    if (said !== undefined) {
      const type = said.status === "True" ? "Normal" : "Warning"
      await recorder.record(object, { type, reason: said.reason, note: said.message })
    }
  }
}

const pausedPollMs = 3_600_000

/** Whether the object was, is, or is differently; its status is ours. */
function matters(before: KubernetesObject | undefined, after: KubernetesObject | undefined): boolean {
  if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return true
  const { generation, annotations, deletionTimestamp } = before.metadata
  return (
    generation !== after.metadata.generation ||
    deletionTimestamp !== after.metadata.deletionTimestamp ||
    !isDeepStrictEqual(annotations, after.metadata.annotations)
  )
}

/** Whether it is usable stays as it was found last. */
function pausedConditions(before: readonly StoredCondition[]): readonly Condition[] {
  const message = `Nothing is done while the annotation ${pausedAnnotation} is "true".`
  const ready = before.find(({ type }) => type === "Ready")
  return [
    ready === undefined
      ? { type: "Ready", status: "False", reason: "Paused", message }
      : { type: "Ready", status: ready.status, reason: ready.reason, message: ready.message },
    { type: "Paused", status: "True", reason: "Paused", message },
  ]
}

/** The condition to tell of: whether and why it is ready, if that is news. */
function turningPoint(before: readonly Condition[], after: readonly Condition[]): Condition | undefined {
  const was = before.find(({ type }) => type === "Ready")
  const is = after.find(({ type }) => type === "Ready")
  return was?.status === is?.status && was?.reason === is?.reason ? undefined : is
}
