// Reconciles an engine with a folder of manifests, with the same reconcilers as in a Kubernetes cluster.
import { type EngineOptions, openEngine, parsePermittedAddresses } from "@chancery/engine"
import { controlledKinds } from "../controllers/controlled-kinds.ts"
import { type ControllersOptions, openControllers } from "../controllers/controllers.ts"
import type { EmbeddedEngine } from "../controllers/engine-connections.ts"
import type { EventToRecord } from "../kube/event-recorder.ts"
import { kinds } from "../api/kinds.ts"
import type { KubernetesObject } from "../kube/kubernetes-object.ts"
import { createMetrics } from "../metrics.ts"
import type { OperatorRuntime } from "../runtime.ts"
import { defaultNamespace } from "./admission.ts"
import { DirectoryCluster } from "./directory-cluster.ts"
import { followFolder } from "./followed-folder.ts"
import { type ManifestFault, type ManifestFolder, manifestFiles, readManifests } from "./manifests.ts"

export interface FolderOptions {
  readonly folder: string
  /** Folder of objects with their status. The caller holds its lock. */
  readonly statusFolder: string
  readonly runtime: OperatorRuntime
  /** Engine that objects reference as the ClusterConnection of its name. A manifest of that ClusterConnection is ignored. */
  readonly embedded?: EmbeddedEngine
  /** Trace context of requests to engines, as in `openEngine`. */
  readonly traceparent?: EngineOptions["traceparent"]
  readonly reporter: {
    /** Called with all faults after each reading that found other faults than before. */
    faults(faults: readonly ManifestFault[]): void
    recordEvent(object: KubernetesObject, happening: EventToRecord): void
  }
}

/** State of all objects when they are settled or the time is over. */
export interface Settled {
  readonly objects: readonly FolderObject[]
  readonly faults: readonly ManifestFault[]
}

export interface FolderObject {
  readonly kind: string
  readonly key: string
  readonly is: "ready" | "stalled" | "reconciling"
  readonly reason: string
  readonly message: string
}

/** Namespace of the Secrets of cluster-wide connections. */
const ownNamespace = defaultNamespace
const settledCheckMs = 100

/** Reconciles each object, until all are settled or the signal aborts. */
export async function reconcileFolder(options: FolderOptions, signal: AbortSignal): Promise<Settled> {
  // No poll follows that would compare the other parts of an object.
  await using keeping = await openFolder({ ...options, compareAll: true })
  const { folder } = options
  const faults = await keeping.declare(await readManifests(folder, await manifestFiles(folder)))
  const ending = new AbortController()
  const working = keeping.work(ending.signal)
  // Objects that an earlier run has settled are compared with the engine too.
  while (!signal.aborted && !(keeping.isIdle() && keeping.objects().every(isSettled)))
    await new Promise<void>((resolve) => void options.runtime.timers.after(settledCheckMs, resolve))
  ending.abort()
  await working
  return { objects: keeping.objects().map(folderObjectOf), faults }
}

/** Reconciles until the signal aborts, and follows changes of the folder. */
export async function keepFolder(options: FolderOptions, signal: AbortSignal): Promise<void> {
  await using keeping = await openFolder(options)
  const found = async (content: ManifestFolder) => void (await keeping.declare(content))
  await Promise.all([followFolder(options.folder, options.runtime, found, signal), keeping.work(signal)])
}

interface Keeping extends AsyncDisposable {
  declare(content: ManifestFolder): Promise<readonly ManifestFault[]>
  /** Works until the signal aborts, then finishes reconciliations in progress. */
  work(signal: AbortSignal): Promise<void>
  objects(): readonly KubernetesObject[]
  /** True if each object was reconciled since its last change. */
  isIdle(): boolean
}

async function openFolder({
  statusFolder,
  runtime,
  embedded,
  traceparent,
  reporter,
  compareAll = false,
}: FolderOptions & Pick<ControllersOptions, "compareAll">): Promise<Keeping> {
  const cluster = await DirectoryCluster.open({ folder: statusFolder, kinds, runtime })
  const controllers = openControllers({
    cluster,
    kinds: controlledKinds,
    runtime,
    namespace: ownNamespace,
    clusterName: "manifests",
    recorder: { record: async (object, happening) => reporter.recordEvent(object, happening) },
    metrics: createMetrics({ name: "manifests", leading: () => true }),
    // All addresses: a user who writes manifests on this machine can reach them anyway.
    addresses: parsePermittedAddresses("private,loopback,link-local") ?? { kinds: [], ranges: [] },
    open: (url, options) => openEngine(url, { ...options, ...(traceparent && { traceparent }) }),
    ...(embedded === undefined ? {} : { embedded }),
    compareAll,
  })
  let before = "[]"
  return {
    async declare(content) {
      const { faults, passedOver } = await cluster.declare(without(embedded, content))
      const now = JSON.stringify(faults)
      if (now !== before) reporter.faults(faults)
      before = now
      runtime.log.info("manifests", { manifests: content.manifests.length, faults: faults.length, passedOver })
      return faults
    },
    async work(signal) {
      await controllers.whenSynced()
      await controllers.run(signal, signal)
    },
    isIdle: () => controllers.isIdle,
    objects: () => kinds.flatMap((kind) => cluster.list(kind)),
    [Symbol.asyncDispose]: () => controllers.stop(),
  }
}

/** Removes the manifest of the ClusterConnection that the embedded engine replaces. */
function without(embedded: EmbeddedEngine | undefined, content: ManifestFolder): ManifestFolder {
  const isReplaced = ({ kind, metadata }: Readonly<Record<string, unknown>>) =>
    kind === "ClusterConnection" && (metadata as { readonly name?: unknown } | undefined)?.name === embedded?.name
  return { ...content, manifests: content.manifests.filter(({ object }) => !isReplaced(object)) }
}

interface Conditions {
  readonly observedGeneration?: number
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly observedGeneration?: number
    readonly reason: string
    readonly message: string
  }[]
}

/** Returns whether the object is ready or needs an action by a user. */
const isSettled = (object: KubernetesObject): boolean => folderObjectOf(object).is !== "reconciling"

function folderObjectOf({ kind = "", metadata, status }: KubernetesObject): FolderObject {
  const { observedGeneration, conditions = [] } = (status ?? {}) as Conditions
  const { name, namespace, generation, deletionTimestamp } = metadata
  const holds = (type: string) => conditions.find((one) => one.type === type && one.status === "True")
  const about = { kind, key: namespace === undefined ? name : `${namespace}/${name}` }
  const [stalled, reconciling, ready] = [holds("Stalled"), holds("Reconciling"), holds("Ready")]
  const paused = holds("Paused")
  // A paused object is not reconciled, so its generation may never be that of the status.
  if (observedGeneration !== generation && paused?.observedGeneration !== generation)
    return { ...about, is: "reconciling", reason: "New", message: "The object has not been reconciled yet." }
  if (stalled !== undefined) return { ...about, is: "stalled", reason: stalled.reason, message: stalled.message }
  const found = reconciling ?? (deletionTimestamp === undefined ? ready : undefined)
  if (paused !== undefined) return { ...about, is: "stalled", reason: paused.reason, message: paused.message }
  const { reason = "Deleting", message = "The object is being deleted." } =
    found ?? conditions.find(({ type }) => type === "Ready") ?? {}
  return { ...about, is: found !== undefined && found === ready ? "ready" : "reconciling", reason, message }
}
