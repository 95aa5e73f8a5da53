import { authorizePath } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { EngineError } from "../../core/errors.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import type { MountRepository } from "../../pki/mounts/mount.ts"
import { type AuthMethod, type AuthMethodRepository, userLockoutOf } from "../logins/auth-method.ts"
import type { AuthMethodDirectory } from "../logins/auth-method-directory.ts"
import { isLocked, noFailedLogins } from "../logins/user-lockout.ts"
import type { LockedUserQuery, LockedUsers, LockedUsersOfMethod } from "./userpass-api.ts"
import type { UserpassRepository } from "./userpass-repository.ts"
import { userNameOf } from "./userpass-user.ts"

interface UsedRepositories {
  readonly authMethods: AuthMethodRepository
  readonly mounts: MountRepository
  readonly userpassUsers: UserpassRepository
}

/** Maximum number of users of one method that are read. */
const maxUsers = 10_000

export class LockedUserService implements LockedUsers {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #directory: AuthMethodDirectory
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, directory: AuthMethodDirectory, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#directory = directory
    this.#caller = caller
  }

  async list({ mountAccessor = "" }: LockedUserQuery = {}): Promise<readonly LockedUsersOfMethod[]> {
    authorizePath(this.#caller, { path: "sys/locked-users", capability: "read" })
    const found = await this.#storage.read(async (repositories) => {
      const { methods } = await this.#directory.within(repositories)
      const asked = mountAccessor === "" ? methods : [methodOf(methods, mountAccessor)]
      const lists: LockedUsersOfMethod[] = []
      for (const method of asked)
        if (method.type === "userpass")
          lists.push({ mountAccessor: method.accessor, names: await this.#lockedIn(repositories, method) })
      return lists
    })
    return found.filter(({ names }) => names.length > 0).toSorted((one, other) => other.names.length - one.names.length)
  }

  async unlock(mountAccessor: string, name: string): Promise<void> {
    const known = userNameOf(name)
    authorizePath(this.#caller, { path: `sys/locked-users/${mountAccessor}/unlock/${known}`, capability: "update" })
    // One row is written. A concurrent failure of the user is retried, and counts as the first one.
    await this.#storage.transact(async (repositories) => {
      const { methods } = await this.#directory.within(repositories)
      const { id } = methodOf(methods, mountAccessor)
      await repositories.userpassUsers.saveFailedLogins(id, known, noFailedLogins)
    }, repeatableRead)
  }

  async #lockedIn({ userpassUsers }: UsedRepositories, method: AuthMethod): Promise<readonly string[]> {
    const [lockout, now] = [userLockoutOf(method), this.#runtime.clock.now()]
    const users = await userpassUsers.withFailedLogins(method.id, maxUsers)
    return users.filter(({ failedLogins }) => isLocked(failedLogins, lockout, now)).map(({ name }) => name)
  }
}

function methodOf(methods: readonly AuthMethod[], accessor: string): AuthMethod {
  const found = methods.find((method) => method.accessor === accessor)
  if (found === undefined) throw new EngineError("not-found", `no auth method has the accessor "${accessor}"`)
  return found
}
