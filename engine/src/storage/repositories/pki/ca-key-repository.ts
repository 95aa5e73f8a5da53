import type { KeyId } from "../../../core/ids.ts"
import type { Sealer } from "../../../core/sealing.ts"
import type { CaKey, CaKeyStore } from "../../../pki/keys/key.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { bumpAuthority } from "./mount-repository.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { CaKeyRow } from "../../schema/tables.ts"
import { rejectTaken } from "../../sql/unique-violations.ts"

export class SqlCaKeyRepository implements CaKeyStore {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async list(mountId: MountId): Promise<readonly CaKey[]> {
    return (await this.#session.queryMany(keysOfMount, { mountId })).map(keyOf)
  }

  async insert(key: CaKey, privateKey: Uint8Array): Promise<void> {
    const row: CaKeyRow = {
      id: key.id,
      mount_id: key.mountId,
      name: key.name,
      public_key: key.publicKey,
      private_key_sealed: this.#sealer.seal(sealPaths.caKey(key.id), privateKey),
      created_at: key.createdAt,
    }
    await bumpAuthority(this.#session, key.mountId)
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("ca_keys").values(row)), taken)
  }

  async privateKey(id: KeyId): Promise<Uint8Array | undefined> {
    const row = await this.#session.queryOne(sealedKey, { id })
    return row && this.#sealer.open(sealPaths.caKey(id), row.private_key_sealed)
  }

  async rename({ id, mountId }: Pick<CaKey, "id" | "mountId">, name: string | null): Promise<void> {
    const update = this.#session.db.updateTable("ca_keys").set({ name }).where("id", "=", id)
    await bumpAuthority(this.#session, mountId)
    await rejectTaken(() => this.#session.execute(update), taken)
  }

  async remove({ id, mountId }: Pick<CaKey, "id" | "mountId">): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("ca_keys").where("id", "=", id))
    await bumpAuthority(this.#session, mountId)
  }
}

const taken = {
  name: { field: ["keyName"], detail: "key name already in use" },
  public_key: { detail: "the mount has this key already" },
}

const keyOf = (row: Omit<CaKeyRow, "private_key_sealed">): CaKey => ({
  id: row.id as KeyId,
  mountId: row.mount_id as MountId,
  name: row.name,
  publicKey: row.public_key,
  createdAt: row.created_at,
})

const keysOfMount = statement((db, { mountId }: { mountId: string }) =>
  db
    .selectFrom("ca_keys")
    .select(["id", "mount_id", "name", "public_key", "created_at"])
    .where("mount_id", "=", mountId)
    .orderBy("created_at")
    .orderBy("id"),
)
const sealedKey = statement((db, { id }: { id: string }) =>
  db.selectFrom("ca_keys").select("private_key_sealed").where("id", "=", id),
)
