import type { IssuerId, KeyId } from "../../../core/ids.ts"
import {
  defaultIssuerSettings,
  type Issuer,
  type IssuerSettings,
  type IssuerRepository,
} from "../../../pki/issuers/issuer.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { bumpAuthority } from "./mount-repository.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { IssuerRow } from "../../schema/tables.ts"
import { rejectTaken } from "../../sql/unique-violations.ts"

export class SqlIssuerRepository implements IssuerRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async list(mountId: MountId): Promise<readonly Issuer[]> {
    return (await this.#session.queryMany(issuersOfMount, { mountId })).map(issuerOf)
  }

  async insert(issuer: Issuer): Promise<void> {
    const row: IssuerRow = {
      id: issuer.id,
      mount_id: issuer.mountId,
      key_id: issuer.keyId,
      certificate: issuer.certificate,
      created_at: issuer.createdAt,
      ...changeable(issuer),
    }
    await bumpAuthority(this.#session, issuer.mountId)
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("issuers").values(row)), taken)
  }

  async save(issuer: Issuer): Promise<void> {
    const changes = { key_id: issuer.keyId, ...changeable(issuer) }
    const update = this.#session.db.updateTable("issuers").set(changes).where("id", "=", issuer.id)
    await bumpAuthority(this.#session, issuer.mountId)
    await rejectTaken(() => this.#session.execute(update), taken)
  }

  async remove({ id, mountId }: Pick<Issuer, "id" | "mountId">): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("issuers").where("id", "=", id))
    await bumpAuthority(this.#session, mountId)
  }
}

const taken = {
  name: { field: ["issuerName"], detail: "issuer name already in use" },
  certificate: { detail: "the mount has this certificate already" },
}

const changeable = ({ name, settings, revokedAt }: Issuer) => ({
  name,
  settings: JSON.stringify(settings),
  revoked_at: revokedAt,
})

const issuerOf = (row: IssuerRow): Issuer => ({
  id: row.id as IssuerId,
  mountId: row.mount_id as MountId,
  name: row.name,
  keyId: row.key_id as KeyId | null,
  certificate: row.certificate,
  settings: { ...defaultIssuerSettings, ...(JSON.parse(row.settings) as Partial<IssuerSettings>) },
  revokedAt: row.revoked_at,
  createdAt: row.created_at,
})

const issuersOfMount = statement((db, { mountId }: { mountId: string }) =>
  db
    .selectFrom("issuers")
    .select(["id", "mount_id", "name", "key_id", "certificate", "settings", "revoked_at", "created_at"])
    .where("mount_id", "=", mountId)
    .orderBy("created_at")
    .orderBy("id"),
)
