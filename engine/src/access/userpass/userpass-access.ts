import { authorizePath, type Capability } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { EngineError } from "../../core/errors.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import { mountPathOf, type MountRepository } from "../../pki/mounts/mount.ts"
import type { AuthMethod } from "../logins/auth-method.ts"
import type { AuthMethodDirectory } from "../logins/auth-method-directory.ts"
import type { FailedLoginLimit } from "../logins/failed-login-limit.ts"
import type { LoginRepositories } from "../logins/login.ts"
import type { LoginMetrics } from "../logins/login-metrics.ts"
import type { PasswordHasher } from "./password-hasher.ts"
import { userNameOf } from "./userpass-user.ts"
import type { StoredUser, UserpassRepository } from "./userpass-repository.ts"

export interface UserpassRepositories extends LoginRepositories {
  readonly mounts: MountRepository
  readonly userpassUsers: UserpassRepository
}

export interface UserpassContext {
  readonly storage: Storage<UserpassRepositories>
  readonly runtime: Runtime
  readonly authMethodDirectory: AuthMethodDirectory
  readonly passwordHasher: PasswordHasher
  readonly failedLoginLimit: FailedLoginLimit
  readonly loginMetrics: LoginMetrics
}

/** Lookup and transactions for all operations of one auth method. */
export class UserpassAccess {
  readonly context: UserpassContext
  readonly #path: string

  constructor(context: UserpassContext, path: string) {
    this.context = context
    this.#path = mountPathOf(path)
  }

  authorize(caller: Caller, capability: Capability | readonly Capability[], path: string): void {
    authorizePath(caller, { mount: `auth/${this.#path}`, path, capability })
  }

  read<T>(work: (repositories: UserpassRepositories, method: AuthMethod) => Promise<T>): Promise<T> {
    return this.context.storage.read(async (repositories) => work(repositories, await this.#method(repositories)))
  }

  /**
   * Runs a transaction at repeatable read. Each writes the row of one user, or inserts one token. Failures of a user are counted in the
   * user's row, so that of two transactions that count, one is retried. Foreign keys delete users and tokens with their auth method.
   */
  write<T>(work: (repositories: UserpassRepositories, method: AuthMethod) => Promise<T>): Promise<T> {
    return this.context.storage.transact(
      async (repositories) => work(repositories, await this.#method(repositories)),
      repeatableRead,
    )
  }

  async #method(repositories: UserpassRepositories): Promise<AuthMethod> {
    const method = (await this.context.authMethodDirectory.within(repositories)).at(this.#path)
    // The same error as for an unknown path: methods of other types have no such endpoints.
    if (method.type !== "userpass") throw new EngineError("not-found", "unsupported path")
    return method
  }
}

/** Returns the user. Throws `not-found`. */
export async function userIn(
  { userpassUsers }: UserpassRepositories,
  { id }: AuthMethod,
  name: string,
): Promise<StoredUser> {
  const found = await userpassUsers.find(id, userNameOf(name))
  if (found === undefined) throw new EngineError("not-found", `user "${name}" does not exist`)
  return found
}
