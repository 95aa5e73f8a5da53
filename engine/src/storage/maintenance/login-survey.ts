// Auth methods, and the settings of mounts that name them, for an inspection of the database. Nothing is written.
import type { AuthMethodType } from "../../access/logins/auth-method.ts"
import { defaultEstSettings, type EstSettings } from "../../pki/est/est-settings.ts"
import type { Role } from "../../pki/roles/role.ts"
import { SqlAuthMethodRepository } from "../repositories/access/auth-method-repository.ts"
import { SqlCertificateLoginRepository } from "../repositories/access/certificate-login-repository.ts"
import { SqlMountRepository } from "../repositories/pki/mount-repository.ts"
import { SqlRoleRepository } from "../repositories/pki/role-repository.ts"
import type { QueryRunner } from "../sql/query-runner.ts"

export interface AuthMethodFacts {
  readonly path: string
  readonly type: AuthMethodType
  readonly accessor: string
  /** Names of the roles of a method of type `cert`. Methods of other types have none here. */
  readonly certificateRoles: readonly string[]
}

export interface EstMountFacts {
  readonly mount: string
  readonly settings: EstSettings
  readonly delegatedAuthAccessors: readonly string[]
  readonly roles: ReadonlyMap<string, Role>
}

export interface LoginFacts {
  readonly methods: readonly AuthMethodFacts[]
  /** Mounts on which EST is enabled. */
  readonly estMounts: readonly EstMountFacts[]
  /** Mounts that allow auth methods, whether EST is enabled or not. */
  readonly delegations: readonly { readonly mount: string; readonly accessors: readonly string[] }[]
}

export async function loginFacts(session: QueryRunner): Promise<LoginFacts> {
  const certificateLogins = new SqlCertificateLoginRepository(session)
  const methods: AuthMethodFacts[] = []
  for (const { id, path, type, accessor } of await new SqlAuthMethodRepository(session).list()) {
    const certificateRoles = type === "cert" ? await certificateLogins.roleNames(id) : []
    methods.push({ path, type, accessor, certificateRoles })
  }
  const settingsOf = await estSettingsByMount(session)
  const estMounts: EstMountFacts[] = []
  const mounts = await new SqlMountRepository(session).list()
  for (const { id, path, config } of mounts) {
    const settings = settingsOf.get(id)
    if (settings?.enabled !== true) continue
    const named = await new SqlRoleRepository(session).list(id)
    const roles = new Map(named.map(({ name, role }) => [name, role]))
    estMounts.push({ mount: path, settings, delegatedAuthAccessors: config.delegatedAuthAccessors, roles })
  }
  const delegations = mounts.flatMap(({ path, config: { delegatedAuthAccessors: accessors } }) =>
    accessors.length === 0 ? [] : [{ mount: path, accessors }],
  )
  return { methods, estMounts, delegations }
}

async function estSettingsByMount(session: QueryRunner): Promise<ReadonlyMap<string, EstSettings>> {
  const rows = await session.queryMany(
    session.db.selectFrom("mount_settings").select(["mount_id", "value"]).where("name", "=", "est"),
  )
  return new Map(
    rows.map(({ mount_id, value }) => [mount_id, { ...defaultEstSettings, ...(JSON.parse(value) as object) }]),
  )
}
