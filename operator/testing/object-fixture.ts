// Objects of one kind in memory, reconciled one call at a time. Statuses and events are kept as a cluster would keep them.
import type { Kind } from "../src/api/definition.ts"
import { NotReadyError, type OwnStatus, type ReconcileResult } from "../src/controllers/reconcile-result.ts"
import type { Reconciler, ReconcileRequest } from "../src/controllers/reconciler.ts"
import { keyOf, type KubernetesObject } from "../src/kube/kubernetes-object.ts"
import type { ObjectStore } from "../src/kube/object-store.ts"

export interface ObjectFixtureOptions<Spec> {
  readonly kind: Kind<Spec>
  readonly store: ObjectStore
  readonly reconciler: Reconciler
  readonly now?: () => number
}

export interface Looked {
  readonly is: string
  readonly reason: string
  readonly message: string
  readonly synced: string | undefined
}

export function objectFixture<Spec>({ kind, store, reconciler, now = () => 0 }: ObjectFixtureOptions<Spec>) {
  const happened: string[] = []
  let made = 0
  const statusOf = (object: KubernetesObject): OwnStatus => (store.get(keyOf(object))?.["status"] ?? {}) as OwnStatus
  const write = (object: KubernetesObject, status: OwnStatus) =>
    void store.set({ ...(store.get(keyOf(object)) ?? object), status })
  const requestFor = (object: KubernetesObject, quiet: boolean): ReconcileRequest => ({
    signal: new AbortController().signal,
    now: now(),
    quiet,
    partial: quiet,
    turn: 0,
    get status() {
      return statusOf(object)
    },
    saveStatus: async (status) => write(object, status),
    record: async ({ reason }) => void happened.push(reason),
  })
  const outcomeOf = async <Value>(work: () => Promise<Value>): Promise<Value | ReconcileResult> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof NotReadyError) return error.outcome
      throw error
    }
  }
  const look = async (object: KubernetesObject, quiet = false): Promise<Looked> => {
    const current = store.get(keyOf(object)) ?? object
    const {
      health,
      status,
      conditions = [],
    } = await outcomeOf(() => reconciler.reconcile(current, requestFor(object, quiet)))
    if (status !== undefined) write(object, { ...status, observedGeneration: current.metadata.generation })
    const synced = conditions.find(({ type }) => type === "Synced")
    return { ...health, synced: synced && `${synced.status} ${synced.reason}` }
  }
  return {
    /** Reasons of events, in order. */
    happened,
    statusOf,
    make(name: string, spec: object, namespace = "default"): KubernetesObject {
      made += 1
      const metadata = {
        name,
        namespace,
        uid: `00000000-0000-0000-0000-${String(made).padStart(12, "0")}`,
        generation: 1,
        creationTimestamp: new Date(made * 1_000).toISOString(),
      }
      const object = { kind: kind.kind, metadata, spec: kind.spec.parse(spec) }
      store.set(object)
      return object
    },
    /** Replaces members of the spec, as an edit does. */
    edit(object: KubernetesObject, members: object): void {
      const { metadata, ...rest } = store.get(keyOf(object)) ?? object
      const spec = kind.spec.parse({ ...(rest["spec"] as object), ...members })
      store.set({ ...rest, metadata: { ...metadata, generation: (metadata.generation ?? 1) + 1 }, spec })
    },
    write,
    look,
    poll: (object: KubernetesObject) => look(object, true),
    /** Cleans up after a deletion. Returns `gone`, or the reason why the object stays. */
    async part(object: KubernetesObject): Promise<string> {
      const { metadata, ...rest } = store.get(keyOf(object)) ?? object
      const going = { ...rest, metadata: { ...metadata, deletionTimestamp: "2026-12-01T00:00:00Z" } }
      store.set(going)
      const outcome = await outcomeOf(async () => reconciler.finalize?.(going, requestFor(object, false)))
      if (outcome !== undefined) return `${outcome.health.is} ${outcome.health.reason}`
      store.delete(keyOf(object))
      return "gone"
    },
  }
}
