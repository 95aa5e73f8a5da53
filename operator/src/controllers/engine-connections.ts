// Clients of engines, one for each connection, shared by all objects that use it, so that its rate limit covers them together. A client is
// replaced when its connection or one of its Secrets changes.
import { isDeepStrictEqual } from "node:util"
import type { Engine, EngineOptions, PermittedAddresses } from "@chancery/engine"
import type { Cluster } from "../kube/cluster.ts"
import { clusterConnection, type ClusterConnectionSpec } from "../api/cluster-connection.ts"
import type { ConnectionRef } from "../api/connection-spec.ts"
import { connection } from "../api/connection.ts"
import { keyOf, type KubernetesObject, type ObjectKey, secrets } from "../kube/kubernetes-object.ts"
import { NamedObjects } from "../kube/named-objects.ts"
import type { ObjectStore } from "../kube/object-store.ts"
import { describeUse, type EngineUse, includes, permits, type UsingNamespace } from "./connection/connection-policy.ts"
import { pollMs, stalled, NotReadyError, waiting } from "./reconcile-result.ts"
import { type RateLimit, RequestRateLimiter } from "../kube/rate-limiter.ts"
import { parsedSpec } from "./reconciler.ts"
import type { OperatorRuntime } from "../runtime.ts"

export interface Connected {
  readonly engine: Engine
  /** Organization of objects that name none. */
  readonly organization?: string
  /** URL for people; undefined for an engine in this process. */
  readonly url?: string
  /** Throws `NotReadyError` if the connection's policies do not permit a use. Undefined if it has no policies. */
  readonly assertPermitted?: (use: EngineUse) => void
}

export interface EmbeddedEngine {
  /** Name of the ClusterConnection by which objects reference the engine. The object need not exist. */
  readonly name: string
  readonly engine: Engine
  readonly organization?: string
}

export interface EngineConnectionsOptions {
  readonly cluster: Pick<Cluster, "follow" | "get">
  readonly runtime: OperatorRuntime
  readonly connections: Pick<ObjectStore, "get">
  readonly clusterConnections: Pick<ObjectStore, "get">
  /** Cache of namespaces, by name. */
  readonly namespaces: Pick<ObjectStore, "get">
  /** Namespace of the operator, which has the Secrets of cluster-wide connections. */
  readonly namespace: string
  /** Non-public addresses that engines of namespaced connections may have. */
  readonly addresses: PermittedAddresses
  readonly open: (url: string, options: EngineOptions) => Promise<Engine>
  readonly nameRequest: () => string
  readonly embedded?: EmbeddedEngine
  /** Called when a Secret of a connection changes. */
  readonly secretChanged: (kind: ConnectionRef["kind"], key: ObjectKey) => void
}

/** Everything that a client depends on. */
interface Access {
  readonly url: string
  readonly token: string
  readonly certificateAuthority?: string
  readonly proxyUrl?: string
  readonly anywhere: boolean
}

/** Use of an organization; undefined: that of the connection. */
interface OrganizationUse {
  readonly organization: string | undefined
  readonly project: string | undefined
}

interface ConnectOptions {
  /** The object that needs the connection is being deleted. */
  readonly isCleaningUp?: boolean
  /** Use of the engine by the object. The policies of the connection must permit it. */
  readonly use?: EngineUse | OrganizationUse
}

interface Client {
  readonly access: Access
  readonly engine: Engine
  readonly limit: RateLimit | undefined
  readonly pace: RequestRateLimiter
}

/** Time for requests in flight of a replaced client. */
const graceMs = 30_000
const connectTimeoutMs = 5_000
const answerTimeoutMs = 15_000

export class EngineConnections {
  readonly #options: EngineConnectionsOptions
  readonly #secrets: NamedObjects
  readonly #clients = new Map<string, Client>()
  /** Replaced clients, with the function that cancels their scheduled close. */
  readonly #closing = new Map<Engine, () => void>()

