// Finds the auth method of a path. Methods are cached under the version of mounts (docs/decisions/cache-versions.md).
import type { RequestSnapshot } from "../../core/cache-versions.ts"
import type { Storage } from "../../core/storage.ts"
import { VersionedCache } from "../../core/versioned-cache.ts"
import { noMount, resolvePath } from "../../pki/mounts/mount-directory.ts"
import { mountPathOf, type MountRepository } from "../../pki/mounts/mount.ts"
import type { AuthMethod, AuthMethodRepository } from "./auth-method.ts"

interface UsedRepositories {
  readonly mounts: Pick<MountRepository, "cacheVersion">
  readonly authMethods: AuthMethodRepository
}

/** Auth methods at one version. */
export class AuthMethodTable {
  readonly version: number
  /** Sorted by path. */
  readonly methods: readonly AuthMethod[]
  readonly #byPath: ReadonlyMap<string, AuthMethod>

  constructor(version: number, methods: readonly AuthMethod[]) {
    this.version = version
    this.methods = methods
    this.#byPath = new Map(methods.map((method) => [method.path, method]))
  }

  /** Returns the method at a path. Throws `not-found`. */
  at(path: string): AuthMethod {
    const method = this.#byPath.get(mountPathOf(path))
    if (method === undefined) throw noAuthMethod(path)
    return method
  }

  /** Returns the method of a path below `auth/`, and the number of segments that the path of the method has. */
  resolve(segments: readonly string[]): { readonly method: AuthMethod; readonly depth: number } | undefined {
    const found = resolvePath(this.#byPath, segments)
    return found && { method: found.value, depth: found.depth }
  }
}

export const noAuthMethod = (path: string) => noMount(`auth/${path}`)

export class AuthMethodDirectory {
  readonly #storage: Storage<UsedRepositories>
  readonly #cacheVersions: Pick<RequestSnapshot, "mounts">
  readonly #tables = new VersionedCache<"methods", AuthMethodTable>(1)

  constructor(storage: Storage<UsedRepositories>, cacheVersions: Pick<RequestSnapshot, "mounts">) {
    this.#storage = storage
    this.#cacheVersions = cacheVersions
  }

  /** Returns the methods as they were when the request of the snapshot arrived, or later. */
  async current(requestSnapshot = this.#cacheVersions): Promise<AuthMethodTable> {
    const known = await this.#tables.current("methods", () => requestSnapshot.mounts())
    if (known !== undefined) return known
    const table = await this.#storage.read((repositories) => this.within(repositories))
    this.#tables.keep("methods", table)
    return table
  }

  /**
   * Returns the methods within the unit of work that uses them. They are not added to the cache, because a transaction's version may be
   * rolled back.
   */
  async within({ mounts, authMethods }: UsedRepositories): Promise<AuthMethodTable> {
    const version = await mounts.cacheVersion()
    return this.#tables.at("methods", version) ?? new AuthMethodTable(version, await authMethods.list())
  }
}
