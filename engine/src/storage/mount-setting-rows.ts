import type { Sealer } from "../core/sealing.ts"
import type { MountId } from "../pki/mount.ts"
import { defaultMountSettings, type MountSettings, type MountSettingsRepository } from "../pki/settings/mount-settings.ts"
import { bumpAuthority } from "./authority-rows.ts"
import { sealPaths } from "./seal-paths.ts"
import { type QueryRunner, statement } from "./session.ts"

export class SqlMountSettingRepository implements MountSettingsRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async all(mountId: MountId): Promise<MountSettings> {
    const settings: Record<string, object> = { ...defaultMountSettings }
    for (const { name, value } of await this.#session.queryMany(settingsOfMount, { mountId }))
      settings[name] = { ...settings[name], ...(JSON.parse(value) as object) }
    return settings as unknown as MountSettings
  }

  async save<Name extends keyof MountSettings>(
    mountId: MountId,
    name: Name,
    value: MountSettings[Name],
  ): Promise<void> {
    await this.#session.execute(saveSetting, { mountId, name, value: JSON.stringify(value) })
    await bumpAuthority(this.#session, mountId)
  }

  async secret(mountId: MountId, name: string): Promise<Uint8Array | undefined> {
    const row = await this.#session.queryOne(sealedSecret, { mountId, name })
    return row && this.#sealer.open(sealPaths.mountSecret(mountId, name), row.value_sealed)
  }

  async saveSecret(mountId: MountId, name: string, value: Uint8Array | undefined): Promise<void> {
    const { db } = this.#session
    if (value === undefined) {
      await this.#session.execute(db.deleteFrom("mount_secrets").where("mount_id", "=", mountId).where("name", "=", name))
    } else {
      const value_sealed = this.#sealer.seal(sealPaths.mountSecret(mountId, name), value)
      await this.#session.execute(
        db
          .insertInto("mount_secrets")
          .values({ mount_id: mountId, name, value_sealed })
          .onConflict((known) => known.columns(["mount_id", "name"]).doUpdateSet({ value_sealed })),
      )
    }
    await bumpAuthority(this.#session, mountId)
  }
}

const settingsOfMount = statement((db, { mountId }: { mountId: string }) =>
  db.selectFrom("mount_settings").select(["name", "value"]).where("mount_id", "=", mountId),
)
const saveSetting = statement((db, { mountId, name, value }: { mountId: string; name: string; value: string }) =>
  db
    .insertInto("mount_settings")
    .values({ mount_id: mountId, name, value })
    .onConflict((known) => known.columns(["mount_id", "name"]).doUpdateSet({ value })),
)
const sealedSecret = statement((db, { mountId, name }: { mountId: string; name: string }) =>
  db.selectFrom("mount_secrets").select("value_sealed").where("mount_id", "=", mountId).where("name", "=", name),
)
