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

/** One version of methods. */
export class AuthMethodTable {
  readonly version: number
  /** By path. */
  readonly methods: readonly AuthMethod[]
  readonly #byPath: ReadonlyMap<string, AuthMethod>

  constructor(version: number, methods: readonly AuthMethod[]) {
    this.version = version
    this.methods = methods
    this.#byPath = new Map(methods.map((method) => [method.path, method]))
  }

  /** Throws `not-found`. */
  at(path: string): AuthMethod {
    const method = this.#byPath.get(mountPathOf(path))
    if (method === undefined) throw noAuthMethod(path)
    return method
  }

  /** The method that an address below `auth/` lies in, and how many of its segments lead there. */
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

  /** With a snapshot: as they stood when that request came, or later. */
  async current(requestSnapshot = this.#cacheVersions): Promise<AuthMethodTable> {
    const known = await this.#tables.current("methods", () => requestSnapshot.mounts())
    if (known !== undefined) return known
    const table = await this.#storage.read((stores) => this.within(stores))
    this.#tables.keep("methods", table)
    return table
  }

  /** In the same unit of work as what is done with the method; of a transaction the version may never come about. */
  async within({ mounts, authMethods }: UsedRepositories): Promise<AuthMethodTable> {
    const version = await mounts.cacheVersion()
    return this.#tables.at("methods", version) ?? new AuthMethodTable(version, await authMethods.list())
  }
}
