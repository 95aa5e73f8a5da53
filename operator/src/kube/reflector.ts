// Keeps a store in step with the objects of one kind: a list, then what changes. Servers that can stream the list are asked
// for a stream (WatchList), others for pages, and so are those whose stream fails for whatever reason. A watch that ends goes
// on where it was; a server that no longer knows that point (410) is asked for everything again, and only what differs is told.
import type { ApiClient, WatchEvent } from "./api-client.ts"
import { ApiError, type Changed } from "./cluster.ts"
import { keyOf, type KubernetesObject, type ObjectKey, parseKey, type Resource } from "./kubernetes-object.ts"
import type { ObjectStore } from "./object-store.ts"
import { type OperatorRuntime, pause } from "../runtime.ts"

/** What a reflector asks for; the tests' own server is one. */
export type WatchedApi = Pick<ApiClient, "list" | "watch">

export interface ReflectorOptions {
  readonly api: WatchedApi
  readonly resource: Resource
  /** Every namespace unless given. */
  readonly namespace?: string
  /** One object alone. */
  readonly name?: string
  readonly labelSelector?: string
  /** May hold other objects too, of other names or namespaces. */
  readonly store: ObjectStore
  readonly runtime: Pick<OperatorRuntime, "log" | "random" | "timers">
  /** After the store was told. `found`: it was there when the reflector began. */
  readonly changed: Changed
  /** For how long a streamed list may take before it is given up for pages: an old etcd never ends one. */
  readonly streamedListMs?: number
}

const pageSize = 500
const backoffBaseMs = 800
const backoffMaximumMs = 30_000
const doublingsMaximum = 10
const endOfList = "k8s.io/initial-events-end"

export class Reflector {
  readonly #options: ReflectorOptions
  readonly #synced = Promise.withResolvers<void>()
  #hasSynced = false
  #streams = true
  /** The last streamed list has failed. */
  #pagesNext = false
  #resourceVersion: string | undefined

  constructor(options: ReflectorOptions) {
    this.#options = options
  }

  /** The store has held everything at some moment. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  whenSynced(): Promise<void> {
    return this.#synced.promise
  }

  /** Goes on until the signal; no failure ends it. */
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
        // Whoever got on since the last failure starts to count anew.
        failures = this.#resourceVersion !== undefined && this.#resourceVersion !== before ? 1 : failures + 1
      }
      // A watch that ended in order goes on soon, yet no server that ends each at once is asked without a pause.
      const ceilingMs = Math.min(backoffBaseMs * 2 ** Math.min(failures, doublingsMaximum), backoffMaximumMs)
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
      // A list that is whole was followed by a watch, which ended in whatever way.
      if (signal.aborted || this.#resourceVersion !== undefined) throw error
      runtime.log.info("a streamed list has failed, so pages are asked for", {
        resource: resource.plural,
        error: String(error),
      })
      this.#pagesNext = true
      // The server's own answer stays the same; without one nothing is known of what it can do.
      if (!(error instanceof ApiError || late.signal.aborted)) throw error
      this.#streams = false
    } finally {
      cancel()
    }
  }

  /** `listed` is called at the end of a list in the stream. */
  async #follow(query: Readonly<Record<string, string>>, signal: AbortSignal, listed?: () => void): Promise<void> {
    const { api, resource, namespace, runtime } = this.#options
    let found = listed === undefined ? undefined : new Map<ObjectKey, KubernetesObject>()
    // The server ends each watch; not all of them at once.
    const timeoutSeconds = String(300 + Math.floor(runtime.random() * 300))
    const asked = { ...query, ...this.#selection(), allowWatchBookmarks: "true", timeoutSeconds }
    for await (const event of api.watch(resource, namespace, asked, signal)) {
      signal.throwIfAborted()
      if (event.type === "ERROR") throw errorOf(event)
      const { resourceVersion: version } = event.object.metadata
      if (version === undefined) throw new Error("an event without a version")
      if (found === undefined) this.#take(event, version)
      else if (event.type === "DELETED") found.delete(keyOf(event.object))
      else if (event.type !== "BOOKMARK") found.set(keyOf(event.object), event.object)
      else if (event.object.metadata.annotations?.[endOfList] === "true") {
        this.#replace(found, version)
        found = undefined
        listed?.()
      }
    }
    if (found !== undefined) throw new Error("the stream ended before the list was whole")
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

/** What went wrong comes with status 200, as an event that is no object (`Status`). */
function errorOf({ object }: WatchEvent): ApiError {
  const { code, reason, message } = object as unknown as { code?: number; reason?: string; message?: string }
  return new ApiError(code ?? 500, reason ?? "Unknown", message ?? "the watch failed")
}

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 410
