import { allowsPath, authorizePath, permissionDenied } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { conflict, rejectFaults, unprocessable } from "../../core/errors.ts"
import { newId, newUuid } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import type { IdentityRepository } from "../../organizations/authentication.ts"
import {
  initialMountTraits,
  mountInTheWay,
  mountOptionsAfter,
  mountPathOf,
  type MountRepository,
} from "../../pki/mounts/mount.ts"
import {
  type AuthMethod,
  type AuthMethodConfig,
  authMethodFaults,
  type AuthMethodInput,
  type AuthMethodPatch,
  authMethodPathFaults,
  type AuthMethodRepository,
  initialAuthMethodConfig,
} from "./auth-method.ts"
import type { AuthMethodDirectory } from "./auth-method-directory.ts"
import { type AuthMethods, type AuthMethodView, tokenMethod } from "./auth-method-api.ts"

interface UsedRepositories {
  readonly authMethods: AuthMethodRepository
  readonly identity: IdentityRepository
  readonly mounts: MountRepository
}

const writing = ["create", "update"] as const
/** All methods are cached in memory and listed at once. */
const maxMethods = 1_000

export class AuthMethodService implements AuthMethods {
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

  async enable({
    path: text,
    type,
    description = "",
    config,
    traits,
    options = {},
  }: AuthMethodInput): Promise<AuthMethodView> {
    const path = mountPathOf(text)
    authorizePath(this.#caller, { path: `sys/auth/${path}`, capability: writing, sudo: true })
    const { random, clock } = this.#runtime
    const method: AuthMethod = {
      id: newId("auth", random),
      path,
      type,
      description,
      config: { ...initialAuthMethodConfig, ...config },
      traits: { ...initialMountTraits, ...traits },
      options: mountOptionsAfter({}, options),
      accessor: `auth_${type}_${Buffer.from(random.bytes(4)).toString("hex")}`,
      uuid: newUuid(random),
      createdAt: clock.now(),
    }
    rejectFaults([...authMethodPathFaults(path), ...authMethodFaults(method)])
    return this.#storage.transact(async ({ authMethods }) => {
      const others = await authMethods.list()
      if (others.length >= maxMethods) throw unprocessable(`the maximum of ${maxMethods} auth methods is reached`)
      const taken = mountInTheWay(path, others)
      if (taken !== undefined) throw conflict(`path is already in use at ${taken.path}/`)
      await authMethods.insert(method)
      return authMethodViewOf(method)
    })
  }

  async list(): Promise<readonly AuthMethodView[]> {
    authorizePath(this.#caller, { path: "sys/auth", capability: "read" })
    const methods = await this.#storage.read(({ authMethods }) => authMethods.list())
    return [...methods.map(authMethodViewOf), tokenMethod].toSorted((one, other) => (one.path < other.path ? -1 : 1))
  }

  async get(text: string): Promise<AuthMethodView> {
    const path = mountPathOf(text)
    // The right to read the tuned settings is enough, because they contain all of the method.
    const sudo = { capability: "read", sudo: true } as const
    const mayRead =
      allowsPath(this.#caller, { path: `sys/auth/${path}`, ...sudo }) ||
      allowsPath(this.#caller, { path: `sys/auth/${path}/tune`, ...sudo }) ||
      ["", "/tune"].some((end) =>
        allowsPath(this.#caller, { path: `sys/mounts/auth/${path}${end}`, capability: "read" }),
      )
    if (!mayRead) throw permissionDenied()
    return path === tokenMethod.path ? tokenMethod : authMethodViewOf((await this.#directory.current()).at(path))
  }

  async tune(text: string, { description, config, options = {} }: AuthMethodPatch): Promise<AuthMethodView> {
    const path = mountPathOf(text)
    // Vault clients use either path. As in Vault, the second one does not require `sudo`.
    if (!allowsPath(this.#caller, { path: `sys/auth/${path}/tune`, capability: writing, sudo: true }))
      authorizePath(this.#caller, { path: `sys/mounts/auth/${path}/tune`, capability: writing })
    rejectTokenMethod(path, "tuned")
    return this.#storage.transact(async (repositories) => {
      const before = (await this.#directory.within(repositories)).at(path)
      const after: AuthMethod = {
        ...before,
        description: description ?? before.description,
        config: configAfter(before.config, config),
        options: mountOptionsAfter(before.options, options),
      }
      rejectFaults(authMethodFaults(after))
      await repositories.authMethods.save(after)
      return authMethodViewOf(after)
    })
  }

  async disable(text: string): Promise<void> {
    const path = mountPathOf(text)
    authorizePath(this.#caller, { path: `sys/auth/${path}`, capability: "delete", sudo: true })
    rejectTokenMethod(path, "disabled")
    await this.#storage.transact(async (repositories) => {
      const { id } = (await this.#directory.within(repositories)).at(path)
      await repositories.authMethods.remove(id)
      await repositories.identity.bumpCacheVersion()
    })
  }
}

/** Returns the changed configuration. Members of the lockout are changed one by one. */
function configAfter(before: AuthMethodConfig, change: Partial<AuthMethodConfig> = {}): AuthMethodConfig {
  const config = { ...before, ...change }
  return change.userLockout === undefined
    ? config
    : { ...config, userLockout: { ...before.userLockout, ...change.userLockout } }
}

function rejectTokenMethod(path: string, done: string): void {
  if (path === tokenMethod.path) throw unprocessable(`the auth method "${path}" is built in and cannot be ${done}`)
}

export const authMethodViewOf = ({ id: _id, createdAt: _createdAt, ...view }: AuthMethod): AuthMethodView => view
