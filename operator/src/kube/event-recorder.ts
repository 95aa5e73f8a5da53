// Records Kubernetes events on objects. Repetitions within a few minutes update the count of one event (events.k8s.io/v1). Each object has
// a rate limit, because events are for people and cost as much as any other write.
import { LRUCache } from "lru-cache"
import type { ApiClient } from "./api-client.ts"
import { type KubernetesObject, microTime, type ObjectKey, type Resource } from "./kubernetes-object.ts"
import type { OperatorRuntime } from "../runtime.ts"

export interface EventToRecord {
  readonly type: "Normal" | "Warning"
  readonly reason: string
  readonly note: string
}

export interface EventRecorderOptions {
  readonly api: Pick<ApiClient, "create" | "mergePatch">
  readonly runtime: Pick<OperatorRuntime, "clock" | "log" | "random">
  readonly identity: string
}

interface Series {
  readonly key: ObjectKey
  count: number
  lastAt: number
}

const events: Resource = { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event" }
const controller = "chancery.dev/operator"
/** The API accepts events about cluster-scoped objects in this namespace only. */
const clusterNamespace = "default"
const seriesMs = 6 * 60_000
const maxSeries = 4_096
const burst = 25
const refillMs = 5 * 60_000
const maxNoteLength = 1_024
const maxIdentityLength = 128

export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #series = new LRUCache<string, Series>({ max: maxSeries })
  readonly #budgets = new LRUCache<string, { left: number; at: number }>({ max: maxSeries })

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  /** Never rejects: the status of the object shows the outcome too. */
  async record(regarding: KubernetesObject, happening: EventToRecord): Promise<void> {
    const { runtime } = this.#options
    const { uid = "" } = regarding.metadata
    if (!this.#affords(uid)) return
    try {
      const kind = JSON.stringify([uid, happening])
      const series = this.#series.get(kind)
      const now = runtime.clock.now()
      if (series !== undefined && now - series.lastAt < seriesMs) await this.#repeat(series, now)
      else this.#series.set(kind, { key: await this.#create(regarding, happening, now), count: 1, lastAt: now })
    } catch (error) {
      runtime.log.warn("an event could not be written", { reason: happening.reason, error: String(error) })
    }
  }

  async #repeat(series: Series, now: number): Promise<void> {
    series.count += 1
    series.lastAt = now
    const patch = { series: { count: series.count, lastObservedTime: microTime(now) } }
    await this.#options.api.mergePatch(events, series.key, patch)
  }

  async #create(regarding: KubernetesObject, { type, reason, note }: EventToRecord, now: number): Promise<ObjectKey> {
    const { api, runtime, identity } = this.#options
    const { name, namespace, uid, resourceVersion } = regarding.metadata
    const suffix = Math.floor(runtime.random() * 2 ** 40).toString(16)
    const metadata = {
      name: `${name.slice(0, 200)}.${now.toString(16)}${suffix}`,
      namespace: namespace ?? clusterNamespace,
    }
    await api.create(events, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata,
      eventTime: microTime(now),
      reportingController: controller,
      reportingInstance: identity.slice(0, maxIdentityLength),
      action: "Reconcile",
      type,
      reason,
      note: note.slice(0, maxNoteLength),
      regarding: {
        apiVersion: regarding.apiVersion,
        kind: regarding.kind,
        name,
        uid,
        resourceVersion,
        ...(namespace === undefined ? {} : { namespace }),
      },
    })
    return `${metadata.namespace}/${metadata.name}`
  }

  #affords(uid: string): boolean {
    const now = this.#options.runtime.clock.now()
    const budget = this.#budgets.get(uid) ?? { left: burst, at: now }
    const refilled = Math.floor((now - budget.at) / refillMs)
    const left = Math.min(budget.left + Math.max(refilled, 0), burst)
    const at = budget.at + Math.max(refilled, 0) * refillMs
    this.#budgets.set(uid, { left: Math.max(left - 1, 0), at })
    return left > 0
  }
}
