// Cache of objects of one kind, by key and by indexes.
import { keyOf, type KubernetesObject, type ObjectKey } from "./kubernetes-object.ts"

/** Returns the index values of an object: none, one or several. */
export type Index = (object: KubernetesObject) => readonly string[]

export class ObjectStore {
  readonly #objects = new Map<ObjectKey, KubernetesObject>()
  readonly #indexes: ReadonlyMap<string, { readonly index: Index; readonly keys: Map<string, Set<ObjectKey>> }>

  constructor(indexes: Readonly<Record<string, Index>> = {}) {
    this.#indexes = new Map(Object.entries(indexes).map(([name, index]) => [name, { index, keys: new Map() }]))
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: ObjectKey): KubernetesObject | undefined {
    return this.#objects.get(key)
  }

  keys(): Iterable<ObjectKey> {
    return this.#objects.keys()
  }

  by(name: string, value: string): readonly KubernetesObject[] {
    const index = this.#indexes.get(name)
    if (index === undefined) throw new Error(`the store has no index ${name}`)
    return [...(index.keys.get(value) ?? [])].flatMap((key) => this.#objects.get(key) ?? [])
  }

  /** Returns the previous object. */
  set(object: KubernetesObject): KubernetesObject | undefined {
    const key = keyOf(object)
    const previous = this.delete(key)
    this.#objects.set(key, object)
    for (const { index, keys } of this.#indexes.values())
      for (const value of index(object)) keys.set(value, (keys.get(value) ?? new Set()).add(key))
    return previous
  }

  /** Returns the deleted object. */
  delete(key: ObjectKey): KubernetesObject | undefined {
    const previous = this.#objects.get(key)
    if (previous === undefined) return undefined
    this.#objects.delete(key)
    for (const { index, keys } of this.#indexes.values()) {
      for (const value of index(previous)) {
        const found = keys.get(value)
        found?.delete(key)
        if (found?.size === 0) keys.delete(value)
      }
    }
    return previous
  }
}
