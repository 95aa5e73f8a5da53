// Read-your-writes: a watch may lag behind the operator's own last write, and acting on the older object does everything twice (KEP-5647).
// Such an object waits until the watch has caught up, but only for a limited time, because a watch may break.
import { type ObjectKey, reaches } from "./kubernetes-object.ts"

interface Write {
  readonly resourceVersion: string
  readonly at: number
  readonly by: ObjectKey | undefined
}

const timeoutMs = 5_000

export class ReadYourWrites {
  readonly #writes = new Map<ObjectKey, Write>()
  readonly #stopwatch: () => number

  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch
  }

  /** Remembers a write. `by` is the key of the object whose reconciler wrote it, which is not requeued for this write. */
  remember(key: ObjectKey, resourceVersion: string, by?: ObjectKey): void {
    this.#writes.set(key, { resourceVersion, at: this.#stopwatch(), by })
  }

  /** Returns the writer of exactly this version, and forgets the write, because the watch has caught up. */
  writerOf(key: ObjectKey, resourceVersion: string | undefined): ObjectKey | undefined {
    const write = this.#writes.get(key)
    if (write === undefined || write.resourceVersion !== resourceVersion) return undefined
    this.#writes.delete(key)
    return write.by
  }

  /** Returns the keys of writes that the watch may not have shown yet. */
  keys(): readonly ObjectKey[] {
    return [...this.#writes.keys()]
  }

  forget(key: ObjectKey): void {
    this.#writes.delete(key)
  }

  /** Returns how long to wait given the version that the watch shows; 0 means to proceed. */
  waitMs(key: ObjectKey, resourceVersion: string | undefined): number {
    const write = this.#writes.get(key)
    if (write === undefined) return 0
    const leftMs = write.at + timeoutMs - this.#stopwatch()
    if (leftMs > 0 && !reaches(resourceVersion, write.resourceVersion)) return leftMs
    this.#writes.delete(key)
    return 0
  }
}
