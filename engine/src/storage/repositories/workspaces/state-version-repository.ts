import { sql } from "kysely"
import type { OrganizationId, RunId, StateVersionId, WorkspaceId } from "../../../core/ids.ts"
import type { Instant } from "../../../core/time.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Sealer } from "../../../core/sealing.ts"
import type { OutputType, StateContents } from "../../../workspaces/state/state-file.ts"
import type {
  StateDocument,
  StateSummary,
  StateVersion,
  StateVersionOutput,
  StateVersionStatus,
} from "../../../workspaces/state/state-version.ts"
import type {
  StateVersionQuery,
  StateVersionRelated,
  StateVersionRepository,
} from "../../../workspaces/state/state-version-repository.ts"
import type { Actor } from "../../../workspaces/workspace/workspace.ts"
import { among } from "../../sql/dialect.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { anyDeletingPolicy, isOlderThanKept, policiesOf } from "./retention-policy-repository.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { StateVersionOutputRow, StateVersionRow } from "../../schema/tables.ts"

export class SqlStateVersionRepository implements StateVersionRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async find(id: string): Promise<StateVersion | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && versionOf(row)
  }

  async findMany(ids: readonly StateVersionId[]): Promise<readonly StateVersion[]> {
    return (await this.#session.queryMany(byIds, { ids })).map(versionOf)
  }

  list(workspaceId: WorkspaceId, { statuses }: StateVersionQuery, page: PageRequest): Promise<Page<StateVersion>> {
    let query = this.#session.db.selectFrom("state_versions").select(columns).where("workspace_id", "=", workspaceId)
    if (statuses !== undefined) query = query.where("status", "in", statuses)
    return selectPage(this.#session, query.orderBy("created_at", "desc"), page, versionOf)
  }

  async newest(workspaceId: WorkspaceId, statuses: readonly StateVersionStatus[]): Promise<StateVersion | undefined> {
    const row = await this.#session.queryOne(newestOf, { workspaceId, statuses })
    return row && versionOf(row)
  }

  async newestUnderLock(workspaceId: WorkspaceId, lockNumber: number): Promise<StateVersion | undefined> {
    const row = await this.#session.queryOne(newestKept, { workspaceId, lockNumber })
    return row && versionOf(row)
  }

  async related(ids: readonly StateVersionId[]): Promise<ReadonlyMap<StateVersionId, StateVersionRelated>> {
    if (ids.length === 0) return new Map()
    const outputs = await this.#session.queryMany(outputIds, { ids })
    const hasJson = new Set((await this.#session.queryMany(withJsonState, { ids })).map((row) => row.state_version_id))
    return new Map(
      ids.map((id) => [
        id,
        {
          outputIds: outputs.flatMap((row) => (row.state_version_id === id ? [row.id] : [])),
          hasJsonState: hasJson.has(id),
        },
      ]),
    )
  }

  async insert(version: StateVersion): Promise<void> {
    await this.#session.execute(this.#session.db.insertInto("state_versions").values(rowOf(version)))
  }

  async save(version: StateVersion): Promise<void> {
    const { id, ...row } = rowOf(version)
    await this.#session.execute(this.#session.db.updateTable("state_versions").set(row).where("id", "=", id))
  }

  async discard(id: StateVersionId): Promise<void> {
    await this.#session.execute(discardOne, { id })
  }

  discardOlder(createdBefore: Instant, limit: number): Promise<number> {
    return this.#session.execute(discardLate, { createdBefore, limit })
  }

  async givenUp(now: Instant, limit: number): Promise<readonly StateVersionId[]> {
    if ((await this.#session.queryOne(anyDeletingPolicy, {})) === undefined) return []
    const rows = await this.#session.queryMany(sql<{ id: string }>`
      select v.id from state_versions v
      join workspaces w on w.id = v.workspace_id
      ${policiesOf}
      where v.status in ('finalized', 'backing_data_soft_deleted')
        and ${isOlderThanKept(now)}
        and v.id <> coalesce(w.current_state_version_id, '')
        and (w.locked_at is null or v.lock_number <> w.lock_number)
      limit ${limit}`)
    return rows.map(({ id }) => id as StateVersionId)
  }

  async setBackingDataDeleted(ids: readonly StateVersionId[]): Promise<void> {
    await this.#session.execute(setDeleted, { ids })
  }

  discardPending(workspaceId: WorkspaceId): Promise<number> {
    return this.#session.execute(
      this.#session.db
        .updateTable("state_versions")
        .set({ status: "discarded" })
        .where("workspace_id", "=", workspaceId)
        .where("status", "=", "pending"),
    )
  }

  async beginReading(): Promise<StateVersion | undefined> {
    const row = await this.#session.queryOne(firstUnread, {})
    if (row === undefined) return undefined
    await this.#session.execute(countAttempt, { id: row.id })
    return versionOf(row)
  }

  async endReading(
    id: StateVersionId,
    { resourceCount, resources, modules, providers }: Omit<StateContents, "outputs">,
  ): Promise<boolean> {
    const read = {
      id,
      resourceCount,
      resources: JSON.stringify(resources),
      modules: JSON.stringify(modules),
      providers: JSON.stringify(providers),
    }
    return (await this.#session.execute(saveRead, read)) === 1
  }

  async removeOutputs(id: StateVersionId): Promise<void> {
    await this.#session.execute(removeOutputsOf, { id })
  }

  async saveOutputs(id: StateVersionId, outputs: readonly StateVersionOutput[], first = 0): Promise<void> {
    for (const [position, output] of outputs.entries())
      await this.#session.execute(
        this.#session.db.insertInto("state_version_outputs").values({
          id: output.id,
          state_version_id: id,
          position: first + position,
          name: output.name,
          sensitive: output.sensitive ? 1 : 0,
          type: output.type,
          value_sealed: this.#sealer.seal(
            sealPaths.stateVersionOutput(output.id),
            Buffer.from(JSON.stringify(output.value)),
          ),
          detailed_type: JSON.stringify(output.detailedType),
        }),
      )
  }

  async outputs(id: StateVersionId): Promise<readonly StateVersionOutput[]> {
    const rows = await this.#session.queryMany(outputsOf, { id })
    return rows.map((row) => this.#outputOf(row))
  }

  async outputsOf(ids: readonly StateVersionId[]): Promise<readonly StateVersionOutput[]> {
    return (await this.#session.queryMany(outputsOfMany, { ids })).map((row) => this.#outputOf(row))
  }

  async findOutput(
    id: string,
  ): Promise<{ readonly output: StateVersionOutput; readonly stateVersionId: StateVersionId } | undefined> {
    const row = await this.#session.queryOne(outputById, { id })
    return row && { output: this.#outputOf(row), stateVersionId: row.state_version_id as StateVersionId }
  }

  #outputOf(row: OutputRow): StateVersionOutput {
    return {
      id: row.id,
      name: row.name,
      sensitive: row.sensitive === 1,
      type: row.type as OutputType,
      value: JSON.parse(
        Buffer.from(this.#sealer.open(sealPaths.stateVersionOutput(row.id), row.value_sealed)).toString(),
      ),
      detailedType: JSON.parse(row.detailed_type),
    }
  }
}

const jsonState: StateDocument = "json-state"

const columns = [
  "id",
  "workspace_id",
  "organization_id",
  "serial",
  "lineage",
  "md5",
  "size",
  "status",
  "intermediate",
  "lock_number",
  "created_at",
  "created_by_kind",
  "created_by_id",
  "run_id",
  "terraform_version",
  "format_version",
  "resource_count",
  "resources",
  "modules",
  "providers",
  "resources_processed",
  "vcs_commit_sha",
  "vcs_commit_url",
] as const satisfies readonly (keyof StateVersionRow)[]

const outputColumns = [
  "id",
  "state_version_id",
  "name",
  "sensitive",
  "type",
  "value_sealed",
  "detailed_type",
] as const satisfies readonly (keyof StateVersionOutputRow)[]
type OutputRow = Pick<StateVersionOutputRow, (typeof outputColumns)[number]>

const byId = statement((db, { id }: { id: string }) =>
  db.selectFrom("state_versions").select(columns).where("id", "=", id),
)
const newestOf = statement(
  (db, { workspaceId, statuses }: { workspaceId: string; statuses: readonly string[] }, dialect) =>
    db
      .selectFrom("state_versions")
      .select(columns)
      .where("workspace_id", "=", workspaceId)
      .where(among(dialect, sql.ref("status"), statuses))
      .orderBy("created_at", "desc")
      .limit(sql.lit(1)),
)
const newestKept = statement((db, { workspaceId, lockNumber }: { workspaceId: string; lockNumber: number }) =>
  db
    .selectFrom("state_versions")
    .select(columns)
    .where("workspace_id", "=", workspaceId)
    .where("lock_number", "=", lockNumber)
    .where("status", "!=", sql.lit("discarded"))
    .orderBy("created_at", "desc")
    .limit(sql.lit(1)),
)
const outputIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("state_version_outputs")
    .select(["id", "state_version_id"])
    .where(among(dialect, sql.ref("state_version_id"), ids))
    .orderBy("position"),
)
const discardOne = statement((db, { id }: { id: string }) =>
  db
    .updateTable("state_versions")
    .set({ status: sql.lit("discarded") })
    .where("id", "=", id)
    .where("status", "=", sql.lit("pending")),
)
const discardLate = statement((db, { createdBefore, limit }: { createdBefore: number; limit: number }) =>
  db
    .updateTable("state_versions")
    .set({ status: sql.lit("discarded") })
    .where("id", "in", (late) =>
      late
        .selectFrom("state_versions")
        .select("id")
        .where("status", "=", sql.lit("pending"))
        .where("created_at", "<", createdBefore)
        .limit(limit),
    ),
)

const setDeleted = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .updateTable("state_versions")
    .set({ status: sql.lit("backing_data_permanently_deleted") })
    .where(among(dialect, sql.ref("id"), ids)),
)

/** Attempts after which reading a state is given up. */
const maxReadingAttempts = 5

const firstUnread = statement((db, _none: object) =>
  db
    .selectFrom("state_versions")
    .select(columns)
    .where("status", "=", sql.lit("finalized"))
    .where("resources_processed", "=", sql.lit(0))
    .where("reading_attempts", "<", sql.lit(maxReadingAttempts))
    .orderBy("reading_attempts")
    .orderBy("created_at")
    .limit(sql.lit(1)),
)
const countAttempt = statement((db, { id }: { id: string }) =>
  db
    .updateTable("state_versions")
    .set({ reading_attempts: sql`reading_attempts + 1` })
    .where("id", "=", id),
)
const saveRead = statement(
  (db, read: { id: string; resourceCount: number; resources: string; modules: string; providers: string }) =>
    db
      .updateTable("state_versions")
      .set({
        resource_count: read.resourceCount,
        resources: read.resources,
        modules: read.modules,
        providers: read.providers,
        resources_processed: sql.lit(1),
      })
      .where("id", "=", read.id)
      .where("resources_processed", "=", sql.lit(0)),
)
const removeOutputsOf = statement((db, { id }: { id: string }) =>
  db.deleteFrom("state_version_outputs").where("state_version_id", "=", id),
)
const withJsonState = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("state_documents")
    .select("state_version_id")
    .where(among(dialect, sql.ref("state_version_id"), ids))
    .where("document", "=", sql.lit(jsonState))
    .where("status", "=", sql.lit("kept"))
    .unionAll(
      db
        .selectFrom("state_contents")
        .select("state_version_id")
        .where(among(dialect, sql.ref("state_version_id"), ids))
        .where("document", "=", sql.lit(jsonState))
        .where("chunk", "=", sql.lit(0)),
    ),
)
const outputsOf = statement((db, { id }: { id: string }) =>
  db.selectFrom("state_version_outputs").select(outputColumns).where("state_version_id", "=", id).orderBy("position"),
)
const outputsOfMany = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("state_version_outputs")
    .select(outputColumns)
    .where(among(dialect, sql.ref("state_version_id"), ids))
    .orderBy("state_version_id")
    .orderBy("position"),
)
const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("state_versions")
    .select(columns)
    .where(among(dialect, sql.ref("id"), ids)),
)
const outputById = statement((db, { id }: { id: string }) =>
  db.selectFrom("state_version_outputs").select(outputColumns).where("id", "=", id),
)

function versionOf(row: StateVersionRow): StateVersion {
  return {
    id: row.id as StateVersionId,
    workspaceId: row.workspace_id as WorkspaceId,
    organizationId: row.organization_id as OrganizationId,
    serial: row.serial,
    lineage: row.lineage,
    md5: row.md5,
    status: row.status as StateVersionStatus,
    intermediate: row.intermediate === 1,
    lockNumber: row.lock_number,
    createdAt: row.created_at,
    createdBy: row.created_by_kind === null ? null : actorOf(row.created_by_kind, row.created_by_id),
    runId: row.run_id as RunId | null,
    summary: row.format_version === null ? null : summaryOf(row, row.format_version),
    vcsCommitSha: row.vcs_commit_sha,
    vcsCommitUrl: row.vcs_commit_url,
  }
}

const actorOf = (kind: string, id: string | null): Actor => ({ kind: kind as Actor["kind"], id: id ?? "" })

const summaryOf = (row: StateVersionRow, formatVersion: number): StateSummary => ({
  formatVersion,
  size: row.size ?? 0,
  terraformVersion: row.terraform_version,
  resourcesProcessed: row.resources_processed === 1,
  resourceCount: row.resource_count ?? 0,
  resources: JSON.parse(row.resources ?? "[]") as StateSummary["resources"],
  modules: JSON.parse(row.modules ?? "{}") as StateSummary["modules"],
  providers: JSON.parse(row.providers ?? "{}") as StateSummary["providers"],
})

function rowOf({ summary, createdBy, ...version }: StateVersion): StateVersionRow {
  return {
    id: version.id,
    workspace_id: version.workspaceId,
    organization_id: version.organizationId,
    serial: version.serial,
    lineage: version.lineage,
    md5: version.md5,
    size: summary?.size ?? null,
    status: version.status,
    intermediate: version.intermediate ? 1 : 0,
    lock_number: version.lockNumber,
    created_at: version.createdAt,
    created_by_kind: createdBy?.kind ?? null,
    created_by_id: createdBy?.id ?? null,
    run_id: version.runId,
    terraform_version: summary?.terraformVersion ?? null,
    format_version: summary?.formatVersion ?? null,
    resource_count: summary?.resourceCount ?? null,
    resources: summary && JSON.stringify(summary.resources),
    modules: summary && JSON.stringify(summary.modules),
    providers: summary && JSON.stringify(summary.providers),
    resources_processed: summary?.resourcesProcessed === true ? 1 : 0,
    vcs_commit_sha: version.vcsCommitSha,
    vcs_commit_url: version.vcsCommitUrl,
  }
}
