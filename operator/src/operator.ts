// The composition root: what watches, decides, works and tells, put together for one process.
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
import type { Shard } from "./controllers/shard.ts"

export interface OperatorOptions {
  readonly config: KubeConfig
  readonly runtime: OperatorRuntime
  /** The operator's own: its Lease is in it, and the Secrets of what is in no namespace. */
  readonly namespace: string
  /** Namespaces whose objects it looks after; all of them unless given. */
  readonly watched?: readonly string[]
  /** Whether it looks after what is in no namespace too, which it does unless it looks after some namespaces only. */
  readonly clusterWide?: boolean
  /** What the cluster is called, where several keep objects of one engine (`isClusterName`); `default` unless given. */
  readonly clusterName?: string
  /** Of this replica, and of no other. */
  readonly identity: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly shard?: Shard
  /** Where engines of namespaced connections may be besides public addresses; in private networks unless given. */
  readonly addresses?: PermittedAddresses
  /** An engine inside of this process. */
  readonly embedded?: EmbeddedOptions
  /** Called once `/readyz` and the others can be asked. */
  readonly listening?: (url: string) => void
}

export interface EmbeddedOptions {
  /** Where its data are. */
  readonly folder: string
  /** Objects name it as this ClusterConnection. */
  readonly name: string
  /** Of objects that name none; made if it is missing. */
  readonly organization?: string
}

/** A turn of the event loop that takes longer is a process that hangs. */
const turnMaximumMs = 30_000
const turnCheckMs = 5_000

/** Runs until the signal; the answer says whether the lease was lost before. */
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
    ailment: () =>
      turns.sinceMs() > turnMaximumMs ? "the event loop hangs" : overdue(election.renewalAgeMs, runtime, lease),
  })
  closing.use(health)
  options.listening?.(health.url)

  await Promise.race([controllers.whenSynced(), aborted(signal)])
  // What was opened here closes after it, and not before.
  return await election.lead(signal, (leading) => controllers.run(leading, signal))
}

/** A leader that cannot say that it no longer leads. */
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

/** As an engine's servers are in a cluster. */
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
