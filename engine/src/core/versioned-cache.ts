import { LRUCache } from "lru-cache"

export interface Versioned {
  /** Version of the cached facts (`cache-versions.ts`). */
  readonly version: number
}

/** LRU cache of values with the versions of their facts. A value is current while its version equals the one in the database. */
export class VersionedCache<Key extends {}, Value extends Versioned> {
  readonly #values: LRUCache<Key, Value>

  constructor(max: number) {
    this.#values = new LRUCache({ max })
  }

  /** Returns the value without checking that it is current. */
  peek(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  /** Returns the value if `version` returns its version. Does not call `version` if there is no value. */
  async current(key: Key, version: () => Promise<number>): Promise<Value | undefined> {
    const value = this.#values.get(key)
    return value !== undefined && value.version === (await version()) ? value : undefined
  }

  /** Returns the value if it has this version. */
  at(key: Key, version: number): Value | undefined {
    const value = this.#values.get(key)
    return value?.version === version ? value : undefined
  }

  /**
   * Stores a value unless a newer one is stored. Call it after the read that returned the value has ended. Until then, the value may come
   * from a commit that is not on disk yet, and other requests would return it to clients.
   */
  keep(key: Key, value: Value): void {
    const kept = this.#values.get(key)
    if (kept === undefined || kept.version <= value.version) this.#values.set(key, value)
  }
}
