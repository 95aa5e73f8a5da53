import type { OrganizationId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Sealer } from "../../../core/sealing.ts"
import type { SshKey, SshKeyStore } from "../../../organizations/ssh-key.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { selectPage } from "../../sql/select-page.ts"
import type { QueryRunner } from "../../sql/query-runner.ts"
import type { SshKeyRow } from "../../schema/tables.ts"
import { nameTaken, rejectTaken } from "../../sql/unique-violations.ts"

export class SqlSshKeyRepository implements SshKeyStore {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async find(id: string): Promise<SshKey | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("ssh_keys").select(columns).where("id", "=", id),
    )
    return row && keyOf(row)
  }

  list(organizationId: OrganizationId, page: PageRequest): Promise<Page<SshKey>> {
    const query = this.#session.db
      .selectFrom("ssh_keys")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .orderBy("name")
    return selectPage(this.#session, query, page, keyOf)
  }

  async insert(key: SshKey, value: string): Promise<void> {
    const row: SshKeyRow = {
      id: key.id,
      organization_id: key.organizationId,
      name: key.name,
      value_sealed: this.#seal(key.id, value),
      created_at: key.createdAt,
    }
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("ssh_keys").values(row)), {
      name: nameTaken,
    })
  }

  async save(key: SshKey, value: string | undefined): Promise<void> {
    const changes = { name: key.name, ...(value === undefined ? {} : { value_sealed: this.#seal(key.id, value) }) }
    const update = this.#session.db.updateTable("ssh_keys").set(changes).where("id", "=", key.id)
    await rejectTaken(() => this.#session.execute(update), { name: nameTaken })
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("ssh_keys").where("id", "=", id))
  }

  async value(id: string): Promise<string | undefined> {
    const query = this.#session.db.selectFrom("ssh_keys").select("value_sealed").where("id", "=", id)
    const row = await this.#session.queryOne(query)
    return row && Buffer.from(this.#sealer.open(sealPaths.sshKey(id), row.value_sealed)).toString()
  }

  #seal(id: string, value: string): Uint8Array {
    return this.#sealer.seal(sealPaths.sshKey(id), Buffer.from(value))
  }
}

const columns = ["id", "organization_id", "name", "created_at"] as const

const keyOf = (row: Omit<SshKeyRow, "value_sealed">): SshKey => ({
  id: row.id,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  createdAt: row.created_at,
})
