// External account bindings (RFC 8555, section 7.3.4): the holder of a token creates a key, and an ACME client without a token registers
// with it.
import { invalid, notFound, unprocessable } from "../../core/errors.ts"
import { newUuid } from "../../core/ids.ts"
import { dayMs, type Instant } from "../../core/time.ts"
import { authorizeOnMount, type MountAccess } from "../../pki/pki-context.ts"
import { readMount, transactOnMount } from "../../pki/mounts/with-mount-snapshot.ts"
import type { AcmeRepositories } from "../acme-context.ts"
import { type Directory, directoryPath, openDirectory } from "../directory.ts"
import { AcmeProblem } from "../problem.ts"

/** Listed form of a binding. The key is returned only when it is created. */
export interface AccountBindingView {
  readonly id: string
  /** Path below the mount: `roles/web/acme/directory`. */
  readonly acmeDirectory: string
  readonly createdAt: Instant
}

export interface NewAccountBinding extends AccountBindingView {
  readonly key: Uint8Array
}

export interface AccountBindings {
  /** Creates a binding for one account in the directory, which the settings must allow. Without `ttlMs`, or with 0, it does not expire. */
  create(directory: Directory, options?: { readonly ttlMs?: number }): Promise<NewAccountBinding>
  /** Lists unused bindings by id. */
  list(): Promise<readonly AccountBindingView[]>
  delete(id: string): Promise<void>
}

const keyOctets = 32
export const maxBindingTtlMs = 366 * dayMs

export class AccountBindingService implements AccountBindings {
  readonly #access: MountAccess<AcmeRepositories>

  constructor(access: MountAccess<AcmeRepositories>) {
    this.#access = access
  }

  async create(directory: Directory, { ttlMs = 0 }: { readonly ttlMs?: number } = {}): Promise<NewAccountBinding> {
    const path = directoryPath(directory)
    authorizeOnMount(this.#access, ["create", "update"], `${path}/new-eab`)
    if (ttlMs < 0 || ttlMs > maxBindingTtlMs)
      throw invalid([{ field: ["ttlMs"], detail: `"ttl" must be from 0 to ${maxBindingTtlMs / dayMs} days` }])
    const { random, clock } = this.#access.context.runtime
    const [now, id, key] = [clock.now(), newUuid(random), random.bytes(keyOctets)]
    const expiresAt = ttlMs === 0 ? null : now + ttlMs
    await transactOnMount(this.#access, async (snapshot, { acmeAccounts }) => {
      try {
        openDirectory(snapshot, directory)
      } catch (error) {
        if (error instanceof AcmeProblem) throw unprocessable(error.message)
        throw error
      }
      await acmeAccounts.insertBinding({
        id,
        mountId: snapshot.mount.id,
        directory: path,
        key,
        createdAt: now,
        expiresAt,
      })
    })
    return { id, acmeDirectory: `${path}/directory`, createdAt: now, key }
  }

  async list(): Promise<readonly AccountBindingView[]> {
    authorizeOnMount(this.#access, "list", "eab")
    return readMount(this.#access, async ({ mount }, { acmeAccounts }) =>
      (await acmeAccounts.bindings(mount.id, this.#access.context.runtime.clock.now())).map((binding) => ({
        id: binding.id,
        acmeDirectory: `${binding.directory}/directory`,
        createdAt: binding.createdAt,
      })),
    )
  }

  async delete(id: string): Promise<void> {
    authorizeOnMount(this.#access, "delete", `eab/${id}`)
    await transactOnMount(this.#access, async ({ mount }, { acmeAccounts }) => {
      if (!(await acmeAccounts.removeBinding(mount.id, id))) throw notFound(id)
    })
  }
}
