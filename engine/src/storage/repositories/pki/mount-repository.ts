import { conflict } from "../../../core/errors.ts"
import type { Sealer } from "../../../core/sealing.ts"
import {
  defaultMountSettings,
  type MountSettings,
  type MountSettingsRepository,
} from "../../../pki/mounts/mount-settings.ts"
import type { MountVersionRepository } from "../../../pki/mounts/mount-snapshot.ts"
import {
  initialMountConfig,
  initialMountTraits,
  type Mount,
  type MountConfig,
  type MountId,
  type MountOptions,
  type MountRepository,
  type MountTraits,
} from "../../../pki/mounts/mount.ts"
import type { MountRow } from "../../schema/tables.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import {
  authorityFamily,
  bumpCacheVersion,
  mountsFamily,
  readCacheVersion,
  readMountVersions,
} from "../../sql/cache-versions.ts"
import { type QueryRunner, statement, UniqueViolation } from "../../sql/query-runner.ts"

export class SqlAuthorityRepository implements MountVersionRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  cacheVersion(mountId: MountId): Promise<number> {
    return readCacheVersion(this.#session, authorityFamily(mountId))
  }

  cacheVersions(mountId: MountId): Promise<{ readonly mounts: number; readonly authority: number }> {
    return readMountVersions(this.#session, mountId)
  }
}

/**
 * Increments the version of a mount. Every change of a key, issuer, role or setting calls it in the same transaction.
 *
 * Call it before an insert that a unique constraint may reject. Of two transactions that insert the same row, one is retried because of the
 * version, and then reads the row of the other.
 */
export const bumpAuthority = (session: QueryRunner, mountId: MountId): Promise<void> =>
  bumpCacheVersion(session, authorityFamily(mountId))

export class SqlMountRepository implements MountRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  cacheVersion(): Promise<number> {
    return readCacheVersion(this.#session, mountsFamily)
  }

  async list(): Promise<readonly Mount[]> {
    return (await this.#session.queryMany(all, {})).map(mountOf)
  }

  async insert(mount: Mount): Promise<void> {
    await this.#change(mount.path, () =>
      this.#session.execute(this.#session.db.insertInto("mounts").values(rowOf(mount))),
    )
  }

  async save(mount: Mount): Promise<void> {
    const { path, description, config } = rowOf(mount)
    const update = this.#session.db.updateTable("mounts").set({ path, description, config }).where("id", "=", mount.id)
    await this.#change(path, () => this.#session.execute(update))
    await bumpAuthority(this.#session, mount.id)
  }

  async remove(id: MountId): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("mounts").where("id", "=", id))
    await bumpAuthority(this.#session, id)
    await bumpCacheVersion(this.#session, mountsFamily)
  }

  async #change(path: string, write: () => Promise<unknown>): Promise<void> {
    try {
      await write()
    } catch (error) {
      throw error instanceof UniqueViolation ? conflict(`path is already in use at ${path}/`) : error
    }
    await bumpCacheVersion(this.#session, mountsFamily)
  }
}

const all = statement<Record<string, never>, MountRow>((db) =>
  db
    .selectFrom("mounts")
    .select(["id", "path", "type", "description", "config", "accessor", "uuid", "created_at"])
    .orderBy("path"),
)

const rowOf = (mount: Mount): MountRow => ({
  id: mount.id,
  path: mount.path,
  type: mount.type,
  description: mount.description,
  config: JSON.stringify({ ...mount.config, traits: mount.traits, options: mount.options } satisfies StoredConfig),
  accessor: mount.accessor,
  uuid: mount.uuid,
  created_at: mount.createdAt,
})

/** Stored configuration of a mount. Rows of earlier releases have neither traits nor options, and fewer members of the configuration. */
type StoredConfig = Partial<MountConfig> & { readonly traits?: MountTraits; readonly options?: MountOptions }

function mountOf(row: MountRow): Mount {
  const { traits = initialMountTraits, options = {}, ...config } = JSON.parse(row.config) as StoredConfig
  return {
    id: row.id as MountId,
    path: row.path,
    type: row.type,
    description: row.description,
    config: { ...initialMountConfig, ...config },
    traits,
    options,
    accessor: row.accessor,
    uuid: row.uuid,
    createdAt: row.created_at,
  }
}

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
      await this.#session.execute(
        db.deleteFrom("mount_secrets").where("mount_id", "=", mountId).where("name", "=", name),
      )
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
