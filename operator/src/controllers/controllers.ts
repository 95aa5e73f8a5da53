// Runs the controllers of all kinds on one cluster: their stores, notifications between kinds, and connections to engines.
import { isDeepStrictEqual } from "node:util"
import type { EngineOptions, Engine, PermittedAddresses } from "@chancery/engine"
import type { Changed, Cluster, Following } from "../kube/cluster.ts"
import { Controller } from "./controller.ts"
import { type EmbeddedEngine, EngineConnections } from "./engine-connections.ts"
import { EngineFeeds } from "./engine-feeds.ts"
import type { EventRecorder } from "../kube/event-recorder.ts"
import { clusterConnection } from "../api/cluster-connection.ts"
import type { ConnectionRef } from "../api/connection-spec.ts"
import { connection } from "../api/connection.ts"
import type { Kind } from "../api/definition.ts"
import {
  keyOf,
  type KubernetesObject,
  namespaces,
  type ObjectKey,
  placeOf,
  type Resource,
} from "../kube/kubernetes-object.ts"
import type { ObjectFigure, OperatorMetrics } from "../metrics.ts"
import { NamedObjects } from "../kube/named-objects.ts"
import { managedSelector } from "../kube/owned-objects.ts"
import { type Index, ObjectStore } from "../kube/object-store.ts"
import { ReadYourWrites } from "../kube/read-your-writes.ts"
import type { Reconciler } from "./reconciler.ts"
import { type Answerer, RequestController } from "../signing/request-controller.ts"
import type { OperatorRuntime } from "../runtime.ts"
import { belongsTo, type Shard } from "./shard.ts"

/** Kind with everything that its controller needs. */
export interface ControlledKind {
  readonly kind: Kind<unknown>
  /** Indexes of the kind. The index `connection` names the connection that an object uses (`connectionOf`). */
  readonly indexes?: Readonly<Record<string, Index>>
  /** Resources that objects of the kind reference. When one changes, the objects that the index finds are requeued. */
  readonly refersTo?: readonly Reference[]
  /** Objects of any owner, each watched by name. When one changes, the objects that name it are requeued. */
  readonly names?: readonly Naming[]
  readonly reconciler: (parts: Parts) => Reconciler
  /** Name of the index by which events of an engine find objects: workspace ids. */
  readonly engineIds?: string
  readonly figures?: readonly Figure[]
}

/** Requests of another API group that the operator answers. The operator starts without the group, which the cluster may lack. */
export interface RequestKind {
  readonly resource: Resource
  readonly indexes?: Readonly<Record<string, Index>>
  /** See `ControlledKind.refersTo`. Only resources of controlled kinds. */
  readonly refersTo?: readonly Reference[]
  readonly answerer: (parts: Parts) => Answerer
}

/** Metric with one value per object; undefined for objects without one. */
export interface Figure {
  readonly name: string
  readonly help: string
  readonly of: (object: KubernetesObject, now: number) => number | undefined
}

export interface Naming {
  readonly resource: Resource
  /** Returns the keys of the objects that an object names. `ownNamespace` is that of the operator. */
  readonly keys: (object: KubernetesObject, ownNamespace: string) => readonly ObjectKey[]
}

export interface Reference {
  readonly resource: Resource
  readonly labelSelector?: string
  /** Name of an index of the referencing kind. */
  readonly index: string
  /** Returns the index value for an object of the resource, as it is or was. Default: its key. */
  readonly valueFor?: (key: ObjectKey, object: KubernetesObject) => string
  /** The resource is followed only if the options have it. */
  readonly isOptional?: true
}

/** Dependencies of reconcilers. */
export interface Parts {
  readonly cluster: Cluster
  readonly runtime: OperatorRuntime
  readonly engines: EngineConnections
  readonly feeds: Pick<EngineFeeds, "need" | "taken">
  /** Namespace of the operator itself. */
  readonly namespace: string
  /** Distinguishes clusters whose operators use the same engine. */
  readonly clusterName: string
  readonly recorder: Pick<EventRecorder, "record">
  /** Returns the cache of a kind, or of a resource that some kind references. */
  readonly storeOf: (resource: Resource) => ObjectStore
  /** Returns the objects of a kind whose own last write the cache does not have yet. */
  readonly behind: (kind: Resource) => readonly KubernetesObject[]
  /** Returns the cache of named objects (`ControlledKind.names`). */
  readonly named: (resource: Resource) => Pick<NamedObjects, "get">
  /** ClusterTrustBundles, in the version that the cluster has, if they are published. */
  readonly trustBundles: Resource | undefined
  /** The operator's own writes of referenced objects. The object on whose behalf they were made is not requeued for them. */
  readonly writes: ReadYourWrites
}

