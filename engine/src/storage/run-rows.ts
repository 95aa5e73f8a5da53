import type { ConfigurationVersionId, OrganizationId, RunId, WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Run } from "../workspaces/run.ts"
import type { RunStatus } from "../workspaces/run-status.ts"
import type { RunQuery, RunStore } from "../workspaces/run-store.ts"
import type { Actor } from "../workspaces/workspace.ts"
import { among } from "./dialect.ts"
import { selectPage } from "./select-page.ts"
import { type Session, statement } from "./session.ts"
import type { RunRow } from "./tables.ts"
import { sql } from "kysely"

export class RunRows implements RunStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async find(id: string): Promise<Run | undefined> {
    const row = await this.#session.first(byId, { id })
    return row && runOf(row)
  }

  async findMany(ids: readonly string[]): Promise<readonly Run[]> {
    return ids.length === 0 ? [] : (await this.#session.all(byIds, { ids })).map(runOf)
  }

  async findByPlan(planId: string): Promise<Run | undefined> {
    const row = await this.#session.first(byPlan, { planId })
    return row && runOf(row)
  }

  async findByApply(applyId: string): Promise<Run | undefined> {
    const row = await this.#session.first(byApply, { applyId })
    return row && runOf(row)
  }

  list(workspaceId: WorkspaceId, { statuses }: RunQuery, page: PageRequest): Promise<Page<Run>> {
    let query = this.#session.db.selectFrom("runs").select(columns).where("workspace_id", "=", workspaceId)
    if (statuses !== undefined) query = query.where("status", "in", statuses)
    return selectPage(this.#session, query.orderBy("created_at", "desc").orderBy("id", "desc"), page, runOf)
  }

  async measured(workspaceId: WorkspaceId, count: number): Promise<readonly Run[]> {
    const rows = await this.#session.all(
      this.#session.db
        .selectFrom("runs")
        .select(columns)
        .where("workspace_id", "=", workspaceId)
        .where("finished_at", "is not", null)
        .where("status", "in", ["applied", "errored"])
        .orderBy("finished_at", "desc")
        .orderBy("id", "desc")
        .limit(count),
    )
    return rows.map(runOf)
  }

  async insert(run: Run): Promise<void> {
    await this.#session.run(this.#session.db.insertInto("runs").values(rowOf(run)))
  }

  async save(run: Run): Promise<void> {
    const { id, ...row } = rowOf(run)
    const { db } = this.#session
    await this.#session.run(db.updateTable("runs").set(row).where("id", "=", id))
    await this.#session.run(
      db
        .updateTable("workspaces")
        .set({ current_run_status: run.status })
        .where("id", "=", run.workspaceId)
        .where("current_run_id", "=", id),
    )
  }

  async makeCurrent(run: Run): Promise<void> {
    await this.#session.run(
      this.#session.db
        .updateTable("workspaces")
        .set({ current_run_id: run.id, current_run_status: run.status, current_run_created_at: run.createdAt })
        .where("id", "=", run.workspaceId),
    )
  }
}

const columns = [
  "id",
  "workspace_id",
  "organization_id",
  "status",
  "message",
  "source",
  "is_destroy",
  "auto_apply",
  "plan_only",
  "refresh_only",
  "has_changes",
  "created_at",
  "created_by_kind",
  "created_by_id",
  "status_timestamps",
  "configuration_version_id",
  "plan_id",
  "apply_id",
  "plan_duration_ms",
  "apply_duration_ms",
  "policy_failed",
  "finished_at",
] as const satisfies readonly (keyof RunRow)[]

const byId = statement((db, { id }: { id: string }) => db.selectFrom("runs").select(columns).where("id", "=", id))
const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("runs")
    .select(columns)
    .where(among(dialect, sql.ref("id"), ids)),
)
const byPlan = statement((db, { planId }: { planId: string }) =>
  db.selectFrom("runs").select(columns).where("plan_id", "=", planId),
)
const byApply = statement((db, { applyId }: { applyId: string }) =>
  db.selectFrom("runs").select(columns).where("apply_id", "=", applyId),
)

function runOf(row: RunRow): Run {
  return {
    id: row.id as RunId,
    workspaceId: row.workspace_id as WorkspaceId,
    organizationId: row.organization_id as OrganizationId,
    status: row.status as RunStatus,
    message: row.message,
    source: row.source,
    isDestroy: row.is_destroy === 1,
    autoApply: row.auto_apply === 1,
    planOnly: row.plan_only === 1,
    refreshOnly: row.refresh_only === 1,
    hasChanges: row.has_changes === 1,
    createdAt: row.created_at,
    createdBy: createdBy(row),
    statusTimestamps: JSON.parse(row.status_timestamps) as Run["statusTimestamps"],
    configurationVersionId: row.configuration_version_id as ConfigurationVersionId | null,
    planId: row.plan_id,
    applyId: row.apply_id,
    planDurationMs: row.plan_duration_ms,
    applyDurationMs: row.apply_duration_ms,
    policyFailed: row.policy_failed === 1,
    finishedAt: row.finished_at,
  }
}

const createdBy = ({ created_by_kind: kind, created_by_id: id }: RunRow): Actor | null =>
  kind === null || id === null ? null : { kind: kind as Actor["kind"], id }

function rowOf(run: Run): RunRow {
  return {
    id: run.id,
    workspace_id: run.workspaceId,
    organization_id: run.organizationId,
    status: run.status,
    message: run.message,
    source: run.source,
    is_destroy: run.isDestroy ? 1 : 0,
    auto_apply: run.autoApply ? 1 : 0,
    plan_only: run.planOnly ? 1 : 0,
    refresh_only: run.refreshOnly ? 1 : 0,
    has_changes: run.hasChanges ? 1 : 0,
    created_at: run.createdAt,
    created_by_kind: run.createdBy?.kind ?? null,
    created_by_id: run.createdBy?.id ?? null,
    status_timestamps: JSON.stringify(run.statusTimestamps),
    configuration_version_id: run.configurationVersionId,
    plan_id: run.planId,
    apply_id: run.applyId,
    plan_duration_ms: run.planDurationMs,
    apply_duration_ms: run.applyDurationMs,
    policy_failed: run.policyFailed ? 1 : 0,
    finished_at: run.finishedAt,
  }
}
