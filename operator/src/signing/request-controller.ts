// Controller of requests: objects of other API groups whose status gets one final answer.
import type { Changed, Cluster } from "../kube/cluster.ts"
import { isRejection } from "../kube/cluster.ts"
import type { EventRecorder, EventToRecord } from "../kube/event-recorder.ts"
import type { KubernetesObject, ObjectKey, Resource } from "../kube/kubernetes-object.ts"
import type { ObjectStore } from "../kube/object-store.ts"
import type { OperatorMetrics, ReconcileOutcomeLabel } from "../metrics.ts"
import { ObjectWorkers } from "../controllers/object-workers.ts"
import { pollMs, rejectionMessage, RequeueAfter } from "../controllers/reconcile-result.ts"
import type { Shard } from "../controllers/shard.ts"
import type { Urgency } from "../controllers/work-queue.ts"
import type { OperatorRuntime } from "../runtime.ts"

export interface Answer {
  /** Members of the status that the operator applies. Undefined: the status stays unchanged. */
  readonly status?: Readonly<Record<string, unknown>>
  /** Recorded unless it is the last one of this object. */
  readonly event?: EventToRecord
  /** Delay in milliseconds until the object is handled again without a change, or one that grows. Undefined: never. */
  readonly again?: number | "backoff"
}

/** Port of a kind of request. */
export interface Answerer {
  /** Returns undefined if the object needs no answer. An answer that could not be written is kept, and not computed again. */
  answer(object: KubernetesObject, signal: AbortSignal): Promise<Answer | undefined>
}

export interface RequestControllerOptions {
  readonly cluster: Pick<Cluster, "applyStatus">
  readonly runtime: OperatorRuntime
  readonly resource: Resource
  readonly store: Pick<ObjectStore, "get">
  readonly answerer: Answerer
  readonly recorder: Pick<EventRecorder, "record">
  readonly metrics: Pick<OperatorMetrics, "controller">
  readonly shard?: Shard
}

interface Memory {
  readonly uid: string | undefined
  /** Answer that could not be written. */
  readonly unwritten?: Answer | undefined
  readonly note?: string
}

const fieldManager = "chancery-operator"

export class RequestController {
  readonly #options: RequestControllerOptions
  readonly #workers: ObjectWorkers
  readonly #memories = new Map<ObjectKey, Memory>()

  constructor(options: RequestControllerOptions) {
    this.#options = options
    this.#workers = new ObjectWorkers({
      ...options,
      handle: (key, object, signal) => this.#handle(key, object, signal),
      gone: (key) => this.#memories.delete(key),
    })
  }

  changed(...[key, how]: Parameters<Changed>): void {
    this.#workers.changed(key, how, true)
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

  async #handle(key: ObjectKey, object: KubernetesObject, signal: AbortSignal): Promise<ReconcileOutcomeLabel> {
    const { queue } = this.#workers
    const memory = this.#memoryOf(key, object)
    const answer = memory.unwritten ?? (await this.#options.answerer.answer(object, signal))
    if (answer === undefined) {
      queue.forget(key)
      this.#memories.delete(key)
      return "success"
    }
    signal.throwIfAborted()
    if (answer.status !== undefined) await this.#write(key, object, answer)
    await this.#record(key, object, answer.event)
    const { again } = answer
    if (again === "backoff") {
      queue.addAfter(key, queue.backoff(key), "retry")
      return "error"
    }
    queue.forget(key)
    if (again === undefined) return "success"
    queue.addAfter(key, again, "resync")
    return "requeue_after"
  }

  #memoryOf(key: ObjectKey, { metadata: { uid } }: KubernetesObject): Memory {
    const memory = this.#memories.get(key)
    return memory !== undefined && memory.uid === uid ? memory : { uid }
  }

  async #write(key: ObjectKey, object: KubernetesObject, answer: Answer): Promise<void> {
    const { cluster, resource } = this.#options
    const memory = this.#memoryOf(key, object)
    const { resourceVersion } = object.metadata
    try {
      // The API server ignores the uid in a write of the status. Without a version, the answer could go to a new object of the same name.
      const options = resourceVersion === undefined ? {} : { resourceVersion }
      const written = await cluster.applyStatus(resource, object, answer.status, fieldManager, options)
      this.#workers.metrics.wroteStatus()
      this.#workers.wrote(key, written)
      this.#memories.set(key, { ...memory, unwritten: undefined })
    } catch (error) {
      if (isRejection(error) && error.status < 500) {
        this.#memories.set(key, { ...memory, unwritten: undefined })
        const note = rejectionMessage("the answer", error)
        await this.#record(key, object, { type: "Warning", reason: "RequestRejected", note })
        throw new RequeueAfter(pollMs)
      }
      // Kept, so that a certificate is not issued twice while the API server is away, or when the object has changed.
      this.#memories.set(key, { ...memory, unwritten: answer })
      throw error
    }
  }

  async #record(key: ObjectKey, object: KubernetesObject, event: EventToRecord | undefined): Promise<void> {
    const memory = this.#memoryOf(key, object)
    if (event === undefined || event.note === memory.note) return
    this.#memories.set(key, { ...memory, note: event.note })
    await this.#options.recorder.record(object, event)
  }
}
