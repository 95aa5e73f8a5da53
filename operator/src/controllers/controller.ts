// Controller of one kind: changes and timers put keys into the queue. A worker reconciles the object and writes its status at most once,
// and only if it differs.
import { isDeepStrictEqual } from "node:util"
import { type Changed, type Cluster, isOutdated, isRejection } from "../kube/cluster.ts"
import { type Condition, conditionsOf, isOwn, stored, type StoredCondition } from "./conditions.ts"
import type { EventRecorder } from "../kube/event-recorder.ts"
import { type KubernetesObject, type ObjectKey, type Resource, secondTime } from "../kube/kubernetes-object.ts"
import type { ControllerMetrics, OperatorMetrics, ReconcileOutcomeLabel } from "../metrics.ts"
import type { ObjectStore } from "../kube/object-store.ts"
import {
  type ReconcileResult,
  type OwnStatus,
  RequeueAfter,
  rejectionHealth,
  NotReadyError,
} from "./reconcile-result.ts"
import { ReadYourWrites } from "../kube/read-your-writes.ts"
import type { Reconciler, ReconcileRequest } from "./reconciler.ts"
import type { OperatorRuntime } from "../runtime.ts"
import { belongsTo, type Shard } from "./shard.ts"
import { type Urgency, WorkQueue } from "./work-queue.ts"

export interface ControllerOptions {
  readonly cluster: Pick<Cluster, "applyStatus" | "setFinalizers">
  readonly runtime: OperatorRuntime
  readonly resource: Resource
  readonly store: Pick<ObjectStore, "get">
  readonly reconciler: Reconciler
  /** Types of the kind's own conditions that every object has from its first reconciliation on. */
  readonly alwaysPresent?: readonly string[]
  readonly recorder: Pick<EventRecorder, "record">
  readonly metrics: Pick<OperatorMetrics, "controller">
  readonly workers?: number
  readonly shard?: Shard
}

/** Members of every kind's status. Others belong to the kind. */
interface FramedStatus {
  readonly observedGeneration?: number
  readonly lastHandledReconcileAt?: string
  readonly nextAttemptTime?: string
  readonly conditions?: readonly StoredCondition[]
}

const pausedAnnotation = "chancery.dev/paused"
/** The operator's own annotation, and that of Flux. */
const requestAnnotations = ["chancery.dev/reconcile-requested-at", "reconcile.fluxcd.io/requestedAt"]
const fieldManager = "chancery-operator"
const drainMs = 25_000
/** Spreads the polls of objects that were created together. */
const pollJitter = 0.1
const pausedPollMs = 3_600_000
/** A longer reconciliation probably waits for something that never happens; it is aborted, and a new one may succeed. */
const maxReconcileMs = 300_000
/** Earlier retries are not announced in the status, because each announcement is a write. */
const announcedFromMs = 30_000
/** The watch is about to deliver the newer object. If it does not, the object is reconciled anyway. */
const outdatedMs = 1_000

/** Context of one reconciliation of an object. */
interface ReconcileContext {
  readonly key: ObjectKey
  readonly signal: AbortSignal
  /** The object as it was read or last written. */
  object: KubernetesObject
}

export class Controller {
  readonly #options: ControllerOptions
  readonly #workers: number
  readonly #metrics: ControllerMetrics
  readonly #queue: WorkQueue
  readonly #writes: ReadYourWrites
  /** Keys whose own last write the watch has not delivered yet. */
  readonly #behind = new Set<ObjectKey>()
  readonly #begunAt = new Map<ObjectKey, number>()
  /** Number of quiet reconciliations by object. */
  readonly #turns = new Map<ObjectKey, number>()

