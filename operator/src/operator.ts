// Composition root of the operator.
import {
  type Engine,
  isEngineError,
  openEngine,
  parsePermittedAddresses,
  type PermittedAddresses,
} from "@chancery/engine"
import type { KubeConfig } from "@kubernetes/client-node"
import { ApiClient } from "./kube/api-client.ts"
import { controlledKinds } from "./controllers/controlled-kinds.ts"
import { openControllers } from "./controllers/controllers.ts"
import { Election } from "./kube/election.ts"
import { EventRecorder } from "./kube/event-recorder.ts"
import { startHealthServer } from "./health-server.ts"
import { KubernetesCluster } from "./kube/kubernetes-cluster.ts"
import { createMetrics } from "./metrics.ts"
import type { OperatorRuntime } from "./runtime.ts"
import { type RequestKindName, requestKindsOf } from "./signing/request-kinds.ts"
import type { Shard } from "./controllers/shard.ts"
import { clusterTrustBundles, trustBundleVersions } from "./controllers/issuer/cluster-trust-bundle.ts"

export interface OperatorOptions {
  readonly config: KubeConfig
  readonly runtime: OperatorRuntime
  /** Namespace of the operator, with its Lease and the Secrets of cluster-scoped objects. */
  readonly namespace: string
  /** Namespaces to watch. Default: all. */
  readonly watched?: readonly string[]
  /** True if cluster-scoped objects are reconciled. Default: true unless `watched` is set. */
  readonly clusterWide?: boolean
  /** Distinguishes clusters whose operators use the same engine (`isClusterName`). Default: `default`. */
  readonly clusterName?: string
  /** Unique identity of this replica. */
  readonly identity: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly shard?: Shard
  /** Requests of other API groups to answer. Default: none. */
  readonly answered?: readonly RequestKindName[]
  /** Publish the roots of issuers as ClusterTrustBundles. Default: false. */
  readonly publishesTrustBundles?: boolean
  /** Non-public addresses that engines of namespaced connections may have. Default: private networks. */
  readonly addresses?: PermittedAddresses
  /** Engine inside this process. */
  readonly embedded?: EmbeddedOptions
  /** Called once the health endpoints answer. */
  readonly listening?: (url: string) => void
}

export interface EmbeddedOptions {
  /** Folder of its data. */
  readonly folder: string
  /** Name of the ClusterConnection by which objects reference it. */
  readonly name: string
  /** Organization of objects that name none. Created if it is missing. */
  readonly organization?: string
}

/** An event loop that takes longer for one turn counts as hanging. */
const maxTurnMs = 30_000
const turnCheckMs = 5_000

/** Runs until the signal aborts. Resolves to `lost` if the replica lost its lease. */
export async function runOperator(options: OperatorOptions, signal: AbortSignal): Promise<"ended" | "lost"> {
  const { config, runtime, namespace, identity, listen, shard } = options
  const lease = `${namespace}/chancery-operator${shard === undefined ? "" : `-${shard.index}-of-${shard.count}`}`
  const metrics = createMetrics({ name: lease, leading: () => election.leading })

  await using closing = new AsyncDisposableStack()
  const api = closing.use(new ApiClient(config, { ...runtime, observe: (request) => metrics.request(request) }))
  const election = new Election({ api, runtime, lease, identity })

  const embedded = options.embedded === undefined ? undefined : await openEmbedded(options.embedded)
  if (embedded !== undefined) closing.use(embedded.engine)
  const controllers = openControllers({
    cluster: new KubernetesCluster({
      api,
      runtime,
      ...(options.watched === undefined ? {} : { namespaces: options.watched }),
      ...(options.clusterWide === undefined ? {} : { clusterWide: options.clusterWide }),
    }),
    kinds: controlledKinds,
    requests: await requestKindsOf(options.answered ?? [], (...args) => api.servedVersion(...args)),
    ...(options.publishesTrustBundles === true
      ? { trustBundles: await api.servedVersion(clusterTrustBundles, trustBundleVersions) }
      : {}),
    runtime,
    namespace,
    clusterName: options.clusterName ?? "default",
    recorder: new EventRecorder({ api, runtime, identity }),
    metrics,
    addresses: options.addresses ?? privateNetworks,
    open: openEngine,
    ...(embedded === undefined ? {} : { embedded }),
    ...(shard === undefined ? {} : { shard }),
  })
  closing.defer(() => controllers.stop())
  const turns = watchTurns(runtime)
  closing.defer(() => turns.stop())
  const health = await startHealthServer({
    ...listen,
    metrics,
    ready: () => controllers.hasSynced,
    problem: () =>
      turns.sinceMs() > maxTurnMs ? "the event loop is blocked" : overdue(election.renewalAgeMs, runtime, lease),
  })
  closing.use(health)
  options.listening?.(health.url)

  await Promise.race([controllers.whenSynced(), aborted(signal)])
  // Awaited here, so that the resources opened above are closed only afterwards.
  return await election.lead(signal, (leading) => controllers.run(leading, signal))
}

/** Age of the last renewal after which a leader that has not stepped down is restarted. */
const overdueMs = 20_000

function overdue(ageMs: number | undefined, { log }: OperatorRuntime, lease: string): string | undefined {
  if (ageMs === undefined || ageMs < overdueMs) return undefined
  log.error("the lease is overdue", { lease, ageMs })
  return "the lease was not renewed in time"
}

function watchTurns({ stopwatch, timers }: OperatorRuntime): { sinceMs(): number; stop(): void } {
  let last = stopwatch()
  let cancel = () => {}
  const turn = () => {
    last = stopwatch()
    cancel = timers.after(turnCheckMs, turn)
  }
  turn()
  return { sinceMs: () => stopwatch() - last, stop: () => cancel() }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })

/** In a cluster, engines usually have private addresses. */
const privateNetworks = parsePermittedAddresses("private") ?? { kinds: [], ranges: [] }

async function openEmbedded({ folder, name, organization }: EmbeddedOptions): Promise<{
  readonly engine: Engine
  readonly name: string
  readonly organization?: string
}> {
  const engine = await openEngine(`sqlite:${folder}/chancery.db`)
  if (organization === undefined) return { engine, name }
  try {
    await engine.organizations.get(organization)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    await engine.organizations.create({ name: organization, email: `${organization}@chancery.invalid` })
  }
  return { engine, name, organization }
}
