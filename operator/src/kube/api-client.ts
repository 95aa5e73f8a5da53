// Client of the Kubernetes API with a pool of persistent connections. @kubernetes/client-node reads configurations and authenticates. Its
// request functions are not used, because they open a connection for each request.
import type { RequestOptions } from "node:https"
import { isDeepStrictEqual } from "node:util"
import { type Cluster, KubeConfig } from "@kubernetes/client-node"
import { Agent, type Dispatcher, request } from "undici"
import { ApiError, type ApplyOptions, type StatusWrite } from "./cluster.ts"
import {
  apiVersionOf,
  keyOf,
  type KubernetesObject,
  type ObjectKey,
  parseKey,
  type Resource,
  withoutManagedFields,
} from "./kubernetes-object.ts"
import { type OperatorRuntime, pause } from "../runtime.ts"

export interface WatchEvent {
  readonly type: string
  readonly object: KubernetesObject
}

export interface ApiClientOptions extends Pick<OperatorRuntime, "stopwatch" | "timers"> {
  /** Called for every response. `code` is `<error>` if there was none. */
  readonly observe?: (request: { readonly code: string; readonly method: string }) => void
}

interface ManagedFields {
  readonly manager?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
}

interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly mediaType?: string
  readonly signal?: AbortSignal
  /** True if the response is a stream, which occupies its own connection. */
  readonly streams?: boolean
}

const maxConnections = 32
const answerTimeoutMs = 60_000
/** The API server sends at least a bookmark every minute. */
const watchSilenceMs = 120_000
const maxAnswerBytes = 128 * 1024 * 1024
/** etcd limits objects to 1.5 MB. */
const maxLineLength = 16 * 1024 * 1024
const maxAttempts = 4
const maxRetryAfterMs = 10_000
/** Token files are rotated long before the token in them expires. */
const maxCredentialsMs = 60_000

interface Credentials {
  readonly dispatcher: Agent
  /** Connections of watches. Each watch occupies one, so they are separate from the pool of other requests. */
  readonly streaming: Agent
  readonly headers: Readonly<Record<string, string>>
  readonly tls: Tls
  readonly readAt: number
}

type Tls = Pick<RequestOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized">

export class ApiClient implements AsyncDisposable {
  readonly #config: KubeConfig
  readonly #options: ApiClientOptions
  readonly #origin: string
  readonly #closing = new AbortController()
  #credentials: Promise<Credentials> | undefined

  constructor(config: KubeConfig, options: ApiClientOptions) {
    const cluster = config.getCurrentCluster()
    if (cluster === null) throw new Error("the Kubernetes configuration names no cluster")
    if (cluster.proxyUrl) throw new Error("proxy-url in the Kubernetes configuration is not supported")
    this.#config = cluster.server.startsWith("http:") ? withoutTls(config, cluster) : config
    this.#options = options
    this.#origin = cluster.server.replace(/\/+$/, "")
  }

  async get(resource: Resource, key: ObjectKey): Promise<KubernetesObject> {
    return readObject(await this.#send({ method: "GET", path: pathOf(resource, key) }))
  }

  /** Returns the first of the versions that the server has of a resource; the last one if it has none. */
  async servedVersion(resource: Resource, versions: readonly [string, ...string[]]): Promise<Resource> {
    for (const version of versions) if (await this.#serves({ ...resource, version })) return { ...resource, version }
    return { ...resource, version: versions.at(-1) ?? resource.version }
  }

  async #serves({ group, version, plural }: Resource): Promise<boolean> {
    try {
      const { resources = [] } = (await this.#send({ method: "GET", path: `/apis/${group}/${version}` })) as {
        readonly resources?: readonly { readonly name: string }[]
      }
      return resources.some(({ name }) => name === plural)
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false
      throw error
    }
  }

  /** Returns the field managers that own a member of `data`. */
  async dataManagers(resource: Resource, key: ObjectKey): Promise<readonly string[]> {
    const object = (await this.#send({ method: "GET", path: pathOf(resource, key) })) as {
      readonly metadata?: { readonly managedFields?: readonly ManagedFields[] }
    }
    const owners = (object.metadata?.managedFields ?? []).filter(({ fieldsV1 }) => fieldsV1?.["f:data"] !== undefined)
    return [...new Set(owners.map(({ manager }) => manager ?? "unknown"))]
  }

  create(resource: Resource, object: KubernetesObject, signal?: AbortSignal): Promise<KubernetesObject> {
    const path = collectionOf(resource, object.metadata.namespace)
    return this.#write({ method: "POST", path, body: object, ...(signal === undefined ? {} : { signal }) })
  }

  /** Creates an object that contains a template of a user: members that the server does not know are rejected. */
  createStrictly(
    resource: Resource,
    object: KubernetesObject,
    { dryRun = false }: ApplyOptions = {},
  ): Promise<KubernetesObject> {
    const path = collectionOf(resource, object.metadata.namespace)
    const query = { fieldValidation: "Strict", ...(dryRun ? { dryRun: "All" } : {}) }
    return this.#write({ method: "POST", path, query, body: object })
  }

  /** Rejected with 409 if the stored object has another `resourceVersion`. */
  replace(
    resource: Resource,
    key: ObjectKey,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject> {
    const path = pathOf(resource, key)
    return this.#write({ method: "PUT", path, body: object, ...(signal === undefined ? {} : { signal }) })
  }

  mergePatch(resource: Resource, key: ObjectKey, patch: unknown): Promise<KubernetesObject> {
    const mediaType = "application/merge-patch+json"
    return this.#write({ method: "PATCH", path: pathOf(resource, key), body: patch, mediaType })
  }

  /** Server-side apply: removes fields that `fieldManager` applied before and omits now. */
  apply(
    resource: Resource,
    object: KubernetesObject,
    fieldManager: string,
    { dryRun = false }: ApplyOptions = {},
  ): Promise<KubernetesObject> {
    return this.#write({
      method: "PATCH",
      path: pathOf(resource, keyOf(object)),
      query: { fieldManager, force: "true", fieldValidation: "Strict", ...(dryRun ? { dryRun: "All" } : {}) },
      body: { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind },
      mediaType: "application/apply-patch+yaml",
    })
  }

