// Reads what one wrote oneself: what a watch shows may be older than the own last write, and whoever acts on it does
// everything twice (KEP-5647). Such an object waits until the watch has caught up, though not for ever: a watch may be cut.
import { type ObjectKey, reaches } from "./kubernetes-object.ts"

interface Write {
  readonly resourceVersion: string
  readonly at: number
  readonly by: ObjectKey | undefined
}

const patienceMs = 5_000

export class OwnWrites {
  readonly #writes = new Map<ObjectKey, Write>()
  readonly #stopwatch: () => number

  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch
  }

  /** `by`: who has written it, and need not be told of it. */
  remember(key: ObjectKey, resourceVersion: string, by?: ObjectKey): void {
    this.#writes.set(key, { resourceVersion, at: this.#stopwatch(), by })
  }

  /** Who has written just what the watch shows now; it has caught up then. */
  writerOf(key: ObjectKey, resourceVersion: string | undefined): ObjectKey | undefined {
    const write = this.#writes.get(key)
    if (write === undefined || write.resourceVersion !== resourceVersion) return undefined
    this.#writes.delete(key)
    return write.by
  }

  forget(key: ObjectKey): void {
    this.#writes.delete(key)
  }

  /** For how long to wait yet, with this version at hand; 0 to go on. */
  waitMs(key: ObjectKey, resourceVersion: string | undefined): number {
    const write = this.#writes.get(key)
    if (write === undefined) return 0
    const leftMs = write.at + patienceMs - this.#stopwatch()
    if (leftMs > 0 && !reaches(resourceVersion, write.resourceVersion)) return leftMs
    this.#writes.delete(key)
    return 0
  }
}
