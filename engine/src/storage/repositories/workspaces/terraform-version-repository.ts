import { sql } from "kysely"
import type { Page, PageRequest } from "../../../core/page.ts"
import {
  type TerraformBinary,
  type TerraformVersion,
  type TerraformVersionFilter,
  type TerraformVersionRepository,
  versionOrder,
  versionTaken,
} from "../../../workspaces/workspace/terraform-version.ts"
import { among, containing } from "../../sql/dialect.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { TerraformVersionRow } from "../../schema/tables.ts"
import { rejectTaken } from "../../sql/unique-violations.ts"

export class SqlTerraformVersionRepository implements TerraformVersionRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<TerraformVersion | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && toTerraformVersion(row)
  }

  list({ version, search }: TerraformVersionFilter, page: PageRequest): Promise<Page<TerraformVersion>> {
    const { db, dialect } = this.#session
    let query = db.selectFrom("terraform_versions").selectAll().orderBy("version_order", "desc")
    if (version !== undefined) query = query.where("version", "=", version)
    else if (search !== undefined) query = query.where(containing(dialect, sql.ref("version"), search))
    return selectPage(this.#session, query, page, toTerraformVersion)
  }

  async insert(version: TerraformVersion): Promise<void> {
    const row = { id: version.id, created_at: version.createdAt, ...toColumns(version) }
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("terraform_versions").values(row)), taken)
  }

  async save(version: TerraformVersion): Promise<void> {
    const update = this.#session.db
      .updateTable("terraform_versions")
      .set(toColumns(version))
      .where("id", "=", version.id)
    await rejectTaken(() => this.#session.execute(update), taken)
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("terraform_versions").where("id", "=", id))
  }

  async countWorkspaces(versions: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = versions.length === 0 ? [] : await this.#session.queryMany(workspaceCounts, { versions })
    return new Map(rows.map(({ engine_version, count }) => [engine_version, count]))
  }
}

const taken = { version: versionTaken }

const byId = statement((db, { id }: { id: string }) =>
  db.selectFrom("terraform_versions").selectAll().where("id", "=", id),
)
const workspaceCounts = statement((db, { versions }: { versions: readonly string[] }, dialect) =>
  db
    .selectFrom("workspaces")
    .select(["engine_version", sql<number>`count(*)`.as("count")])
    .where(among(dialect, sql.ref("engine_version"), versions))
    .groupBy("engine_version"),
)

const toTerraformVersion = (row: TerraformVersionRow): TerraformVersion => ({
  id: row.id,
  version: row.version,
  archs: JSON.parse(row.archs) as TerraformBinary[],
  official: row.official === 1,
  deprecated: row.deprecated === 1,
  deprecatedReason: row.deprecated_reason,
  enabled: row.enabled === 1,
  beta: row.beta === 1,
  createdAt: row.created_at,
})

const toColumns = (version: TerraformVersion) =>
  ({
    version: version.version,
    version_order: versionOrder(version.version),
    archs: JSON.stringify(version.archs),
    official: version.official ? 1 : 0,
    deprecated: version.deprecated ? 1 : 0,
    deprecated_reason: version.deprecatedReason,
    enabled: version.enabled ? 1 : 0,
    beta: version.beta ? 1 : 0,
  }) satisfies Partial<TerraformVersionRow>