  constructor(options: ControllerOptions) {
    const { runtime, resource, metrics, workers = 16 } = options
    this.#options = options
    this.#workers = workers
    this.#metrics = metrics.controller(resource.plural, {
      maxWorkers: workers,
      depth: () => this.#queue.depth,
      runningMs: () => [...this.#begunAt.values()].map((at) => runtime.stopwatch() - at),
    })
    this.#queue = new WorkQueue({ ...runtime, observer: this.#metrics.queue })
    this.#writes = new ReadYourWrites(runtime.stopwatch)
  }

  /** Handles a change from the cluster. Writes of the status need no reconciliation. */
  changed(...[key, how, previous]: Parameters<Changed>): void {
    const object = this.#options.store.get(key)
    const caughtUp = this.#behind.delete(key)
    if (caughtUp || matters(previous, object)) this.#queue.add(key, how === "found" ? "resync" : "change")
  }

  /** Requeues an object after a change of something that it references. */
  touch(key: ObjectKey, urgency: Urgency = "change"): void {
    this.#queue.forget(key)
    this.#queue.add(key, urgency)
  }

  /**
   * Runs workers until the signal aborts, then finishes objects in progress. If `orderly` has not aborted by then, another replica leads
   * now, and work stops at once.
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
      await this.#reconcileKey(key, signal)
      this.#queue.done(key)
    }
  }

  async #reconcileKey(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const { store, shard, runtime } = this.#options
    const object = store.get(key)
    if (object === undefined) {
      this.#queue.forget(key)
      this.#writes.forget(key)
      this.#turns.delete(key)
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
    let result: ReconcileOutcomeLabel = "error"
    const overdue = new AbortController()
    const { promise: never, reject } = Promise.withResolvers<never>()
    const cancel = runtime.timers.after(maxReconcileMs, () => {
      // If the reconciliation resumes later, it writes nothing.
      overdue.abort()
      reject(new ReconcileTimeout())
    })
    try {
      result = await Promise.race([
        this.#reconcile({ key, object, signal: AbortSignal.any([signal, overdue.signal]) }),
        never,
      ])
    } catch (error) {
      result = this.#failed(key, error)
    } finally {
      cancel()
      this.#metrics.ended(result, runtime.stopwatch() - begunAt)
      this.#begunAt.delete(key)
    }
  }

  #failed(key: ObjectKey, error: unknown): ReconcileOutcomeLabel {
    const { runtime, resource } = this.#options
    if (isOutdated(error) || error instanceof RequeueAfter) {
      this.#queue.addAfter(key, error instanceof RequeueAfter ? error.againAfterMs : outdatedMs, "retry")
      return "requeue_after"
    }
    if (isFault(error)) this.#metrics.panicked()
    if (isTimeout(error)) this.#metrics.timedOut()
    const againAfterMs = this.#queue.retry(key)
    const { plural: controller } = resource
    runtime.log.error("reconciling failed", { controller, key, againAfterMs, error: String(error) })
    return "error"
  }

  /** Reconciles one object: finalizer and cleanup, pause, adding the finalizer, then the kind's own work. */
  async #reconcile(context: ReconcileContext): Promise<ReconcileOutcomeLabel> {
    const { reconciler } = this.#options
    const { metadata } = context.object
    const { finalizer } = reconciler
    const hasFinalizer = finalizer !== undefined && metadata.finalizers?.includes(finalizer.name) === true
    if (metadata.deletionTimestamp !== undefined) {
      if (!hasFinalizer) return "success"
      const outcome = await settled(async () => reconciler.finalize?.(context.object, this.#reconcileRequest(context)))
      if (outcome !== undefined) return this.#settle(context, outcome)
      await this.#setFinalizer(context, finalizer.name, false)
      this.#queue.forget(context.key)
      return "success"
    }
    if (metadata.annotations?.[pausedAnnotation] === "true") {
      await this.#report(context, { conditions: pausedConditions(statusOf(context.object).conditions ?? []) })
      return this.#again(context.key, pausedPollMs)
    }
    if (finalizer !== undefined) {
      const needed = finalizer.needed(context.object)
      // Before anything is created outside of the cluster.
      const refusal =
        needed === hasFinalizer ? undefined : await settled(() => this.#setFinalizer(context, finalizer.name, needed))
      if (refusal !== undefined) return this.#settle(context, refusal)
    }
    const outcome = await settled(() => reconciler.reconcile(context.object, this.#reconcileRequest(context)))
    return this.#settle(context, outcome)
  }

  async #settle(context: ReconcileContext, outcome: ReconcileResult): Promise<ReconcileOutcomeLabel> {
    const { runtime, alwaysPresent = [] } = this.#options
    const { health, conditions, status, againAfterMs, nextAttemptAt } = outcome
    if (health.is === "stalled") this.#metrics.stalled()
    const before = statusOf(context.object).conditions ?? []
    const own = conditions ?? before.filter(isOwn)
    const missing = alwaysPresent.filter((type) => !own.some((one) => one.type === type))
    const { reason, message } = health
    const unknown = missing.map((type): Condition => ({ type, status: "Unknown", reason, message }))
    // Computed before the status is written, so that the status can show the time.
    const backoffMs = againAfterMs === undefined && nextAttemptAt === undefined ? this.#queue.backoff(context.key) : 0
    const nextAt = nextAttemptAt ?? (backoffMs < announcedFromMs ? undefined : runtime.clock.now() + backoffMs)
    try {
      await this.#report(context, {
        conditions: [...conditionsOf(health), ...unknown, ...own],
        // The kind's conditions were not checked, so they keep their generation.
        keepsOwn: conditions === undefined,
        ...(status === undefined ? {} : { status }),
        ...(nextAt === undefined ? {} : { nextAttemptTime: secondTime(nextAt) }),
      })
    } catch (error) {
      if (isOutdated(error) || backoffMs === 0) throw error
      this.#queue.addAfter(context.key, backoffMs, "retry")
      runtime.log.error("a status could not be written", { key: context.key, error: String(error) })
      return "error"
    }
    if (backoffMs > 0) {
      this.#queue.addAfter(context.key, backoffMs, "retry")
      return "error"
    }
    if (nextAttemptAt === undefined) return this.#again(context.key, againAfterMs ?? 0)
    this.#queue.forget(context.key)
    this.#queue.addAfter(context.key, nextAttemptAt - runtime.clock.now(), "resync")
    return "requeue_after"
  }

  #again(key: ObjectKey, againAfterMs: number): ReconcileOutcomeLabel {
    this.#queue.forget(key)
    const jittered = againAfterMs * (1 + pollJitter * (2 * this.#options.runtime.random() - 1))
    this.#queue.addAfter(key, jittered, "resync")
    return "requeue_after"
  }

  #reconcileRequest(context: ReconcileContext): ReconcileRequest {
    const { runtime, recorder } = this.#options
    const quiet = isQuiet(context.object)
    const turn = this.#turns.get(context.key) ?? 0
    if (quiet) this.#turns.set(context.key, turn + 1)
    return {
      signal: context.signal,
      now: runtime.clock.now(),
      quiet,
      turn,
      get status() {
        return ownStatusOf(context.object)
      },
      saveStatus: async (status) => {
        const { resourceVersion } = context.object.metadata
        const framed = framedOf(statusOf(context.object))
        await this.#write(context, { ...framed, ...status }, resourceVersion)
      },
      record: (happening) => recorder.record(context.object, happening),
    }
  }

  async #setFinalizer(context: ReconcileContext, name: string, hasFinalizer: boolean): Promise<void> {
    const { cluster, resource } = this.#options
    const others = (context.object.metadata.finalizers ?? []).filter((one) => one !== name)
    context.signal.throwIfAborted()
    const written = await cluster.setFinalizers(resource, context.object, hasFinalizer ? [...others, name] : others)
    this.#wrote(context, written)
  }

  async #report(
    context: ReconcileContext,
    report: {
      readonly conditions: readonly (Condition | StoredCondition)[]
      readonly keepsOwn?: boolean
      readonly status?: OwnStatus
      readonly nextAttemptTime?: string
    },
  ): Promise<void> {
    const { runtime, recorder } = this.#options
    const before = statusOf(context.object)
    const { generation = 0, annotations } = context.object.metadata
    const handled = requestOf(annotations)
    const { conditions, keepsOwn = true, nextAttemptTime } = report
    const now = runtime.clock.now()
    const status: FramedStatus = {
      ...(report.status ?? ownStatusOf(context.object)),
      observedGeneration: generation,
      ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
      ...(nextAttemptTime === undefined ? {} : { nextAttemptTime }),
      conditions: conditions.flatMap((condition) =>
        keepsOwn && "lastTransitionTime" in condition && isOwn(condition)
          ? condition
          : stored([condition], before.conditions ?? [], generation, now),
      ),
    }
    if (isDeepStrictEqual(status, context.object["status"])) return
    const transition = turningPoint(before.conditions ?? [], conditions)
    await this.#write(context, { ...status })
    if (transition !== undefined) {
      const type = transition.status === "True" ? "Normal" : "Warning"
      await recorder.record(context.object, { type, reason: transition.reason, note: transition.message })
    }
  }

  async #write(context: ReconcileContext, status: OwnStatus, resourceVersion?: string): Promise<void> {
    const { cluster, resource } = this.#options
    context.signal.throwIfAborted()
    const options = resourceVersion === undefined ? {} : { resourceVersion }
    const written = await cluster.applyStatus(resource, context.object, status, fieldManager, options)
    this.#metrics.wroteStatus()
    this.#wrote(context, written)
  }

  #wrote(context: ReconcileContext, written: KubernetesObject): void {
    context.object = written
    const { resourceVersion } = written.metadata
    if (resourceVersion !== undefined) this.#writes.remember(context.key, resourceVersion)
  }
}

