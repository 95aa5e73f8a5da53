// Which mount an address means. Every request asks, so the mounts are kept for as long as their generation stands still
// (architecture 0.23).
import { EngineError } from "../core/errors.ts"
import type { Arrival } from "../core/generations.ts"
import type { Storage } from "../core/storage.ts"
import { type Mount, mountPathOf, mountSegmentsMaximum } from "./mount.ts"
import type { MountStore } from "./mount-store.ts"

interface UsedStores {
  readonly mounts: MountStore
}

/** One generation of mounts. */
export class MountTable {
  readonly generation: number
  /** By path. */
  readonly mounts: readonly Mount[]
  readonly #byPath: ReadonlyMap<string, Mount>

  constructor(generation: number, mounts: readonly Mount[]) {
    this.generation = generation
    this.mounts = mounts
    this.#byPath = new Map(mounts.map((mount) => [mount.path, mount]))
  }

  find(path: string): Mount | undefined {
    return this.#byPath.get(mountPathOf(path))
  }

  /** Throws `not-found`. */
  at(path: string): Mount {
    const mount = this.find(path)
    if (mount === undefined) throw noMount(path)
    return mount
  }

  /** The mount that an address lies in, and how many of its segments lead there. */
  resolve(segments: readonly string[]): { readonly mount: Mount; readonly depth: number } | undefined {
    const found = resolvePath(this.#byPath, segments)
    return found && { mount: found.value, depth: found.depth }
  }
}

/** What stands at the beginning of an address, and how many of its segments lead there. */
export function resolvePath<T>(
  byPath: ReadonlyMap<string, T>,
  segments: readonly string[],
): { readonly value: T; readonly depth: number } | undefined {
  let path = ""
  for (let index = 0; index < segments.length && index < mountSegmentsMaximum; index += 1) {
    path = index === 0 ? (segments[0] ?? "") : `${path}/${segments[index]}`
    const value = byPath.get(path)
    if (value !== undefined) return { value, depth: index + 1 }
  }
  return undefined
}

/** As existing clients know it (pki-facts 0.2). */
export const noMount = (path: string): EngineError =>
  new EngineError("not-found", `no handler for route "${path}". route entry not found.`)

export class MountDirectory {
  readonly #storage: Storage<UsedStores>
  readonly #generations: Pick<Arrival, "mounts">
  #known: MountTable | undefined

  constructor(storage: Storage<UsedStores>, generations: Pick<Arrival, "mounts">) {
    this.#storage = storage
    this.#generations = generations
  }

  /** With an arrival: as they stood when that request came, or later. */
  async current(arrival = this.#generations): Promise<MountTable> {
    const known = this.#known
    if (known !== undefined && known.generation === (await arrival.mounts())) return known
    const table = await this.#storage.read((stores) => this.within(stores))
    this.keep(table)
    return table
  }

  /** As they were when somebody looked last, for whoever finds out otherwise whether they still are. */
  get held(): MountTable | undefined {
    return this.#known
  }

  /**
   * To be called with what a snapshot showed, once its read is over: before, it may be a commit that is not on disk yet, and
   * whoever finds it here tells it at once.
   */
  keep(table: MountTable): void {
    if (this.#known === undefined || this.#known.generation <= table.generation) this.#known = table
  }

  /** In the same unit of work as what is done with the mount; of a transaction the generation may never come about. */
  async within({ mounts }: UsedStores): Promise<MountTable> {
    const generation = await mounts.generation()
    if (this.#known?.generation === generation) return this.#known
    return new MountTable(generation, await mounts.list())
  }
}
