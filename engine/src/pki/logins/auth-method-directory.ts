// Which auth method an address means. Logins come often and methods change seldom, so they are kept for as long as the
// generation of mounts stands still (architecture 0.23).
import type { Arrival } from "../../core/generations.ts"
import type { Storage } from "../../core/storage.ts"
import { noMount, resolvePath } from "../mount-directory.ts"
import { mountPathOf } from "../mount.ts"
import type { MountStore } from "../mount-store.ts"
import type { AuthMethod } from "./auth-method.ts"
import type { AuthMethodStore } from "./auth-method-store.ts"

interface UsedStores {
  readonly mounts: Pick<MountStore, "generation">
  readonly authMethods: AuthMethodStore
}

/** One generation of methods. */
export class AuthMethodTable {
  readonly generation: number
  /** By path. */
  readonly methods: readonly AuthMethod[]
  readonly #byPath: ReadonlyMap<string, AuthMethod>

  constructor(generation: number, methods: readonly AuthMethod[]) {
    this.generation = generation
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
  readonly #storage: Storage<UsedStores>
  readonly #generations: Pick<Arrival, "mounts">
  #known: AuthMethodTable | undefined

  constructor(storage: Storage<UsedStores>, generations: Pick<Arrival, "mounts">) {
    this.#storage = storage
    this.#generations = generations
  }

  /** With an arrival: as they stood when that request came, or later. */
  async current(arrival = this.#generations): Promise<AuthMethodTable> {
    const known = this.#known
    if (known !== undefined && known.generation === (await arrival.mounts())) return known
    const table = await this.#storage.read((stores) => this.within(stores))
    if (this.#known === undefined || this.#known.generation <= table.generation) this.#known = table
    return table
  }

  /** In the same unit of work as what is done with the method; of a transaction the generation may never come about. */
  async within({ mounts, authMethods }: UsedStores): Promise<AuthMethodTable> {
    const generation = await mounts.generation()
    if (this.#known?.generation === generation) return this.#known
    return new AuthMethodTable(generation, await authMethods.list())
  }
}