async function settled<Value>(work: () => Promise<Value>): Promise<Value | ReconcileResult> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NotReadyError) return error.outcome
    if (isRejection(error) && error.status < 500)
      return { health: rejectionHealth("RequestRejected", "a request", error) }
    throw error
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
    super(`The reconciliation took longer than ${maxReconcileMs / 1_000} s and was aborted.`)
  }
}

const statusOf = (object: KubernetesObject): FramedStatus => object["status"] ?? {}

function framedOf({
  observedGeneration,
  lastHandledReconcileAt,
  nextAttemptTime,
  conditions,
}: FramedStatus): OwnStatus {
  return Object.fromEntries(
    Object.entries({ observedGeneration, lastHandledReconcileAt, nextAttemptTime, conditions }).filter(
      ([, value]) => value !== undefined,
    ),
  )
}

function ownStatusOf(object: KubernetesObject): OwnStatus {
  const {
    observedGeneration: _1,
    lastHandledReconcileAt: _2,
    nextAttemptTime: _3,
    conditions: _4,
    ...own
  } = statusOf(object)
  return own
}

const requestOf = (annotations: KubernetesObject["metadata"]["annotations"]): string | undefined =>
  requestAnnotations.map((name) => annotations?.[name]).find((token) => token !== undefined)

function isQuiet(object: KubernetesObject): boolean {
  const { observedGeneration, lastHandledReconcileAt, conditions = [] } = statusOf(object)
  const { generation, annotations } = object.metadata
  return (
    observedGeneration === generation &&
    lastHandledReconcileAt === requestOf(annotations) &&
    conditions.some(({ type, status }) => type === "Ready" && status === "True") &&
    conditions.every(({ type }) => type !== "Paused")
  )
}

