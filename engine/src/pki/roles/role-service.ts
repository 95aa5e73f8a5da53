import { notFound, rejectFaults, unprocessable } from "../../core/errors.ts"
import { type MountSnapshot, findIssuer } from "../mounts/mount-snapshot.ts"
import { type KeyPage, pageOfKeys } from "../mounts/key-page.ts"
import { authorizeOnMount, type MountAccess } from "../pki-context.ts"
import { changeMount, currentSnapshot } from "../mounts/with-mount-snapshot.ts"
import { afterNoStoreRole, saveChanged } from "../ocsp/unknown-serials.ts"
import type { MountSettingsRepository } from "../mounts/mount-settings.ts"
import {
  changeRole,
  createRole,
  type Role,
  type RoleInput,
  roleNameFaults,
  type Roles,
  roleWarnings,
  type SavedRole,
} from "./role.ts"

export class RoleService implements Roles {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async list(page?: KeyPage): Promise<readonly string[]> {
    authorizeOnMount(this.#access, "list", "roles")
    const { roles } = await currentSnapshot(this.#access)
    return pageOfKeys([...roles.keys()], (name) => name, page)
  }

  async get(name: string): Promise<Role> {
    authorizeOnMount(this.#access, "read", `roles/${name}`)
    return roleOf(await currentSnapshot(this.#access), name)
  }

  async save(name: string, input: RoleInput): Promise<SavedRole> {
    authorizeOnMount(this.#access, ["create", "update"], `roles/${name}`)
    return changeMount(this.#access, async (snapshot, { roles, mountSettings }) => {
      authorizeOnMount(this.#access, snapshot.roles.has(name) ? "update" : ["create", "update"], `roles/${name}`)
      rejectFaults(roleNameFaults(name))
      const role = createRole(input)
      await roles.save(snapshot.mount.id, { name, role })
      return withWarnings(saved(snapshot, role, input), await noStoreWarnings(snapshot, role, mountSettings))
    })
  }

  async update(name: string, patch: RoleInput): Promise<SavedRole> {
    authorizeOnMount(this.#access, "patch", `roles/${name}`)
    return changeMount(this.#access, async (snapshot, { roles, mountSettings }) => {
      const before = snapshot.roles.get(name)
      if (before === undefined) throw unprocessable("Unable to fetch role entry to patch")
      const role = changeRole(before, patch)
      await roles.save(snapshot.mount.id, { name, role })
      return withWarnings(saved(snapshot, role, patch), await noStoreWarnings(snapshot, role, mountSettings))
    })
  }

  async delete(name: string): Promise<void> {
    authorizeOnMount(this.#access, "delete", `roles/${name}`)
    return changeMount(this.#access, ({ mount }, { roles }) => roles.remove(mount.id, name))
  }
}

/** Returns the saved role with its warnings. `issuer_ref` is resolved when the role is used, so an unknown issuer is only a warning. */
function saved(snapshot: MountSnapshot, role: Role, input: RoleInput): SavedRole {
  const { issuerRef } = role
  const unresolved = issuerRef !== "default" && findIssuer(snapshot, issuerRef) === undefined
  const warning = `"issuer_ref" ${issuerRef} does not name an issuer of this mount yet`
  return { role, warnings: [...roleWarnings(role, input), ...(unresolved ? [warning] : [])] }
}

/** Changes the OCSP settings for the first role with `no_store`, and returns warnings. */
const noStoreWarnings = async (
  snapshot: MountSnapshot,
  { noStore }: Role,
  mountSettings: MountSettingsRepository,
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
