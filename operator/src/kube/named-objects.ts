// Cache of Secrets or ConfigMaps that other objects reference. Each is watched by name, because most Secrets of a namespace do not concern
// the operator, and only while an owner references it.
import type { Cluster, Following } from "./cluster.ts"
import { type KubernetesObject, type ObjectKey, parseKey, type Resource } from "./kubernetes-object.ts"
import { ObjectStore } from "./object-store.ts"
import { type OperatorRuntime, pause } from "../runtime.ts"

export interface NamedObjectsOptions {
  readonly cluster: Pick<Cluster, "follow" | "get">
  readonly runtime: Pick<OperatorRuntime, "log" | "timers">
  readonly resource: Resource
  /** Called with each owner of an object that changed. */
  readonly changed: (owner: string) => void
}

interface Named {
  readonly following: Following
  readonly owners: Set<string>
}

/**
 * Each watched object takes a connection to the API server. Objects beyond this number are read at every reconciliation, and their changes
 * are not noticed.
 */
const maxNamed = 1_000
const timeoutMs = 5_000

export class NamedObjects {
  readonly #options: NamedObjectsOptions
  readonly #store = new ObjectStore()
  readonly #named = new Map<ObjectKey, Named>()
  readonly #needs = new Map<string, readonly ObjectKey[]>()

  constructor(options: NamedObjectsOptions) {
    this.#options = options
  }

  /** Sets the objects that the owner references, replacing the earlier ones. */
  need(owner: string, keys: readonly ObjectKey[]): void {
    const before = this.#needs.get(owner) ?? []
    for (const key of keys) this.#follow(owner, key)
    for (const key of before) if (!keys.includes(key)) this.#leave(owner, key)
    if (keys.length === 0) this.#needs.delete(owner)
    else this.#needs.set(owner, keys)
  }

  /** Waits briefly if the watch has not synced yet. Objects that are still unknown then, or are not watched, are read from the cluster. */
  async get(key: ObjectKey, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const { cluster, resource, runtime } = this.#options
    const following = this.#named.get(key)?.following
    if (following?.hasSynced === false) await Promise.race([following.whenSynced(), pause(timeoutMs, runtime, signal)])
    return following?.hasSynced === true ? this.#store.get(key) : cluster.get(resource, key)
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#named.values()].map(({ following }) => following.stop()))
  }

  #follow(owner: string, key: ObjectKey): void {
    const { cluster, resource, runtime, changed } = this.#options
    const present = this.#named.get(key)
    if (present !== undefined) {
      present.owners.add(owner)
      return
    }
    if (this.#named.size >= maxNamed) {
      runtime.log.warn("too many objects are named by others to follow all of them", {
        resource: resource.plural,
        key,
        maxNamed,
      })
      return
    }
    const owners = new Set([owner])
    const following = cluster.follow({ resource, ...parseKey(key) }, this.#store, () => {
      for (const one of owners) changed(one)
    })
    this.#named.set(key, { following, owners })
  }

  #leave(owner: string, key: ObjectKey): void {
    const named = this.#named.get(key)
    if (named === undefined) return
    named.owners.delete(owner)
    if (named.owners.size > 0) return
    this.#named.delete(key)
    void named.following.stop().then(() => {
      // Another owner may reference the object again by now.
      if (!this.#named.has(key)) this.#store.delete(key)
    })
  }
}
