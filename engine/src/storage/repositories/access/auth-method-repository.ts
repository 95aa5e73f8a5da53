import { conflict } from "../../../core/errors.ts"
import {
  type AuthMethod,
  type AuthMethodConfig,
  type AuthMethodId,
  type AuthMethodRepository,
  initialAuthMethodConfig,
} from "../../../access/logins/auth-method.ts"
import { initialMountTraits, type MountOptions, type MountTraits } from "../../../pki/mounts/mount.ts"
import { bumpCacheVersion, mountsFamily } from "../../sql/cache-versions.ts"
import { type QueryRunner, statement, UniqueViolation } from "../../sql/query-runner.ts"
import type { AuthMethodRow } from "../../schema/tables.ts"

export class SqlAuthMethodRepository implements AuthMethodRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async list(): Promise<readonly AuthMethod[]> {
    return (await this.#session.queryMany(all, {})).map(methodOf)
  }

  async find(id: AuthMethodId): Promise<AuthMethod | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && methodOf(row)
  }

  async insert(method: AuthMethod): Promise<void> {
    const insert = this.#session.db.insertInto("auth_methods").values(rowOf(method))
    await this.#change(method.path, () => this.#session.execute(insert))
  }

  async save(method: AuthMethod): Promise<void> {
    const { path, description, config } = rowOf(method)
    const changed = { path, description, config }
    const update = this.#session.db.updateTable("auth_methods").set(changed).where("id", "=", method.id)
    await this.#change(path, () => this.#session.execute(update))
  }

  async remove(id: AuthMethodId): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("auth_methods").where("id", "=", id))
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

const columns = ["id", "path", "type", "description", "config", "accessor", "uuid", "created_at"] as const
const all = statement<Record<string, never>, AuthMethodRow>((db) =>
  db.selectFrom("auth_methods").select(columns).orderBy("path"),
)
const byId = statement<{ id: string }, AuthMethodRow>((db, { id }) =>
  db.selectFrom("auth_methods").select(columns).where("id", "=", id),
)

const rowOf = (method: AuthMethod): AuthMethodRow => ({
  id: method.id,
  path: method.path,
  type: method.type,
  description: method.description,
  config: JSON.stringify({ ...method.config, traits: method.traits, options: method.options } satisfies StoredConfig),
  accessor: method.accessor,
  uuid: method.uuid,
  created_at: method.createdAt,
})

/** Stored configuration of an auth method. Rows of earlier releases have neither traits nor options, and fewer members of the configuration. */
type StoredConfig = Partial<AuthMethodConfig> & { readonly traits?: MountTraits; readonly options?: MountOptions }

function methodOf(row: AuthMethodRow): AuthMethod {
  const { traits = initialMountTraits, options = {}, ...config } = JSON.parse(row.config) as StoredConfig
  return {
    id: row.id as AuthMethodId,
    path: row.path,
    type: row.type,
    description: row.description,
    config: { ...initialAuthMethodConfig, ...config },
    traits,
    options,
    accessor: row.accessor,
    uuid: row.uuid,
    createdAt: row.created_at,
  }
}
