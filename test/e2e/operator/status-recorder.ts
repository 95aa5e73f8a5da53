// Records every version of every object of the operator's kinds, and checks what GitOps tools read in each (kstatus).
import type { KubeConfig } from "@kubernetes/client-node"
import { kinds } from "../../../operator/src/api/kinds.ts"
import { ApiClient } from "../../../operator/src/kube/api-client.ts"
import { KubernetesCluster } from "../../../operator/src/kube/kubernetes-cluster.ts"
import type { KubernetesObject } from "../../../operator/src/kube/kubernetes-object.ts"
import { ObjectStore } from "../../../operator/src/kube/object-store.ts"
import { systemRuntime } from "../../../operator/src/runtime.ts"
import { type KStatus, kstatuses } from "./kstatus.ts"

interface Recorded {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Pick<
    KubernetesObject["metadata"],
    "name" | "namespace" | "uid" | "generation" | "deletionTimestamp"
  >
  readonly status: {
    readonly observedGeneration?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly observedGeneration: number
    }[]
  }
}

export interface StatusRecorder extends AsyncDisposable {
  /** Versions of the object in the order of their writing, without its deletion. */
  versionsOf(kind: string, name: string): readonly Recorded[]
  /** Throws if GitOps tools misread any version so far. */
  assertFaultless(): Promise<void>
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Starts recording. Existing objects are recorded as they are now. */
export async function recordStatuses(config: KubeConfig): Promise<StatusRecorder> {
  await using opening = new AsyncDisposableStack()
  const runtime = systemRuntime(silent)
  const cluster = new KubernetesCluster({ api: opening.use(new ApiClient(config, runtime)), runtime })
  const recorded: Recorded[] = []
  const followings = kinds.map((kind) => {
    const store = new ObjectStore()
    return cluster.follow({ resource: kind }, store, (key) => {
      const object = store.get(key)
      if (object !== undefined) recorded.push(partsOf(object, `${kind.group}/${kind.version}`, kind.kind))
    })
  })
  opening.defer(async () => void (await Promise.all(followings.map((following) => following.stop()))))
  await Promise.all(followings.map((following) => following.whenSynced()))
  const closing = opening.move()
  return {
    versionsOf: (kind, name) => recorded.filter((one) => one.kind === kind && one.metadata.name === name),
    async assertFaultless() {
      const seen = [...recorded]
      const statuses = await kstatuses(seen)
      const faults = seen.flatMap((object, index) => {
        const fault = faultOf(object, statuses[index]!)
        return fault === undefined ? [] : `${fault}: ${JSON.stringify(object)}`
      })
      if (faults.length > 0) throw new Error(`kstatus misreads ${faults.length} versions:\n${faults.join("\n")}`)
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Copies what statuses depend on. Whole objects of a long run would take much memory. */
function partsOf(object: KubernetesObject, apiVersion: string, kind: string): Recorded {
  const { name, namespace, uid, generation, deletionTimestamp } = object.metadata
  const { observedGeneration, conditions } = (object["status"] ?? {}) as Recorded["status"]
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(generation === undefined ? {} : { generation }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    status: {
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      ...(conditions === undefined ? {} : { conditions }),
    },
  }
}

/** Returns how the status contradicts the conditions; undefined if it does not. */
function faultOf({ metadata: { generation, deletionTimestamp }, status }: Recorded, is: KStatus): string | undefined {
  const { observedGeneration, conditions = [] } = status
  const holds = (type: string) => conditions.find((one) => one.type === type && one.status === "True")
  if (deletionTimestamp !== undefined) return is === "Terminating" ? undefined : `${is} during the deletion`
  if (is === "Current" && holds("Ready")?.observedGeneration !== generation) return "Current without being ready"
  if (holds("Stalled") !== undefined && holds("Reconciling") !== undefined) return "stalled and reconciling at once"
  if (observedGeneration !== generation) return is === "InProgress" ? undefined : `${is} before it was reconciled`
  // Tools wait for an object that is in progress, so it must be retried, or left alone on a user's demand.
  const isExpected = holds("Reconciling") !== undefined || holds("Paused") !== undefined
  if (is === "InProgress" && !isExpected) return "InProgress for no stated reason"
  return is === "InProgress" && holds("Stalled") !== undefined ? "InProgress while it is stalled" : undefined
}