  constructor(options: EngineConnectionsOptions) {
    const { cluster, runtime, secretChanged } = options
    this.#options = options
    this.#secrets = new NamedObjects({
      cluster,
      runtime,
      resource: secrets,
      changed(owner) {
        const [kind, key] = split(owner)
        secretChanged(kind, key)
      },
    })
  }

  /** Call after each change of a connection; `object` is undefined after its deletion. */
  changed(kind: ConnectionRef["kind"], key: ObjectKey, object: KubernetesObject | undefined): void {
    const owner = `${kind}/${key}`
    this.#secrets.need(owner, object === undefined ? [] : this.#secretsOf(object))
    if (object === undefined) this.#drop(owner)
  }

  /**
   * Returns the engine of a reference in an object of this namespace. Throws `Unsettled` while the connection is unusable. When it becomes
   * ready, its objects are requeued. Without a namespace, the restrictions on namespaces do not apply.
   */
  async connect(
    ref: ConnectionRef,
    namespace: string | undefined,
    signal: AbortSignal,
    options: ConnectOptions = {},
  ): Promise<Connected> {
    const { embedded, connections, clusterConnections } = this.#options
    if (ref.kind === "ClusterConnection" && ref.name === embedded?.name) {
      // Without such an object, all namespaces may use the embedded engine.
      const declared = clusterConnections.get(ref.name)
      if (declared !== undefined && namespace !== undefined) this.#rejectNamespace(declared, namespace)
      const { engine, organization } = embedded
      const guarded =
        declared === undefined ? {} : this.#guardedUse(ref, declared, namespace, options.use, organization)
      return { engine, ...(organization === undefined ? {} : { organization }), ...guarded }
    }
    const key = ref.kind === "Connection" ? `${namespace}/${ref.name}` : ref.name
    const object = (ref.kind === "Connection" ? connections : clusterConnections).get(key)
    if (object === undefined)
      throw stalled("ConnectionMissing", `There is no ${ref.kind} ${ref.name}${inNamespace(ref, namespace)}.`)
    if (ref.kind === "ClusterConnection" && namespace !== undefined) this.#rejectNamespace(object, namespace)
    const guarded = this.#guardedUse(ref, object, namespace, options.use, specOf(ref.kind, object).organization)
    // A connection under deletion still serves objects that need it for their cleanup.
    if (!isReady(object) && object.metadata.deletionTimestamp === undefined) {
      // No short retry is needed: the object is requeued when the connection becomes ready.
      throw waiting("ConnectionNotReady", `The ${ref.kind} ${ref.name} is not ready; see its status.`, pollMs)
    }
    return { ...(await this.client(ref.kind, object, signal, options)), ...guarded }
  }

  /** Returns whether a connection exists and is not being deleted. Reads the current object, not a cached one. */
  async isStaying(ref: ConnectionRef, namespace: string | undefined): Promise<boolean> {
    const { cluster, embedded } = this.#options
    if (ref.kind === "ClusterConnection" && ref.name === embedded?.name) return true
    const object =
      ref.kind === "Connection"
        ? await cluster.get(connection, `${namespace}/${ref.name}`)
        : await cluster.get(clusterConnection, ref.name)
    return object !== undefined && object.metadata.deletionTimestamp === undefined
  }

  /** Returns the engine of a connection, whether ready or not. Throws `Unsettled` if the connection is incomplete. */
  async client(
    kind: ConnectionRef["kind"],
    object: KubernetesObject,
    signal: AbortSignal,
    { isCleaningUp = false }: ConnectOptions = {},
  ): Promise<Connected> {
    const spec = specOf(kind, object)
    const owner = `${kind}/${keyOf(object)}`
    const present = this.#clients.get(owner)
    let access: Access
    try {
      access = await this.#accessOf(kind, spec, object.metadata.namespace, signal)
    } catch (error) {
      // If the Secret was deleted together with the objects that need it for cleanup, the last token still works.
      if (!isCleaningUp || present === undefined || !(error instanceof NotReadyError)) throw error
      access = present.access
    }
    const limit = spec.rateLimit
    const same = present !== undefined && isDeepStrictEqual(present.limit, limit)
    // The limit protects the engine, so it stays when the token changes.
    const pace = same ? present.pace : new RequestRateLimiter(limit, this.#options.runtime)
    const kept = same && isDeepStrictEqual(present.access, access)
    const engine = kept ? present.engine : await this.#open(access, pace)
    if (!kept) {
      this.#drop(owner)
      this.#clients.set(owner, { access, engine, limit, pace })
    }
    const { organization, baseURL: url } = spec
    return { engine, url, ...(organization === undefined ? {} : { organization }) }
  }

  async stop(): Promise<void> {
    await this.#secrets.stop()
    for (const cancel of this.#closing.values()) cancel()
    const engines = [...this.#closing.keys(), ...[...this.#clients.values()].map(({ engine }) => engine)]
    await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()))
  }

  async #open({ url, anywhere, ...access }: Access, pace: RequestRateLimiter): Promise<Engine> {
    const { open, addresses, nameRequest } = this.#options
    try {
      return await open(url, {
        ...access,
        ...(anywhere ? {} : { addresses }),
        pace,
        nameRequest,
        // The client does not retry. The work queue does, and is fair to all objects.
        attempts: 1,
        connectTimeoutMs,
        answerTimeoutMs,
      })
    } catch {
      // Thrown before any request: the token or the certificates are malformed.
      throw stalled("TokenRefused", "The token or the CA certificates are not valid.")
    }
  }

  #drop(owner: string): void {
    const { runtime } = this.#options
    const client = this.#clients.get(owner)
    if (client === undefined) return
    this.#clients.delete(owner)
    const cancel = runtime.timers.after(graceMs, () => {
      if (this.#closing.delete(client.engine)) void client.engine[Symbol.asyncDispose]()
    })
    this.#closing.set(client.engine, cancel)
  }

  /** Throws if the policies do not permit the use. */
  #guardedUse(
    { kind }: ConnectionRef,
    object: KubernetesObject,
    namespace: string | undefined,
    use: ConnectOptions["use"],
    ownOrganization: string | undefined,
  ): Pick<Connected, "assertPermitted"> {
    const { policies } = specOf(kind, object)
    if (policies === undefined) return {}
    const assertPermitted = (one: EngineUse) => {
      if (permits(policies, one, namespace === undefined ? undefined : this.#namespace(namespace))) return
      const to = namespace === undefined ? "" : ` to the namespace ${namespace}`
      throw stalled("UseNotPermitted", `The ${kind} ${object.metadata.name} does not permit ${describeUse(one)}${to}.`)
    }
    if (use !== undefined)
      assertPermitted("mount" in use ? use : { ...use, organization: use.organization ?? ownOrganization ?? "" })
    return { assertPermitted }
  }

  #namespace(name: string): UsingNamespace {
    return { name, labels: this.#options.namespaces.get(name)?.metadata.labels ?? {} }
  }

  #rejectNamespace(object: KubernetesObject, namespace: string): void {
    const { allowedNamespaces } = specOf("ClusterConnection", object)
    if (!includes(allowedNamespaces, this.#namespace(namespace))) {
      const { name } = object.metadata
      throw stalled("NamespaceNotAllowed", `The ClusterConnection ${name} does not allow the namespace ${namespace}.`)
    }
  }

  async #accessOf(
    kind: ConnectionRef["kind"],
    spec: ClusterConnectionSpec,
    namespace: string = this.#options.namespace,
    signal: AbortSignal,
  ): Promise<Access> {
    const { baseURL, tokenSecretRef, caBundle, caSecretRef, proxyURL } = spec
    const token = await this.#read(namespace, tokenSecretRef, signal)
    const authority = caSecretRef === undefined ? caBundle : await this.#read(namespace, caSecretRef, signal)
    return {
      url: baseURL,
      token,
      anywhere: kind === "ClusterConnection",
      ...(authority === undefined ? {} : { certificateAuthority: authority }),
      ...(proxyURL === undefined ? {} : { proxyUrl: proxyURL }),
    }
  }

  async #read(namespace: string, { name, key }: SecretKey, signal: AbortSignal): Promise<string> {
    const secret = await this.#secrets.get(`${namespace}/${name}`, signal)
    if (secret === undefined) throw stalled("SecretMissing", `The namespace ${namespace} has no Secret ${name}.`)
    const data = (secret["data"] as Readonly<Record<string, string>> | undefined)?.[key]
    const text = data === undefined ? "" : Buffer.from(data, "base64").toString("utf8").trim()
    if (text === "") throw stalled("SecretKeyMissing", `The Secret ${name} has no value for ${key}.`)
    return text
  }

  #secretsOf({ metadata: { namespace = this.#options.namespace }, spec }: KubernetesObject): readonly ObjectKey[] {
    const { tokenSecretRef, caSecretRef } = (spec ?? {}) as Partial<ClusterConnectionSpec>
    return [tokenSecretRef?.name, caSecretRef?.name].flatMap((name) =>
      typeof name === "string" ? [`${namespace}/${name}`] : [],
    )
  }
}

interface SecretKey {
  readonly name: string
  readonly key: string
}

const specOf = (kind: ConnectionRef["kind"], object: KubernetesObject): ClusterConnectionSpec =>
  kind === "Connection" ? parsedSpec(connection, object) : parsedSpec(clusterConnection, object)

/** Returns whether the connection is ready at its current generation. */
function isReady({ metadata: { generation }, status }: KubernetesObject): boolean {
  const { observedGeneration, conditions = [] } = (status ?? {}) as {
    readonly observedGeneration?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
  return observedGeneration === generation && conditions.some((one) => one.type === "Ready" && one.status === "True")
}

const inNamespace = ({ kind }: ConnectionRef, namespace: string | undefined): string =>
  kind === "Connection" ? ` in the namespace ${namespace}` : ""

function split(owner: string): readonly [ConnectionRef["kind"], ObjectKey] {
  const slash = owner.indexOf("/")
  return [owner.slice(0, slash) as ConnectionRef["kind"], owner.slice(slash + 1)]
}
