import { authorizePath, type Capability } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { EngineError } from "../../core/errors.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Signer } from "../../core/signing.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import type { MountRepository } from "../../pki/mounts/mount.ts"
import { type AppRole, appRoleNameOf } from "./app-role.ts"
import type { AppRoleRepository, SecretIdKey, SecretIdOwner, SecretIdRepository } from "./app-role-repository.ts"
import type { SecretIdRef } from "./app-role-api.ts"
import type { AuthMethod } from "../logins/auth-method.ts"
import { type AuthMethodDirectory, noAuthMethod } from "../logins/auth-method-directory.ts"
import type { LoginRepositories } from "../logins/login.ts"
import type { LoginMetrics } from "../logins/login-metrics.ts"

export interface AppRoleRepositories extends LoginRepositories {
  readonly appRoles: AppRoleRepository
  readonly mounts: MountRepository
  readonly secretIds: SecretIdRepository
}

export interface AppRoleContext {
  readonly storage: Storage<AppRoleRepositories>
  readonly runtime: Runtime
  readonly authMethodDirectory: AuthMethodDirectory
  readonly loginMetrics: LoginMetrics
  readonly signer: Signer
  readonly wakeJob: (name: string) => void
}

/** Authorization and lookup for all operations of one auth method. */
export class AppRoleAccess {
  readonly context: AppRoleContext
  readonly #path: string
  readonly #caller: Caller

  constructor(context: AppRoleContext, path: string, caller: Caller) {
    this.context = context
    this.#path = path
    this.#caller = caller
  }

  authorize(capability: Capability | readonly Capability[], path: string): void {
    authorizePath(this.#caller, { mount: `auth/${this.#path}`, path, capability })
  }

  /** Authorizes by the name in lower case, by which roles are found. No spelling of a name circumvents a policy. */
  authorizeRole(capability: Capability | readonly Capability[], name: string, below?: string): void {
    this.authorize(capability, ["role", appRoleNameOf(name), ...(below === undefined ? [] : [below])].join("/"))
  }

  read<T>(work: (repositories: AppRoleRepositories, method: AuthMethod) => Promise<T>): Promise<T> {
    return this.context.storage.read(async (repositories) => work(repositories, await this.#method(repositories)))
  }

  /**
   * Runs a transaction at repeatable read. Each writes the row of one role or of one secret id, or inserts one token. Foreign keys delete
   * secret ids with their role, and tokens with their auth method. Uses of a secret id are counted in its row.
   */
  write<T>(work: (repositories: AppRoleRepositories, method: AuthMethod) => Promise<T>): Promise<T> {
    return this.context.storage.transact(
      async (repositories) => work(repositories, await this.#method(repositories)),
      repeatableRead,
    )
  }

  async #method(repositories: AppRoleRepositories): Promise<AuthMethod> {
    const method = (await this.context.authMethodDirectory.within(repositories)).at(this.#path)
    if (method.type !== "approle") throw noAuthMethod(this.#path)
    return method
  }

  keyOf(owner: SecretIdOwner, ref: SecretIdRef): SecretIdKey {
    return "accessor" in ref ? ref : { digest: this.digestOf(owner, ref.secretId) }
  }

  /** Returns the digest, keyed with a secret of the site: a secret id that a client has chosen may be guessable. */
  digestOf({ methodId, name }: SecretIdOwner, secretId: string): string {
    return this.context.signer.sign(`secret-id/${methodId}/${name}/${secretId}`)
  }
}

/** Returns the role. Throws `not-found`. */
export async function roleIn({ appRoles }: AppRoleRepositories, { id }: AuthMethod, name: string): Promise<AppRole> {
  const role = await appRoles.find(id, appRoleNameOf(name))
  if (role === undefined) throw new EngineError("not-found", `role "${name}" does not exist`)
  return role
}
