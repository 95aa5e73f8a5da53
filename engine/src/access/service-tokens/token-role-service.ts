import { authorizePath } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { EngineError, rejectFaults } from "../../core/errors.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import { type KeyPage, maxListedKeys, limitOf } from "../../pki/mounts/key-page.ts"
import { initialTokenRole, type TokenRole, tokenRoleFaults, type TokenRoleRepository } from "./token-role.ts"

interface UsedRepositories {
  readonly tokenRoles: TokenRoleRepository
}

const listPath = "auth/token/roles"
const pathOf = (name: string) => `${listPath}/${name}`

export class TokenRoleService implements TokenRoles {
  readonly #storage: Storage<UsedRepositories>
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, caller: Caller) {
    this.#storage = storage
    this.#caller = caller
  }

  async list(page: KeyPage = {}): Promise<readonly string[]> {
    authorizePath(this.#caller, { path: listPath, capability: "list" })
    const { after = "" } = page
    return this.#storage.read(({ tokenRoles }) => tokenRoles.names({ after, limit: limitOf(page, maxListedKeys) }))
  }

  async get(name: string): Promise<TokenRole> {
    authorizePath(this.#caller, { path: pathOf(name), capability: "read" })
    return this.#storage.read((repositories) => existingTokenRole(repositories, name))
  }

  async save(name: string, input: Partial<TokenRole>): Promise<TokenRole> {
    const path = pathOf(name)
    authorizePath(this.#caller, { path, capability: ["create", "update"] })
    // Only the row of the role is written, and the decision depends on nothing else.
    return this.#storage.transact(async ({ tokenRoles }) => {
      const before = await tokenRoles.find(name)
      if (before !== undefined) authorizePath(this.#caller, { path, capability: "update" })
      const role = { ...(before ?? initialTokenRole), ...input }
      rejectFaults(tokenRoleFaults({ name, role }))
      await tokenRoles.save({ name, role })
      return role
    }, repeatableRead)
  }

  async delete(name: string): Promise<void> {
    authorizePath(this.#caller, { path: pathOf(name), capability: "delete" })
    await this.#storage.transact(({ tokenRoles }) => tokenRoles.remove(name))
  }
}

/** Returns the role. Throws `not-found`. */
export async function existingTokenRole({ tokenRoles }: UsedRepositories, name: string): Promise<TokenRole> {
  const role = await tokenRoles.find(name)
  if (role === undefined) throw new EngineError("not-found", `token role "${name}" does not exist`)
  return role
}

/**
 * Token roles, by name. A caller that may create at `auth/token/create/<role>` may grant all policies that the role allows, even if it does
 * not hold them. It may grant `root` only if it holds it.
 */
export interface TokenRoles {
  /** Returns the names in order. */
  list(page?: KeyPage): Promise<readonly string[]>
  get(name: string): Promise<TokenRole>
  /** Creates the role or changes the given members. Its existing tokens are renewed on the changed terms. */
  save(name: string, input: Partial<TokenRole>): Promise<TokenRole>
  /** Deletes the role, whose tokens can no longer be renewed. Does nothing if the role does not exist. */
  delete(name: string): Promise<void>
}
