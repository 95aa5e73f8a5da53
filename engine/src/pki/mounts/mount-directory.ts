// Finds the mount of a path. Every request needs it, so mounts are cached under their version (docs/decisions/cache-versions.md).
import { EngineError } from "../../core/errors.ts"
import type { RequestSnapshot } from "../../core/cache-versions.ts"
import type { Storage } from "../../core/storage.ts"
import { VersionedCache } from "../../core/versioned-cache.ts"
import { type Mount, mountPathOf, type MountRepository, maxMountSegments } from "./mount.ts"

interface UsedRepositories {
  readonly mounts: MountRepository
}

/** All mounts at one version. */
export class MountTable {
  readonly version: number
  /** Ordered by path. */
  readonly mounts: readonly Mount[]
  readonly #byPath: ReadonlyMap<string, Mount>

  constructor(version: number, mounts: readonly Mount[]) {
    this.version = version
    this.mounts = mounts
    this.#byPath = new Map(mounts.map((mount) => [mount.path, mount]))
  }

  find(path: string): Mount | undefined {
    return this.#byPath.get(mountPathOf(path))
  }

  /** Throws `not-found` if the path has no mount. */
  at(path: string): Mount {
    const mount = this.find(path)
    if (mount === undefined) throw noMount(path)
    return mount
  }

  /** Returns the mount that the address is in, and the number of segments of the mount's path. */
  resolve(segments: readonly string[]): { readonly mount: Mount; readonly depth: number } | undefined {
    const found = resolvePath(this.#byPath, segments)
    return found && { mount: found.value, depth: found.depth }
  }
}

/** Returns the value whose path the address begins with, and the number of segments of that path. */
export function resolvePath<T>(
  byPath: ReadonlyMap<string, T>,
  segments: readonly string[],
): { readonly value: T; readonly depth: number } | undefined {
  let path = ""
  for (let index = 0; index < segments.length && index < maxMountSegments; index += 1) {
    path = index === 0 ? (segments[0] ?? "") : `${path}/${segments[index]}`
    const value = byPath.get(path)
    if (value !== undefined) return { value, depth: index + 1 }
  }
  return undefined
}

/** Returns the error of an address without a mount. The text is Vault's (docs/compatibility.md, "Matched texts"). */
export const noMount = (path: string): EngineError =>
  new EngineError("not-found", `no handler for route "${path}". route entry not found.`)

export class MountDirectory {
  readonly #storage: Storage<UsedRepositories>
  readonly #cacheVersions: Pick<RequestSnapshot, "mounts">
  readonly #tables = new VersionedCache<"mounts", MountTable>(1)

  constructor(storage: Storage<UsedRepositories>, cacheVersions: Pick<RequestSnapshot, "mounts">) {
    this.#storage = storage
    this.#cacheVersions = cacheVersions
  }

  /** Returns the mounts as of the request that the snapshot belongs to, or later. */
  async current(requestSnapshot = this.#cacheVersions): Promise<MountTable> {
    const known = await this.#tables.current("mounts", () => requestSnapshot.mounts())
    if (known !== undefined) return known
    const table = await this.#storage.read((repositories) => this.within(repositories))
    this.keep(table)
    return table
  }

  /** Cached mounts, which may be outdated: the caller checks their version itself. */
  get cached(): MountTable | undefined {
    return this.#tables.peek("mounts")
  }

  /** Caches mounts. Call it when the read that returned them has ended (see `VersionedCache`). */
  keep(table: MountTable): void {
    this.#tables.keep("mounts", table)
  }

  /**
   * Reads the mounts in the unit of work that uses one of them. They are not cached, because a transaction may roll back their
   * version.
   */
  async within({ mounts }: UsedRepositories): Promise<MountTable> {
    const version = await mounts.cacheVersion()
    return this.#tables.at("mounts", version) ?? new MountTable(version, await mounts.list())
  }
}