/** Returns whether the object was created, deleted or changed, except in its status. */
function matters(before: KubernetesObject | undefined, after: KubernetesObject | undefined): boolean {
  if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return true
  const { generation, annotations, deletionTimestamp } = before.metadata
  return (
    generation !== after.metadata.generation ||
    deletionTimestamp !== after.metadata.deletionTimestamp ||
    !isDeepStrictEqual(annotations, after.metadata.annotations)
  )
}

/** Returns the earlier conditions and `Paused`. */
function pausedConditions(before: readonly StoredCondition[]): readonly (Condition | StoredCondition)[] {
  const message = `The object is not reconciled while the annotation ${pausedAnnotation} is "true", except to clean up after its deletion.`
  const ready = before.find(({ type }) => type === "Ready")
  return [
    ready === undefined
      ? { type: "Ready", status: "False", reason: "Paused", message }
      : { type: "Ready", status: ready.status, reason: ready.reason, message: ready.message },
    { type: "Paused", status: "True", reason: "Paused", message },
    ...before.filter(isOwn),
  ]
}

/** Returns the condition to record as an event: Ready, if its status or reason changed. */
function turningPoint(before: readonly Condition[], after: readonly Condition[]): Condition | undefined {
  const was = before.find(({ type }) => type === "Ready")
  const is = after.find(({ type }) => type === "Ready")
  return was?.status === is?.status && was?.reason === is?.reason ? undefined : is
}
