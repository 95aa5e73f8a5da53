import { newUuid } from "../../core/ids.ts"
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import { leaseTtls } from "../../pki/mounts/mount.ts"
import {
  type AppRole,
  type AppRoleInput,
  appRoleNameOf,
  type AppRolePart,
  appRoleWarnings,
  changeAppRole,
  changeAppRolePart,
  createAppRole,
  partOf,
  resetAppRolePart,
} from "./app-role.ts"
import { type AppRoleAccess, roleIn } from "./app-role-access.ts"
import type { AppRoles, AppRoleView } from "./app-role-api.ts"

export class AppRoleService implements AppRoles {
  readonly #access: AppRoleAccess

  constructor(access: AppRoleAccess) {
    this.#access = access
  }

  async list(page: KeyPage = {}): Promise<readonly string[]> {
    this.#access.authorize("list", "role")
    return this.#access.read(({ appRoles }, { id }) => appRoles.names(id, page))
  }

  async get(name: string): Promise<AppRoleView> {
    this.#access.authorizeRole("read", name)
    const { roleId: _, ...role } = await this.#role(name)
    return role
  }

  async save(name: string, input: AppRoleInput): Promise<readonly string[]> {
    this.#access.authorizeRole(["create", "update"], name)
    const known = appRoleNameOf(name)
    const roleId = newUuid(this.#access.context.runtime.random)
    return this.#access.write(async ({ appRoles, policies }, { id, config }) => {
      const before = await appRoles.find(id, known)
      if (before !== undefined) this.#access.authorizeRole("update", name)
      const role = before === undefined ? createAppRole(input, { name: known, roleId }) : changeAppRole(before, input)
      await appRoles.save(id, role)
      return appRoleWarnings(role, { maximumMs: leaseTtls(config).maximumMs, policies: await policies.names() })
    })
  }

  async delete(name: string): Promise<void> {
    this.#access.authorizeRole("delete", name)
    await this.#access.write(({ appRoles }, { id }) => appRoles.remove(id, appRoleNameOf(name)))
  }

  async getPart(name: string, part: AppRolePart): Promise<AppRoleInput> {
    this.#access.authorizeRole("read", name, part)
    return partOf(await this.#role(name), part)
  }

  async changePart(name: string, part: AppRolePart, change: AppRoleInput): Promise<void> {
    this.#access.authorizeRole("update", name, part)
    await this.#change(name, (role) => changeAppRolePart(role, part, change))
  }

  async resetPart(name: string, part: AppRolePart): Promise<void> {
    this.#access.authorizeRole("delete", name, part)
    await this.#change(name, (role) => resetAppRolePart(role, part))
  }

  async getRoleId(name: string): Promise<string> {
    this.#access.authorizeRole("read", name, "role-id")
    return (await this.#role(name)).roleId
  }

  async changeRoleId(name: string, roleId: string): Promise<void> {
    this.#access.authorizeRole("update", name, "role-id")
    await this.#change(name, (role) => changeAppRole(role, { roleId }))
  }

  #role(name: string): Promise<AppRole> {
    return this.#access.read((repositories, method) => roleIn(repositories, method, name))
  }

  async #change(name: string, change: (role: AppRole) => AppRole): Promise<void> {
    await this.#access.write(async (repositories, method) =>
      repositories.appRoles.save(method.id, change(await roleIn(repositories, method, name))),
    )
  }
}
