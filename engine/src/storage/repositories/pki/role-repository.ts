import type { MountId } from "../../../pki/mounts/mount.ts"
import {
  createRole,
  type NamedRole,
  type Role,
  type RoleRepository,
  storedRoleDefaults,
} from "../../../pki/roles/role.ts"
import { bumpAuthority } from "./mount-repository.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlRoleRepository implements RoleRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async list(mountId: MountId): Promise<readonly NamedRole[]> {
    const rows = await this.#session.queryMany(rolesOfMount, { mountId })
    return rows.map(({ name, definition }) => ({ name, role: roleOf(definition) }))
  }

  async save(mountId: MountId, { name, role }: NamedRole): Promise<void> {
    await this.#session.execute(saveRole, { mountId, name, definition: JSON.stringify(role) })
    await bumpAuthority(this.#session, mountId)
  }

  async remove(mountId: MountId, name: string): Promise<void> {
    const deletion = this.#session.db.deleteFrom("roles").where("mount_id", "=", mountId).where("name", "=", name)
    if ((await this.#session.execute(deletion)) > 0) await bumpAuthority(this.#session, mountId)
  }
}

/** Parses a stored role. Fields that were added after it was written get their defaults; time bounds keep their earlier behaviour. */
export const roleOf = (definition: string): Role => ({
  ...createRole({}),
  ...storedRoleDefaults,
  ...(JSON.parse(definition) as Partial<Role>),
})

const rolesOfMount = statement((db, { mountId }: { mountId: string }) =>
  db.selectFrom("roles").select(["name", "definition"]).where("mount_id", "=", mountId).orderBy("name"),
)
const saveRole = statement((db, { mountId, name, definition }: { mountId: string; name: string; definition: string }) =>
  db
    .insertInto("roles")
    .values({ mount_id: mountId, name, definition })
    .onConflict((known) => known.columns(["mount_id", "name"]).doUpdateSet({ definition })),
)
