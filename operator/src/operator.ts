// The composition root: what watches, decides, works and tells, put together for one process.
import { isEngineError, openEngine } from "@chancery/engine"
import type { KubeConfig } from "@kubernetes/client-node"
import { ApiClient } from "./api-client.ts"
import { type AskEngine, reconcileClusterConnection, tokenSecretsOf } from "./cluster-connections.ts"
import { Controller } from "./controller.ts"
import { Election } from "./election.ts"
import { EventRecorder } from "./event-recorder.ts"
import { startHealthServer } from "./health-server.ts"
import { clusterConnection } from "./kinds/cluster-connection.ts"
import { keyOf, parseKey, type Resource } from "./kubernetes-object.ts"
import { createMetrics } from "./metrics.ts"
import { ObjectStore } from "./object-store.ts"
import { Reflector } from "./reflector.ts"
import type { OperatorRuntime } from "./runtime.ts"
import type { Shard } from "./shard.ts"

export interface OperatorOptions {
  readonly config: KubeConfig
  readonly runtime: OperatorRuntime
  /** The operator's own: its Lease is in it, and the Secrets of what is in no namespace. */
  readonly namespace: string
  /** Of this replica, and of no other. */
  readonly identity: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly shard?: Shard
  /** Called once `/readyz` and the others can be asked. */
  readonly listening?: (url: string) => void
}

const secrets: Resource = { group: "", version: "v1", plural: "secrets", kind: "Secret" }
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

  const connections = new ObjectStore({ tokenSecret: tokenSecretsOf })
  const known = new ObjectStore()
  const controller = new Controller({
    api,
    runtime,
    resource: clusterConnection,
    store: connections,
    reconcile: reconcileClusterConnection({ secrets: known, namespace, ask, engineErrorOf }),
    recorder: new EventRecorder({ api, runtime, identity }),
    metrics,
    ...(shard === undefined ? {} : { shard }),
  })
  const reflectors = [
    new Reflector({
      api,
      resource: clusterConnection,
      store: connections,
      runtime,
      changed: (...change) => controller.changed(...change),
    }),
    new Reflector({
      api,
      resource: secrets,
      namespace,
      store: known,
      runtime,
      changed(key) {
        for (const connection of connections.by("tokenSecret", parseKey(key).name)) controller.touch(keyOf(connection))
      },
    }),
  ]

  // Replicas that do not lead watch too, so that whoever leads next knows everything at once.
  const watching = new AbortController()
  const watches = Promise.all(reflectors.map((reflector) => reflector.run(watching.signal)))
  closing.defer(async () => {
    watching.abort()
    await watches
  })
  const turns = watchTurns(runtime)
  closing.defer(() => turns.stop())
  const health = await startHealthServer({
    ...listen,
    metrics,
    ready: () => reflectors.every((reflector) => reflector.hasSynced),
    ailment: () =>
      turns.sinceMs() > turnMaximumMs ? "the event loop hangs" : overdue(election.renewalAgeMs, runtime, lease),
  })
  closing.use(health)
  options.listening?.(health.url)

  await Promise.race([Promise.all(reflectors.map((reflector) => reflector.whenSynced())), aborted(signal)])
  // What was opened here closes after it, and not before.
  return await election.lead(signal, (leading) => controller.run(leading, signal))
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

const engineErrorOf = (error: unknown) => (isEngineError(error) ? error : undefined)

/** The queue repeats what failed, for all objects fairly; the engine's client need not. */
const ask: AskEngine = async (url, { organization, ...options }) => {
  await using engine = await openEngine(url, {
    ...options,
    attempts: 1,
    connectTimeoutMs: 5_000,
    answerTimeoutMs: 10_000,
  })
  await (organization === undefined ? engine.users.account() : engine.organizations.get(organization))
}