  /**
   * Deletes dependents in the background. Throws `ApiError` with status 404 or 409 if nothing was deleted. A pod has `gracePeriodSeconds`,
   * or else its own time, to end.
   */
  async delete(resource: Resource, key: ObjectKey, uid?: string, gracePeriodSeconds?: number): Promise<void> {
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Background",
      ...(uid === undefined ? {} : { preconditions: { uid } }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    }
    await this.#send({ method: "DELETE", path: pathOf(resource, key), body })
  }

  /**
   * Server-side apply to the status: removes fields that `fieldManager` applied before and omits now. The API server
   * ignores the object's `uid` here if another object has the name now: only a `resourceVersion` protects that one.
   */
  applyStatus(
    resource: Resource,
    object: KubernetesObject,
    status: unknown,
    fieldManager: string,
    { resourceVersion }: StatusWrite = {},
  ): Promise<KubernetesObject> {
    const { name, namespace, uid } = object.metadata
    const metadata = {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }
    return this.#write({
      method: "PATCH",
      path: `${pathOf(resource, keyOf(object))}/status`,
      query: { fieldManager, force: "true", fieldValidation: "Strict" },
      body: { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, status },
      mediaType: "application/apply-patch+yaml",
    })
  }

  /** Returns one page of a list, and the continue token of the next page (empty at the end). */
  async list(
    resource: Resource,
    namespace: string | undefined,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ readonly items: readonly KubernetesObject[]; readonly resourceVersion: string; readonly next: string }> {
    const list = (await this.#send({ method: "GET", path: collectionOf(resource, namespace), query, signal })) as {
      readonly items?: readonly KubernetesObject[]
      readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
    }
    const { resourceVersion, continue: next = "" } = list.metadata ?? {}
    if (list.items === undefined || resourceVersion === undefined) throw new Error("the response is not a list")
    return { items: list.items.map(withoutManagedFields), resourceVersion, next }
  }

  /** Ends when the server ends the watch. Throws if the server sends nothing for two minutes. */
  async *watch(
    resource: Resource,
    namespace: string | undefined,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    const path = collectionOf(resource, namespace)
    const answer = await this.#answer({
      method: "GET",
      path,
      query: { ...query, watch: "true" },
      signal,
      streams: true,
    })
    for await (const line of linesOf(answer.body)) {
      const event = JSON.parse(line) as WatchEvent
      yield event.object.metadata === undefined
        ? event
        : { type: event.type, object: withoutManagedFields(event.object) }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    const credentials = await this.#credentials?.catch(() => undefined)
    await Promise.all([credentials?.dispatcher.destroy(), credentials?.streaming.destroy()])
  }

  async #write(call: Call): Promise<KubernetesObject> {
    return readObject(await this.#send(call))
  }

  async #send(call: Call): Promise<unknown> {
    const { body } = await this.#answer(call)
    return JSON.parse(await textOf(body))
  }

  /** Retries only if the server sent Retry-After; it has not executed the request then. */
  async #answer(call: Call): Promise<Dispatcher.ResponseData> {
    const closing = this.#closing.signal
    const signal = call.signal === undefined ? closing : AbortSignal.any([closing, call.signal])
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#once(call, signal)
      if (answer.statusCode < 300) return answer
      const error = errorOf(answer.statusCode, await textOf(answer.body))
      const retryAfter = Number(answer.headers["retry-after"])
      const again = (error.status === 429 || error.status >= 500) && retryAfter >= 0 && attempt < maxAttempts
      if (!again) throw error
      await pause(Math.min(retryAfter * 1_000, maxRetryAfterMs), this.#options, signal)
      signal.throwIfAborted()
    }
  }

  async #once(call: Call, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { method, path, query, body, mediaType = "application/json", streams = false } = call
    const { observe } = this.#options
    const { dispatcher, streaming, headers } = await this.#authenticated()
    try {
      const answer = await request(`${this.#origin}${path}`, {
        dispatcher: streams ? streaming : dispatcher,
        method,
        signal,
        // undici would give up the connection after every DELETE that has a body.
        reset: false,
        headersTimeout: answerTimeoutMs,
        bodyTimeout: streams ? watchSilenceMs : answerTimeoutMs,
        ...(query === undefined ? {} : { query }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: {
          ...headers,
          accept: "application/json",
          "user-agent": "chancery-operator",
          ...(body === undefined ? {} : { "content-type": mediaType }),
        },
      })
      observe?.({ code: String(answer.statusCode), method })
      return answer
    } catch (error) {
      observe?.({ code: "<error>", method })
      throw error
    }
  }

  /** Concurrent callers share one read of the credentials. */
  async #authenticated(): Promise<Credentials> {
    this.#credentials ??= this.#readCredentials(undefined)
    const reading = this.#credentials
    try {
      const present = await reading
      if (this.#options.stopwatch() - present.readAt < maxCredentialsMs) return present
      if (this.#credentials === reading) this.#credentials = this.#readCredentials(present)
      return await this.#credentials
    } catch (error) {
      // The next request reads them again.
      this.#credentials = undefined
      throw error
    }
  }

  async #readCredentials(present: Credentials | undefined): Promise<Credentials> {
    const options: RequestOptions = {}
    await this.#config.applyToHTTPSOptions(options)
    const { ca, cert, key, servername, rejectUnauthorized } = options
    const tls = definedMembers({ ca, cert, key, servername, rejectUnauthorized })
    const headers = { ...(options.headers as Record<string, string> | undefined) }
    if (options.auth) headers["authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`
    const readAt = this.#options.stopwatch()
    if (present !== undefined && isDeepStrictEqual(present.tls, tls)) return { ...present, headers, readAt }
    // `close` lets requests in flight finish on the old connections.
    void present?.dispatcher.close()
    void present?.streaming.close()
    // Without HTTP/2, so that a watch does not delay other requests on a shared connection.
    const own = { allowH2: false, keepAliveTimeout: 30_000, connect: tls as object }
    const dispatcher = new Agent({ ...own, connections: maxConnections })
    return { dispatcher, streaming: new Agent(own), headers, tls, readAt }
  }
}

