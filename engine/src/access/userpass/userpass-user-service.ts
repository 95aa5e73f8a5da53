import type { Capability } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { rejectFaults } from "../../core/errors.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import { saltBytes } from "./password-hash.ts"
import { type UserpassAccess, userIn } from "./userpass-access.ts"
import type { UserpassUsers } from "./userpass-api.ts"
import {
  changeUserpassUser,
  newPasswordFaults,
  userNameOf,
  type UserpassPassword,
  type UserpassUser,
  type UserpassUserInput,
} from "./userpass-user.ts"

export class UserpassUserService implements UserpassUsers {
  readonly #access: UserpassAccess
  readonly #caller: Caller

  constructor(access: UserpassAccess, caller: Caller) {
    this.#access = access
    this.#caller = caller
  }

  async list(page: KeyPage = {}): Promise<readonly string[]> {
    this.#access.authorize(this.#caller, "list", "users")
    return this.#access.read(({ userpassUsers }, { id }) => userpassUsers.names(id, page))
  }

  async get(name: string): Promise<UserpassUser> {
    this.#authorize("read", name)
    return (await this.#access.read((repositories, method) => userIn(repositories, method, name))).user
  }

  async save(name: string, input: UserpassUserInput): Promise<void> {
    this.#authorize(["create", "update"], name)
    const known = userNameOf(name)
    // All faults are found before the password is hashed, which takes long and must not be done within a transaction.
    const existing = await this.#access.read(({ userpassUsers }, { id }) => userpassUsers.find(id, known))
    if (existing !== undefined) this.#authorize("update", name)
    changeUserpassUser(name, existing?.user, input)
    const newHash = await this.#hashOf(input)
    await this.#access.write(async ({ userpassUsers }, { id }) => {
      const before = await userpassUsers.find(id, known)
      if (before !== undefined) this.#authorize("update", name)
      const user = changeUserpassUser(name, before?.user, input)
      const passwordHash = newHash ?? before?.passwordHash
      // The rules have rejected a new user without a password.
      if (passwordHash !== undefined) await userpassUsers.save(id, { name: known, user, passwordHash })
    })
  }

  async delete(name: string): Promise<void> {
    this.#authorize("delete", name)
    await this.#access.write(({ userpassUsers }, { id }) => userpassUsers.remove(id, userNameOf(name)))
  }

  async changePassword(name: string, { faults = [], ...password }: UserpassPassword): Promise<void> {
    this.#authorize("update", name, "password")
    await this.#access.read((repositories, method) => userIn(repositories, method, name))
    rejectFaults(faults.length > 0 ? faults : newPasswordFaults(password, true))
    const passwordHash = await this.#hashOf(password)
    await this.#access.write(async (repositories, method) => {
      const before = await userIn(repositories, method, name)
      await repositories.userpassUsers.save(method.id, { ...before, passwordHash: passwordHash ?? before.passwordHash })
    })
  }

  async changePolicies(name: string, policies: readonly string[]): Promise<void> {
    this.#authorize("update", name, "policies")
    await this.#access.write(async (repositories, method) => {
      const before = await userIn(repositories, method, name)
      const user = changeUserpassUser(name, before.user, { policies })
      await repositories.userpassUsers.save(method.id, { ...before, user })
    })
  }

  /** Returns the stored form of a new password; undefined if there is none. */
  async #hashOf({ password, passwordHash }: UserpassPassword): Promise<string | undefined> {
    const { passwordHasher, runtime } = this.#access.context
    return password === undefined ? passwordHash : passwordHasher.hash(password, runtime.random.bytes(saltBytes))
  }

  /** Authorizes by the name in lower case, by which users are found. */
  #authorize(capability: Capability | readonly Capability[], name: string, below?: string): void {
    const path = ["users", userNameOf(name), ...(below === undefined ? [] : [below])].join("/")
    this.#access.authorize(this.#caller, capability, path)
  }
}
