// Keeps an engine as a folder of manifests says, with the reconcilers that work in a cluster.
import { type EngineOptions, openEngine, parsePermittedAddresses } from "@chancery/engine"
import { controlledKinds } from "../controllers/controlled-kinds.ts"
import { openControllers } from "../controllers/controllers.ts"
import type { EmbeddedEngine } from "../controllers/engine-connections.ts"
import type { Happening } from "../kube/event-recorder.ts"
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
  /** Where objects are kept with their status; whoever calls holds its lock. */
  readonly statusFolder: string
  readonly runtime: OperatorRuntime
  /** Objects name it as the ClusterConnection of its name; a manifest of that one is passed over. */
  readonly embedded?: EmbeddedEngine
  /** What engines are asked as part of, as `openEngine` has it. */
  readonly traceparent?: EngineOptions["traceparent"]
  readonly told: {
    /** All faults there are, after each reading of the folder that found others than before. */
    faults(faults: readonly ManifestFault[]): void
    happened(object: KubernetesObject, happening: Happening): void
  }
}

/** How all objects fare once there is nothing left to wait for, or once no more time is. */
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

/** Secrets of cluster-wide connections are looked for in it. */
const ownNamespace = defaultNamespace
const settledCheckMs = 100

/** Does once what is to be done, for as long as the signal allows. */
export async function reconcileFolder(options: FolderOptions, signal: AbortSignal): Promise<Settled> {
  await using keeping = await openFolder(options)
  const { folder } = options
  const faults = await keeping.declare(await readManifests(folder, await manifestFiles(folder)))
  const ending = new AbortController()
  const working = keeping.work(ending.signal)
  while (!signal.aborted && !keeping.objects().every(isSettled))
    await new Promise<void>((resolve) => void options.runtime.timers.after(settledCheckMs, resolve))
  ending.abort()
  await working
  return { objects: keeping.objects().map(told), faults }
}

/** Does it until the signal, whatever is written into the folder meanwhile. */
export async function keepFolder(options: FolderOptions, signal: AbortSignal): Promise<void> {
  await using keeping = await openFolder(options)
  const found = async (content: ManifestFolder) => void (await keeping.declare(content))
  await Promise.all([followFolder(options.folder, options.runtime, found, signal), keeping.work(signal)])
}

interface Keeping extends AsyncDisposable {
  declare(content: ManifestFolder): Promise<readonly ManifestFault[]>
  /** Until the signal; then finishes what it has begun. */
  work(signal: AbortSignal): Promise<void>
  objects(): readonly KubernetesObject[]
}

async function openFolder({
  statusFolder,
  runtime,
  embedded,
  traceparent,
  told: reporter,
}: FolderOptions): Promise<Keeping> {
  const cluster = await DirectoryCluster.open({ folder: statusFolder, kinds, runtime })
  const controllers = openControllers({
    cluster,
    kinds: controlledKinds,
    runtime,
    namespace: ownNamespace,
    clusterName: "manifests",
    recorder: { record: async (object, happening) => reporter.happened(object, happening) },
    metrics: createMetrics({ name: "manifests", leading: () => true }),
    // Whoever writes manifests here can reach every address without us.
    addresses: parsePermittedAddresses("private,loopback,link-local") ?? { kinds: [], ranges: [] },
    open: (url, options) => openEngine(url, { ...options, ...(traceparent && { traceparent }) }),
    ...(embedded === undefined ? {} : { embedded }),
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
    objects: () => kinds.flatMap((kind) => cluster.list(kind)),
    [Symbol.asyncDispose]: () => controllers.stop(),
  }
}

/** The engine itself is in the place of the connection to it. */
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
    readonly reason: string
    readonly message: string
  }[]
}

/** There is nothing to wait for: it is as it should be, or somebody must act first. */
const isSettled = (object: KubernetesObject): boolean => told(object).is !== "reconciling"

function told({ kind = "", metadata, status }: KubernetesObject): FolderObject {
  const { observedGeneration, conditions = [] } = (status ?? {}) as Conditions
  const { name, namespace, generation, deletionTimestamp } = metadata
  const holds = (type: string) => conditions.find((one) => one.type === type && one.status === "True")
  const about = { kind, key: namespace === undefined ? name : `${namespace}/${name}` }
  const [stalled, reconciling, ready] = [holds("Stalled"), holds("Reconciling"), holds("Ready")]
  if (observedGeneration !== generation)
    return { ...about, is: "reconciling", reason: "New", message: "Nobody has looked at it yet." }
  if (stalled !== undefined) return { ...about, is: "stalled", reason: stalled.reason, message: stalled.message }
  const found = reconciling ?? (deletionTimestamp === undefined ? ready : undefined)
  const paused = holds("Paused")
  if (paused !== undefined) return { ...about, is: "stalled", reason: paused.reason, message: paused.message }
  const { reason = "Deleting", message = "It is being taken away." } =
    found ?? conditions.find(({ type }) => type === "Ready") ?? {}
  return { ...about, is: found !== undefined && found === ready ? "ready" : "reconciling", reason, message }
}