/** The library accepts http:// only with `skipTLSVerify`. Plain HTTP has no certificates to verify, and kubectl accepts it as it is. */
function withoutTls(config: KubeConfig, cluster: Cluster): KubeConfig {
  const { users, contexts, currentContext } = config
  const plain = new KubeConfig()
  const clusters = [{ ...cluster, skipTLSVerify: true }]
  plain.loadFromOptions({ clusters, users, contexts, currentContext })
  return plain
}

const definedMembers = (members: Tls): Tls =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))

function collectionOf({ group, version, plural }: Resource, namespace: string | undefined): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`
  return namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
}

function pathOf(resource: Resource, key: ObjectKey): string {
  const { namespace, name } = parseKey(key)
  return `${collectionOf(resource, namespace)}/${encodeURIComponent(name)}`
}

function readObject(document: unknown): KubernetesObject {
  const object = document as Partial<KubernetesObject>
  if (object.metadata === undefined) throw new Error("the response is not an object")
  return withoutManagedFields(object as KubernetesObject)
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { reason, message } = JSON.parse(text) as { readonly reason?: string; readonly message?: string }
    return new ApiError(status, reason ?? "Unknown", message ?? `the Kubernetes API answered ${status}`)
  } catch {
    return new ApiError(status, "Unknown", `the Kubernetes API answered ${status}`)
  }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > maxAnswerBytes) throw new Error(`the Kubernetes API answered more than ${maxAnswerBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString("utf8")
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let pieces = ""
  for await (const piece of body) {
    const lines = (pieces + decoder.decode(piece, { stream: true })).split("\n")
    pieces = lines.pop() ?? ""
    if (pieces.length > maxLineLength) throw new Error(`an event is longer than ${maxLineLength} characters`)
    for (const line of lines) if (line !== "") yield line
  }
}
