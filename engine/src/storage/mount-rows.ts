import { conflict } from "../core/errors.ts"
import {
  initialMountTraits,
  type Mount,
  type MountConfig,
  type MountId,
  type MountOptions,
  type MountTraits,
} from "../pki/mount.ts"
import type { MountRepository } from "../pki/mount-store.ts"
import { bumpAuthority } from "./authority-rows.ts"
import { bumpCacheVersion, mountsFamily, readCacheVersion } from "./cache-versions.ts"
import { type QueryRunner, statement, UniqueViolation } from "./session.ts"
import type { MountRow } from "./tables.ts"

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
    await this.#change(mount.path, () => this.#session.execute(this.#session.db.insertInto("mounts").values(rowOf(mount))))
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

/** Rows of earlier releases have neither traits nor options. */
type StoredConfig = MountConfig & { readonly traits?: MountTraits; readonly options?: MountOptions }

function mountOf(row: MountRow): Mount {
  const { traits = initialMountTraits, options = {}, ...config } = JSON.parse(row.config) as StoredConfig
  return {
    id: row.id as MountId,
    path: row.path,
    type: row.type,
    description: row.description,
    config,
    traits,
    options,
    accessor: row.accessor,
    uuid: row.uuid,
    createdAt: row.created_at,
  }
}