export interface ControllersOptions {
  readonly cluster: Cluster
  readonly kinds: readonly ControlledKind[]
  readonly requests?: readonly RequestKind[]
  readonly trustBundles?: Resource
  readonly runtime: OperatorRuntime
  readonly namespace: string
  readonly clusterName: string
  readonly recorder: Pick<EventRecorder, "record">
  readonly metrics: Pick<OperatorMetrics, "controller" | "figure">
  readonly addresses: PermittedAddresses
  readonly open: (url: string, options: EngineOptions) => Promise<Engine>
  readonly embedded?: EmbeddedEngine
  /** See `ControllerOptions`. */
  readonly compareAll?: boolean
  readonly shard?: Shard
}

export interface Controllers {
  readonly hasSynced: boolean
  /** True if each object was reconciled since its last change. Delayed retries and polls do not count. */
  readonly isIdle: boolean
  whenSynced(): Promise<void>
  /** See `Controller.run`. Call after everything has synced. */
  run(signal: AbortSignal, orderly: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** Starts to watch all objects. Replicas that do not lead watch too, so that the next leader has everything cached. */
export function openControllers(options: ControllersOptions): Controllers {
  const {
    cluster,
    kinds,
    requests = [],
    runtime,
    namespace,
    clusterName,
    recorder,
    metrics,
    shard,
    embedded,
    trustBundles,
    compareAll = false,
  } = options
  const stores = new Map<string, ObjectStore>()
  const storeOf = (resource: Resource): ObjectStore => {
    const store = stores.get(nameOf(resource))
    if (store === undefined) throw new Error(`no store follows ${nameOf(resource)}`)
    return store
  }
  for (const { kind, indexes } of kinds) stores.set(nameOf(kind), new ObjectStore(indexes))
  for (const { resource, indexes } of requests) stores.set(nameOf(resource), new ObjectStore(indexes))
  const others = new Map<string, Pick<Reference, "resource" | "labelSelector">>([
    [nameOf(namespaces), { resource: namespaces }],
  ])
  for (const { refersTo = [] } of kinds)
    for (const one of refersTo) if (one.isOptional !== true) others.set(nameOf(one.resource), one)
  if (trustBundles !== undefined) stores.set(nameOf(trustBundles), new ObjectStore())
  for (const name of others.keys()) if (!stores.has(name)) stores.set(name, new ObjectStore())

  const controllers = new Map<string, Pick<Controller, "behind" | "changed" | "isIdle" | "run" | "touch">>()
  // Prefix of request ids, unique to this process.
  const ownRequests = `chancery-operator-${Math.floor(runtime.random() * 2 ** 48).toString(36)}-`
  let requestCount = 0
  const feeds = new EngineFeeds({
    runtime,
    ownRequests,
    changed(workspaceId) {
      let isMinded = false
      for (const { kind, engineIds } of kinds) {
        if (engineIds === undefined) continue
        for (const one of storeOf(kind).by(engineIds, workspaceId).map(keyOf)) {
          isMinded = true
          controllers.get(nameOf(kind))?.touch(one, "retry")
        }
      }
      return isMinded
    },
  })
  const engines = new EngineConnections({
    cluster,
    runtime,
    namespace,
    connections: storeOf(connection),
    clusterConnections: storeOf(clusterConnection),
    namespaces: storeOf(namespaces),
    addresses: options.addresses,
    open: options.open,
    nameRequest: () => `${ownRequests}${(requestCount += 1)}`,
    ...(embedded === undefined ? {} : { embedded }),
    secretChanged: (kind, key) => controllers.get(nameOf(connectionKinds[kind]))?.touch(key),
  })
  const writes = new ReadYourWrites(runtime.stopwatch)
  const namings = new Map<string, NamedObjects>()
  for (const { names = [] } of kinds) {
    for (const { resource } of names) {
      if (namings.has(nameOf(resource))) continue
      const changed = (owner: string) => {
        const [kind, key] = splitOwner(owner)
        controllers.get(kind)?.touch(key, "retry")
      }
      namings.set(nameOf(resource), new NamedObjects({ cluster, runtime, resource, changed }))
    }
  }
  const named: Parts["named"] = (resource) => {
    const found = namings.get(nameOf(resource))
    if (found === undefined) throw new Error(`no kind refers to ${nameOf(resource)}`)
    return found
  }
  const parts: Parts = {
    cluster,
    runtime,
    behind: (kind) => controllers.get(nameOf(kind))?.behind() ?? [],
    engines,
    feeds,
    namespace,
    clusterName,
    recorder,
    storeOf,
    named,
    writes,
    trustBundles,
  }
  for (const { kind, reconciler, figures = [] } of kinds) {
    for (const { name, help, of } of figures)
      metrics.figure(name, help, () => valuesOf(storeOf(kind), of, runtime.clock.now(), shard))
    controllers.set(
      nameOf(kind),
      new Controller({
        cluster,
        runtime,
        resource: kind,
        store: storeOf(kind),
        reconciler: reconciler(parts),
        alwaysPresent: kind.synced === true ? ["Synced"] : [],
        recorder,
        metrics,
        compareAll,
        ...(shard === undefined ? {} : { shard }),
      }),
    )
  }
  for (const { resource, answerer } of requests)
    controllers.set(
      nameOf(resource),
      new RequestController({
        cluster,
        runtime,
        resource,
        store: storeOf(resource),
        answerer: answerer(parts),
        recorder,
        metrics,
        ...(shard === undefined ? {} : { shard }),
      }),
    )

  const referring: readonly Pick<RequestKind, "resource" | "refersTo">[] = [
    ...kinds.map(({ kind, refersTo = [] }) => ({ resource: kind, refersTo })),
    ...requests,
  ]
  const reporterOf = (resource: Resource): Changed => {
    const name = nameOf(resource)
    const store = storeOf(resource)
    const connectionKind = (["Connection", "ClusterConnection"] as const).find(
      (one) => connectionKinds[one] === resource,
    )
    const { names = [], indexes } = kinds.find(({ kind }) => nameOf(kind) === name) ?? {}
    const connectionIndex = indexes?.["connection"] ?? connectionOf
    const referrers = referring.flatMap(({ resource: kind, refersTo = [] }) =>
      refersTo.filter((one) => nameOf(one.resource) === name).map((one) => ({ ...one, kind })),
    )
    return (key, how, previous) => {
      const object = store.get(key)
      if (connectionKind !== undefined) engines.changed(connectionKind, key, object)
      const isOurs = object !== undefined && (shard === undefined || belongsTo(shard, object))
      for (const { resource: naming, keys } of names)
        namings.get(nameOf(naming))?.need(placeOf(resource, key), isOurs ? keys(object, namespace) : [])
      controllers.get(name)?.changed(key, how, previous)
      const writer = writes.writerOf(placeOf(resource, key), object?.metadata.resourceVersion)
      // The initial objects are reconciled anyway.
      const latest = object ?? previous
      if (how === "changed" && latest !== undefined && concernsOthers(previous, object))
        for (const { kind, index, valueFor = identity } of referrers)
          for (const one of storeOf(kind).by(index, valueFor(key, latest)).map(keyOf))
            if (placeOf(kind, one) !== writer) controllers.get(nameOf(kind))?.touch(one, "retry")
      if (object === undefined && previous !== undefined) release(previous, connectionIndex)
    }
  }
  /** Requeues a connection under deletion after one of its users is gone. */
  const release = (object: KubernetesObject, connections: Index) => {
    const [kind, key] = splitConnection(connections(object)[0] ?? "")
    const used = kind === undefined ? undefined : storeOf(connectionKinds[kind]).get(key)
    if (kind !== undefined && used?.metadata.deletionTimestamp !== undefined)
      controllers.get(nameOf(connectionKinds[kind]))?.touch(key)
  }

  const followings: readonly Following[] = [
    ...kinds.map(({ kind }) => cluster.follow({ resource: kind }, storeOf(kind), reporterOf(kind))),
    ...[...others.values()]
      .filter(({ resource }) => !controllers.has(nameOf(resource)))
      .map(({ resource, labelSelector }) =>
        cluster.follow(
          { resource, ...(labelSelector === undefined ? {} : { labelSelector }) },
          storeOf(resource),
          reporterOf(resource),
        ),
      ),
  ]
  // The cluster may lack these APIs, so nothing waits for them.
  const optionalFollowings: readonly Following[] = [
    ...requests.map(({ resource }) => ({ resource })),
    ...(trustBundles === undefined ? [] : [{ resource: trustBundles, labelSelector: managedSelector }]),
  ].map((followed) => cluster.follow(followed, storeOf(followed.resource), reporterOf(followed.resource)))
  return {
    get hasSynced() {
      return followings.every((following) => following.hasSynced)
    },
    get isIdle() {
      return [...controllers.values()].every((controller) => controller.isIdle)
    },
    async whenSynced() {
      await Promise.all(followings.map((following) => following.whenSynced()))
    },
    async run(signal, orderly) {
      await Promise.all([...controllers.values()].map((controller) => controller.run(signal, orderly)))
    },
    async stop() {
      await Promise.all([...followings, ...optionalFollowings].map((following) => following.stop()))
      await Promise.all([...namings.values()].map((each) => each.stop()))
      feeds.stop()
      await engines.stop()
    },
  }
}

const connectionKinds: Readonly<Record<ConnectionRef["kind"], Resource>> = {
  Connection: connection,
  ClusterConnection: clusterConnection,
}

/** Index `connection`: `Connection/namespace/name` or `ClusterConnection/name`, from the spec's `connectionRef`. */
export const connectionOf: Index = ({ metadata: { namespace }, spec }) => {
  const { kind = "Connection", name } =
    ((spec ?? {}) as { readonly connectionRef?: Partial<ConnectionRef> }).connectionRef ?? {}
  if (name === undefined) return []
  return [
    kind === "ClusterConnection" || namespace === undefined
      ? `ClusterConnection/${name}`
      : `${kind}/${namespace}/${name}`,
  ]
}

/** References of kinds with this index: their objects are requeued when their connection becomes ready. */
export const connectionReferences: readonly Reference[] = (["Connection", "ClusterConnection"] as const).map(
  (kind) => ({
    resource: connectionKinds[kind],
    index: "connection",
    valueFor: (key) => `${kind}/${key}`,
  }),
)

export const referencesTo = (
  kinds: readonly ControlledKind[],
  { storeOf }: Pick<Parts, "storeOf">,
  kind: ConnectionRef["kind"],
  key: ObjectKey,
): number =>
  kinds
    .filter(({ indexes }) => indexes?.["connection"] !== undefined)
    .reduce((count, one) => count + storeOf(one.kind).by("connection", `${kind}/${key}`).length, 0)

function splitConnection(value: string): readonly [ConnectionRef["kind"] | undefined, ObjectKey] {
  const slash = value.indexOf("/")
  return slash === -1 ? [undefined, ""] : [value.slice(0, slash) as ConnectionRef["kind"], value.slice(slash + 1)]
}

function* valuesOf(
  store: ObjectStore,
  of: Figure["of"],
  now: number,
  shard: Shard | undefined,
): Generator<ObjectFigure> {
  for (const key of store.keys()) {
    const object = store.get(key)
    const value = object === undefined ? undefined : of(object, now)
    if (object === undefined || value === undefined || (shard !== undefined && !belongsTo(shard, object))) continue
    const { namespace = "", name } = object.metadata
    yield { namespace, name, value }
  }
}

/** Splits a value of `placeOf`. */
function splitOwner(owner: string): readonly [kind: string, key: ObjectKey] {
  const slash = owner.indexOf("/")
  return [owner.slice(0, slash), owner.slice(slash + 1)]
}

const nameOf = ({ plural, group }: Resource): string => `${plural}.${group}`

const identity = (key: ObjectKey): string => key

/** Returns whether a change matters to objects that reference this one: its content, its readiness, its id or its CA. */
function concernsOthers(before: KubernetesObject | undefined, after: KubernetesObject | undefined): boolean {
  if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return true
  const { generation, deletionTimestamp, labels } = before.metadata
  if (generation !== after.metadata.generation || deletionTimestamp !== after.metadata.deletionTimestamp) return true
  if (!isDeepStrictEqual(labels, after.metadata.labels)) return true
  // Objects without a generation, such as Secrets, have no status: any change is one of their content.
  if (generation === undefined) return before.metadata.resourceVersion !== after.metadata.resourceVersion
  return readiness(before) !== readiness(after)
}

function readiness({ status }: KubernetesObject): string | undefined {
  const {
    conditions = [],
    observedGeneration,
    caFingerprint = "",
    id = "",
    settingsGeneration = 0,
  } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly observedGeneration?: number
    readonly caFingerprint?: string
    readonly id?: string
    readonly settingsGeneration?: number
  }
  const ready = conditions.find(({ type }) => type === "Ready")
  return ready === undefined
    ? undefined
    : `${ready.status} ${observedGeneration} ${caFingerprint} ${id} ${settingsGeneration}`
}
