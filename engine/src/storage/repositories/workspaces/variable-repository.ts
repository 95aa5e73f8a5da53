import { sql } from "kysely"
import { invalid } from "../../../core/errors.ts"
import type { OrganizationId, WorkspaceId } from "../../../core/ids.ts"
import type { Sealer } from "../../../core/sealing.ts"
import type { Variable, VariableCategory, VariableRepository } from "../../../workspaces/variables/variable.ts"
import { among } from "../../sql/dialect.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { type QueryRunner, UniqueViolation } from "../../sql/query-runner.ts"
import type { VariableRow } from "../../schema/tables.ts"

export class SqlVariableRepository implements VariableRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async find(workspaceId: WorkspaceId, id: string): Promise<Variable | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db
        .selectFrom("variables")
        .select(columns)
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId),
    )
    return row && this.#variableOf(row)
  }

  async findById(id: string): Promise<Variable | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("variables").select(columns).where("id", "=", id),
    )
    return row && this.#variableOf(row)
  }

  async list(workspaceId: WorkspaceId): Promise<readonly Variable[]> {
    const rows = await this.#session.queryMany(
      this.#session.db
        .selectFrom("variables")
        .select(columns)
        .where("workspace_id", "=", workspaceId)
        .orderBy("created_at")
        .orderBy("id"),
    )
    return rows.map((row) => this.#variableOf(row))
  }

  async listMany(workspaceIds: readonly WorkspaceId[]): Promise<readonly Variable[]> {
    const { db, dialect } = this.#session
    const rows = await this.#session.queryMany(
      db
        .selectFrom("variables")
        .select(columns)
        .where(among(dialect, sql.ref("workspace_id"), workspaceIds))
        .orderBy("created_at")
        .orderBy("id"),
    )
    return rows.map((row) => this.#variableOf(row))
  }

  async insert(variable: Variable): Promise<void> {
    await rejectTakenKey(() =>
      this.#session.execute(this.#session.db.insertInto("variables").values(this.#rowOf(variable))),
    )
  }

  async save(variable: Variable): Promise<void> {
    const { id, ...row } = this.#rowOf(variable)
    await rejectTakenKey(() =>
      this.#session.execute(this.#session.db.updateTable("variables").set(row).where("id", "=", id)),
    )
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("variables").where("id", "=", id))
  }

  #variableOf(row: VariableRow): Variable {
    return {
      id: row.id,
      workspaceId: row.workspace_id as WorkspaceId,
      organizationId: row.organization_id as OrganizationId,
      key: row.key,
      value: Buffer.from(this.#sealer.open(sealPaths.variable(row.id), row.value_sealed)).toString(),
      description: row.description,
      category: row.category as VariableCategory,
      hcl: row.hcl === 1,
      sensitive: row.sensitive === 1,
      versionId: row.version_id,
      createdAt: row.created_at,
    }
  }

  #rowOf(variable: Variable): VariableRow {
    return {
      id: variable.id,
      workspace_id: variable.workspaceId,
      organization_id: variable.organizationId,
      key: variable.key,
      category: variable.category,
      value_sealed: this.#sealer.seal(sealPaths.variable(variable.id), Buffer.from(variable.value)),
      description: variable.description,
      hcl: variable.hcl ? 1 : 0,
      sensitive: variable.sensitive ? 1 : 0,
      version_id: variable.versionId,
      created_at: variable.createdAt,
    }
  }
}

async function rejectTakenKey(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (error instanceof UniqueViolation) throw invalid([{ field: ["key"], detail: "Key has already been taken" }])
    throw error
  }
}

const columns = [
  "id",
  "workspace_id",
  "organization_id",
  "key",
  "category",
  "value_sealed",
  "description",
  "hcl",
  "sensitive",
  "version_id",
  "created_at",
] as const satisfies readonly (keyof VariableRow)[]
