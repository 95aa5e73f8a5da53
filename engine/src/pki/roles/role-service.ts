import { notFound, refuseFaults, unprocessable } from "../../core/errors.ts"
import { type MountSnapshot, findIssuer } from "../authority.ts"
import { type KeyPage, pageOfKeys } from "../key-page.ts"
import { AuthorityService } from "../authority-service.ts"
import { afterNoStoreRole, saveChanged } from "../ocsp/unknown-serials.ts"
import type { MountSettingsStore } from "../settings/mount-settings.ts"
import { changeRole, createRole, type Role, type RoleInput, roleNameFaults, roleWarnings } from "./role.ts"
import type { Roles, SavedRole } from "./roles.ts"

export class RoleService extends AuthorityService implements Roles {
  async list(page?: KeyPage): Promise<readonly string[]> {
    this.authorize("list", "roles")
    const { roles } = await this.current()
    return pageOfKeys([...roles.keys()], (name) => name, page)
  }

  async get(name: string): Promise<Role> {
    this.authorize("read", `roles/${name}`)
    return roleOf(await this.current(), name)
  }

  async save(name: string, input: RoleInput): Promise<SavedRole> {
    this.authorize(["create", "update"], `roles/${name}`)
    return this.changeMount(async (snapshot, { roles, mountSettings }) => {
      this.authorize(snapshot.roles.has(name) ? "update" : ["create", "update"], `roles/${name}`)
      refuseFaults(roleNameFaults(name))
      const role = createRole(input)
      await roles.save(snapshot.mount.id, { name, role })
      return withWarnings(saved(snapshot, role, input), await noStoreWarnings(snapshot, role, mountSettings))
    })
  }

  async update(name: string, patch: RoleInput): Promise<SavedRole> {
    this.authorize("patch", `roles/${name}`)
    return this.changeMount(async (snapshot, { roles, mountSettings }) => {
      const before = snapshot.roles.get(name)
      if (before === undefined) throw unprocessable("Unable to fetch role entry to patch")
      const role = changeRole(before, patch)
      await roles.save(snapshot.mount.id, { name, role })
      return withWarnings(saved(snapshot, role, patch), await noStoreWarnings(snapshot, role, mountSettings))
    })
  }

  async delete(name: string): Promise<void> {
    this.authorize("delete", `roles/${name}`)
    return this.changeMount(({ mount }, { roles }) => roles.remove(mount.id, name))
  }
}

/** A reference is resolved when the role is used, so one that leads nowhere yet is only worth a warning. */
function saved(snapshot: MountSnapshot, role: Role, asked: RoleInput): SavedRole {
  const { issuerRef } = role
  const unresolved = issuerRef !== "default" && findIssuer(snapshot, issuerRef) === undefined
  const warning = `"issuer_ref" ${issuerRef} does not name an issuer of this mount yet`
  return { role, warnings: [...roleWarnings(role, asked), ...(unresolved ? [warning] : [])] }
}

/** Settings of OCSP follow the first role whose certificates are not recorded. */
const noStoreWarnings = async (
  snapshot: MountSnapshot,
  { noStore }: Role,
  mountSettings: MountSettingsStore,
): Promise<readonly string[]> => (noStore ? saveChanged(snapshot, afterNoStoreRole(snapshot), mountSettings) : [])

const withWarnings = ({ role, warnings }: SavedRole, more: readonly string[]): SavedRole => ({
  role,
  warnings: [...warnings, ...more],
})

function roleOf({ roles }: MountSnapshot, name: string): Role {
  const role = roles.get(name)
  if (role === undefined) throw notFound(name)
  return role
}
