// Keeps a store in sync with the objects of one kind: a list, then a watch. The list is streamed (WatchList) if the server can do that, and
// paged if it cannot or the stream fails. After a watch ends, the next one continues from its version. If the server no longer has that
// version (410), everything is listed again, and only differences are reported.
import type { ApiClient, WatchEvent } from "./api-client.ts"
import { ApiError, type Changed } from "./cluster.ts"
import { keyOf, type KubernetesObject, type ObjectKey, parseKey, type Resource } from "./kubernetes-object.ts"
import type { ObjectStore } from "./object-store.ts"
import { type OperatorRuntime, pause } from "../runtime.ts"

/** Part of the API client that a reflector uses; tests implement it too. */
export type WatchedApi = Pick<ApiClient, "list" | "watch">

export interface ReflectorOptions {
  readonly api: WatchedApi
  readonly resource: Resource
  /** Default: all namespaces. */
  readonly namespace?: string
  /** Restricts to one object. */
  readonly name?: string
  readonly labelSelector?: string
  /** May also hold other objects, of other names or namespaces. */
  readonly store: ObjectStore
  readonly runtime: Pick<OperatorRuntime, "log" | "random" | "timers">
  /** Called after the store was updated. `found`: the object existed when the reflector began. */
  readonly changed: Changed
  /** Time limit for a streamed list, after which pages are requested. With an old etcd, a stream never ends. */
  readonly streamedListMs?: number
}

const pageSize = 500
const backoffBaseMs = 800
const maxBackoffMs = 30_000
const maxDoublings = 10
const endOfList = "k8s.io/initial-events-end"

export class Reflector {
  readonly #options: ReflectorOptions
  readonly #synced = Promise.withResolvers<void>()
  #hasSynced = false
  #streams = true
  /** True if the next list is paged, because the last streamed list failed. */
  #pagesNext = false
  #resourceVersion: string | undefined

  constructor(options: ReflectorOptions) {
    this.#options = options
  }

  /** True once the store has held all objects. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  whenSynced(): Promise<void> {
    return this.#synced.promise
  }

  /** Runs until the signal aborts. Failures are logged and retried. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime, resource } = this.#options
    let failures = 0
    while (!signal.aborted) {
      const before = this.#resourceVersion
      try {
        await this.#listAndWatch(signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        if (isGone(error)) {
          this.#resourceVersion = undefined
          if (before !== undefined && failures === 0) continue
        }
        runtime.log.warn("watch failed", { resource: resource.plural, error: String(error) })
        // Progress since the last failure resets the count.
        failures = this.#resourceVersion !== undefined && this.#resourceVersion !== before ? 1 : failures + 1
      }
      // Also pauses briefly after a regular end, because a server may end every watch at once.
      const ceilingMs = Math.min(backoffBaseMs * 2 ** Math.min(failures, maxDoublings), maxBackoffMs)
      await pause(ceilingMs * runtime.random(), runtime, signal)
    }
  }

  #selection(): Readonly<Record<string, string>> {
    const { name, labelSelector } = this.#options
    return {
      ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    }
  }

  #concerns(key: ObjectKey): boolean {
    const { namespace, name } = this.#options
    const of = parseKey(key)
    return (namespace === undefined || of.namespace === namespace) && (name === undefined || of.name === name)
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    const wantsPages = this.#pagesNext || !this.#streams
    this.#pagesNext = false
    if (this.#resourceVersion === undefined && !wantsPages) return this.#streamList(signal)
    if (this.#resourceVersion === undefined) await this.#listPages(signal)
    await this.#follow({ resourceVersion: this.#resourceVersion ?? "" }, signal)
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    const { api, resource, namespace } = this.#options
    const found = new Map<ObjectKey, KubernetesObject>()
    let next = ""
    do {
      const query = { ...this.#selection(), limit: String(pageSize), ...(next === "" ? {} : { continue: next }) }
      const page = await api.list(resource, namespace, query, signal)
      for (const object of page.items) found.set(keyOf(object), object)
      next = page.next
      if (next === "") this.#replace(found, page.resourceVersion)
    } while (next !== "")
  }

  async #streamList(signal: AbortSignal): Promise<void> {
    const { runtime, streamedListMs = 60_000, resource } = this.#options
    const late = new AbortController()
    const cancel = runtime.timers.after(streamedListMs, () => late.abort())
    const query = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion: "" }
    try {
      await this.#follow(query, AbortSignal.any([signal, late.signal]), cancel)
    } catch (error) {
      // The list was complete, so the error belongs to the watch after it.
      if (signal.aborted || this.#resourceVersion !== undefined) throw error
      runtime.log.info("a streamed list has failed, so pages are parameters for", {
        resource: resource.plural,
        error: String(error),
      })
      this.#pagesNext = true
      // An API error or a timeout shows that the server cannot stream. Other errors, such as a lost connection, show nothing about that.
      if (!(error instanceof ApiError || late.signal.aborted)) throw error
      this.#streams = false
    } finally {
      cancel()
    }
  }

  /** Follows a watch. `listed` is called at the end of the initial list in a stream. */
  async #follow(query: Readonly<Record<string, string>>, signal: AbortSignal, listed?: () => void): Promise<void> {
    const { api, resource, namespace, runtime } = this.#options
    let found = listed === undefined ? undefined : new Map<ObjectKey, KubernetesObject>()
    // The server ends each watch after this time; random, so that not all end at once.
    const timeoutSeconds = String(300 + Math.floor(runtime.random() * 300))
    const parameters = { ...query, ...this.#selection(), allowWatchBookmarks: "true", timeoutSeconds }
    for await (const event of api.watch(resource, namespace, parameters, signal)) {
      signal.throwIfAborted()
      if (event.type === "ERROR") throw errorOf(event)
      const { resourceVersion: version } = event.object.metadata
      if (version === undefined) throw new Error("a watch event has no resourceVersion")
      if (found === undefined) this.#take(event, version)
      else if (event.type === "DELETED") found.delete(keyOf(event.object))
      else if (event.type !== "BOOKMARK") found.set(keyOf(event.object), event.object)
      else if (event.object.metadata.annotations?.[endOfList] === "true") {
        this.#replace(found, version)
        found = undefined
        listed?.()
      }
    }
    if (found !== undefined) throw new Error("the stream ended before the list was complete")
  }

  #take(event: WatchEvent, version: string): void {
    const { store, changed } = this.#options
    this.#resourceVersion = version
    const key = keyOf(event.object)
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
        return changed(key, "changed", store.set(event.object))
      case "DELETED":
        return changed(key, "changed", store.delete(key))
      default:
        return undefined
    }
  }

  #replace(found: ReadonlyMap<ObjectKey, KubernetesObject>, resourceVersion: string): void {
    const { store, changed } = this.#options
    this.#resourceVersion = resourceVersion
    for (const key of [...store.keys()])
      if (!found.has(key) && this.#concerns(key)) changed(key, "changed", store.delete(key))
    for (const [key, object] of found) {
      const previous = store.set(object)
      const same = previous?.metadata.resourceVersion === object.metadata.resourceVersion
      if (!same) changed(key, this.#hasSynced ? "changed" : "found", previous)
    }
    this.#hasSynced = true
    this.#synced.resolve()
  }
}

/** Watch errors arrive with HTTP status 200, as an event whose object is a `Status`. */
function errorOf({ object }: WatchEvent): ApiError {
  const { code, reason, message } = object as unknown as { code?: number; reason?: string; message?: string }
  return new ApiError(code ?? 500, reason ?? "Unknown", message ?? "the watch failed")
}

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 410
