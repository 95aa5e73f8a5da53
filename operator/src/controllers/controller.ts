// Controller of one kind: changes and timers put keys into the queue. A worker reconciles the object and writes its status at most once,
// and only if it differs.
import { isDeepStrictEqual } from "node:util"
import { type Changed, type Cluster, isOutdated, isRejection } from "../kube/cluster.ts"
import { type Condition, conditionsOf, isOwn, stored, type StoredCondition } from "./conditions.ts"
import type { EventRecorder } from "../kube/event-recorder.ts"
import { type KubernetesObject, type ObjectKey, type Resource, secondTime } from "../kube/kubernetes-object.ts"
import type { OperatorMetrics, ReconcileOutcomeLabel } from "../metrics.ts"
import type { ObjectStore } from "../kube/object-store.ts"
import { type ReconcileResult, type OwnStatus, rejectionHealth, NotReadyError } from "./reconcile-result.ts"
import type { Reconciler, ReconcileRequest } from "./reconciler.ts"
import type { OperatorRuntime } from "../runtime.ts"
import { ObjectWorkers } from "./object-workers.ts"
import type { Shard } from "./shard.ts"
import type { Urgency } from "./work-queue.ts"

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
  /** Each reconciliation compares whole objects. Default: polls compare one part at a time. */
  readonly compareAll?: boolean
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
/** Spreads the polls of objects that were created together. */
const pollJitter = 0.1
const pausedPollMs = 3_600_000
/** Earlier retries are not announced in the status, because each announcement is a write. */
const announcedFromMs = 30_000

/** Context of one reconciliation of an object. */
interface ReconcileContext {
  readonly key: ObjectKey
  readonly signal: AbortSignal
  /** The object as it was read or last written. */
  object: KubernetesObject
}

export class Controller {
  readonly #options: ControllerOptions
  readonly #workers: ObjectWorkers
  /** Number of quiet reconciliations by object. */
  readonly #turns = new Map<ObjectKey, number>()

  constructor(options: ControllerOptions) {
    this.#options = options
    this.#workers = new ObjectWorkers({
      ...options,
      handle: (key, object, signal) => this.#reconcile({ key, object, signal }),
      gone: (key) => this.#turns.delete(key),
    })
  }

  /** Handles a change from the cluster. Writes of the status need no reconciliation. */
  changed(...[key, how, previous]: Parameters<Changed>): void {
    this.#workers.changed(key, how, matters(previous, this.#options.store.get(key)))
  }

  /** See `ObjectWorkers.touch`. */
  touch(key: ObjectKey, urgency: Urgency = "change"): void {
    this.#workers.touch(key, urgency)
  }

  /** See `ObjectWorkers.behind`. */
  behind(): readonly KubernetesObject[] {
    return this.#workers.behind()
  }

  get isIdle(): boolean {
    return this.#workers.queue.isIdle
  }

  /** See `ObjectWorkers.run`. */
  run(signal: AbortSignal, orderly: AbortSignal): Promise<void> {
    return this.#workers.run(signal, orderly)
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
      this.#workers.queue.forget(context.key)
      return "success"
    }
    if (metadata.annotations?.[pausedAnnotation] === "true") {
      const { observedGeneration = 0, conditions = [] } = statusOf(context.object)
      // A spec that changed during the pause was not reconciled, and must not be read as finished.
      await this.#report(context, { conditions: pausedConditions(conditions), observedGeneration })
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
    if (health.is === "stalled") this.#workers.metrics.stalled()
    const before = statusOf(context.object).conditions ?? []
    const own = conditions ?? before.filter(isOwn)
    const missing = alwaysPresent.filter((type) => !own.some((one) => one.type === type))
    const { reason, message } = health
    const unknown = missing.map((type): Condition => ({ type, status: "Unknown", reason, message }))
    // Computed before the status is written, so that the status can show the time.
    const backoffMs =
      againAfterMs === undefined && nextAttemptAt === undefined ? this.#workers.queue.backoff(context.key) : 0
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
      this.#workers.queue.addAfter(context.key, backoffMs, "retry")
      runtime.log.error("a status could not be written", { key: context.key, error: String(error) })
      return "error"
    }
    if (backoffMs > 0) {
      this.#workers.queue.addAfter(context.key, backoffMs, "retry")
      return "error"
    }
    const attemptAfterMs = nextAttemptAt === undefined ? undefined : nextAttemptAt - runtime.clock.now()
    if (attemptAfterMs === undefined || (againAfterMs !== undefined && againAfterMs < attemptAfterMs))
      return this.#again(context.key, againAfterMs ?? 0)
    this.#workers.queue.forget(context.key)
    this.#workers.queue.addAfter(context.key, attemptAfterMs, "resync")
    return "requeue_after"
  }

  #again(key: ObjectKey, againAfterMs: number): ReconcileOutcomeLabel {
    this.#workers.queue.forget(key)
    const jittered = againAfterMs * (1 + pollJitter * (2 * this.#options.runtime.random() - 1))
    this.#workers.queue.addAfter(key, jittered, "resync")
    return "requeue_after"
  }

  #reconcileRequest(context: ReconcileContext): ReconcileRequest {
    const { runtime, recorder, compareAll = false } = this.#options
    const quiet = isQuiet(context.object)
    const turn = this.#turns.get(context.key) ?? 0
    if (quiet) this.#turns.set(context.key, turn + 1)
    return {
      signal: context.signal,
      now: runtime.clock.now(),
      quiet,
      partial: quiet && !compareAll,
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
      /** Default: the object's generation. */
      readonly observedGeneration?: number
    },
  ): Promise<void> {
    const { runtime, recorder } = this.#options
    const before = statusOf(context.object)
    const { generation = 0, annotations } = context.object.metadata
    const handled = requestOf(annotations)
    const { conditions, keepsOwn = true, nextAttemptTime, observedGeneration = generation } = report
    const now = runtime.clock.now()
    const status: FramedStatus = {
      ...(report.status ?? ownStatusOf(context.object)),
      observedGeneration,
      ...(handled === undefined ? {} : { lastHandledReconcileAt: handled }),
      ...(nextAttemptTime === undefined ? {} : { nextAttemptTime }),
      conditions: conditions.flatMap((condition) =>
        keepsOwn && "lastTransitionTime" in condition
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
    this.#workers.metrics.wroteStatus()
    this.#wrote(context, written)
  }

  #wrote(context: ReconcileContext, written: KubernetesObject): void {
    context.object = written
    this.#workers.wrote(context.key, written)
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

/** Returns the conditions of the last reconciliation, unchanged, and `Paused`. */
function pausedConditions(before: readonly StoredCondition[]): readonly (Condition | StoredCondition)[] {
  const message = `The object is not reconciled while the annotation ${pausedAnnotation} is "true", except to clean up after its deletion.`
  const never = { type: "Ready", status: "False", reason: "Paused", message } as const
  const ready = before.filter(({ type }) => type === "Ready")
  return [
    ...(ready.length === 0 ? [never] : ready),
    // The object still needs a change by a user, while nothing is being reconciled.
    ...before.filter(({ type }) => type === "Stalled"),
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
