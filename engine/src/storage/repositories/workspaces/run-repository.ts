import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely"
import type { ConfigurationVersionId, OrganizationId, RunId, StateVersionId, WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Sealer } from "../../../core/sealing.ts"
import { type Instant, minuteMs } from "../../../core/time.ts"
import { foldName } from "../../../organizations/organization.ts"
import type { ConfigurationVersion } from "../../../workspaces/configuration-versions/configuration-version.ts"
import type { Visibility } from "../../../workspaces/workspace/workspace-query.ts"
import type {
  ResourceChanges,
  Run,
  RunCapacity,
  RunClaim,
  RunAction,
  RunComment,
  RunEvent,
  RunExecutor,
  RunVariable,
} from "../../../workspaces/runs/run.ts"
import { operationOf } from "../../../workspaces/runs/run-rules.ts"
import { claimableStatuses, queueStatuses, type RunStatus } from "../../../workspaces/runs/run-status.ts"
import type {
  ChangedWait,
  ClaimScope,
  ClaimsToEnd,
  OrganizationRunQuery,
  RunQuery,
  RunRepository,
  WaitQuery,
} from "../../../workspaces/runs/run-repository.ts"
import type { Actor } from "../../../workspaces/workspace/workspace.ts"
import { admitted } from "../organizations/agent-pool-repository.ts"
import { among, containing } from "../../sql/dialect.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type DialectName, type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { RunCommentRow, RunEventRow, RunRow, Tables } from "../../schema/tables.ts"
import { visible } from "../../sql/visible-workspaces.ts"

export class SqlRunRepository implements RunRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async find(id: string): Promise<Run | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && this.#runOf(row)
  }

  async findMany(ids: readonly string[]): Promise<readonly Run[]> {
    return ids.length === 0 ? [] : (await this.#session.queryMany(byIds, { ids })).map((row) => this.#runOf(row))
  }

  async findByPlan(planId: string): Promise<Run | undefined> {
    const row = await this.#session.queryOne(byPlan, { planId })
    return row && this.#runOf(row)
  }

  async findByApply(applyId: string): Promise<Run | undefined> {
    const row = await this.#session.queryOne(byApply, { applyId })
    return row && this.#runOf(row)
  }

  list(workspaceId: WorkspaceId, query: RunQuery, page: PageRequest): Promise<Page<Run>> {
    const { db, dialect } = this.#session
    return this.#page(
      db
        .selectFrom("runs as r")
        .select(prefixed)
        .where("r.workspace_id", "=", workspaceId)
        .where(matching(dialect, query)),
      page,
    )
  }

  listVisible(visibility: Visibility, query: OrganizationRunQuery, page: PageRequest): Promise<Page<Run>> {
    const { db, dialect } = this.#session
    const { workspaceNames, agentPoolNames } = query
    let rows = situated(db)
      .where("r.organization_id", "=", visibility.organizationId)
      .where(visible(dialect, visibility))
      .where(matching(dialect, query))
    if (workspaceNames !== undefined)
      rows = rows.where(among(dialect, sql.ref("w.name_folded"), workspaceNames.map(foldName)))
    if (agentPoolNames !== undefined)
      rows = rows.where(
        sql<boolean>`${effectivePool} in (select id from agent_pools where organization_id = ${visibility.organizationId}
          and ${among(dialect, sql.ref("name_folded"), agentPoolNames.map(foldName))})`,
      )
    return this.#page(rows, page)
  }

  queue(visibility: Visibility, page: PageRequest): Promise<Page<Run>> {
    const ordered = inQueue(this.#session, visibility).select(prefixed).orderBy("r.created_at").orderBy("r.id")
    return selectPage(this.#session, ordered, page, (row) => this.#runOf(row))
  }

  async capacity(visibility: Visibility): Promise<RunCapacity> {
    const { dialect } = this.#session
    const counted = await this.#session.queryOne<{ all: number; pending: number }>(
      inQueue(this.#session, visibility).select([
        sql<number>`count(*)`.as("all"),
        sql<number>`count(case when ${among(dialect, sql.ref("r.status"), claimableStatuses)} then 1 end)`.as(
          "pending",
        ),
      ]),
    )
    const { all = 0, pending = 0 } = counted ?? {}
    return { pending, running: all - pending }
  }

  async findByClaim(claimId: string): Promise<Run | undefined> {
    const row = await this.#session.queryOne(byClaim, { claimId })
    return row && this.#runOf(row)
  }

  async claimable(scope: ClaimScope, now: Instant, limit: number): Promise<readonly Run[]> {
    const { db, dialect } = this.#session
    let rows = situated(db)
      .where("r.organization_id", "=", scope.organizationId)
      .where("r.finished_at", "is", null)
      .where("r.status", "in", claimableStatuses)
      .where("r.claim_id", "is", null)
      .where(isNext(now))
      .where(hasConfiguration)
    if (scope.workspaceId !== undefined) rows = rows.where("r.workspace_id", "=", scope.workspaceId)
    if (scope.agentPoolId === undefined) rows = rows.where(sql<boolean>`${effectiveMode} = 'remote'`)
    else
      rows =
        rows.where(sql<boolean>`(${effectiveMode} = 'remote' or (${effectiveMode} = 'agent' and ${effectivePool} = ${scope.agentPoolId}))
      and exists (select 1 from agent_pools where agent_pools.id = ${scope.agentPoolId}
        and ${admitted(sql.ref("w.id"), sql.ref("w.project_id"))})`)
    if (scope.visibility !== undefined) rows = rows.where(visible(dialect, scope.visibility))
    const found = await this.#session.queryMany(rows.orderBy("r.created_at").orderBy("r.id").limit(limit))
    return found.map((row) => this.#runOf(row))
  }

  async claimsToEnd({ now, latest, limit }: ClaimsToEnd): Promise<readonly RunId[]> {
    const { db } = this.#session
    const rows = await this.#session.queryMany(
      db
        .selectFrom("runs")
        .select("id")
        .where((where) => where.or([where("claim_expires_at", "<=", now), where("claim_expires_at", ">", latest)]))
        .where("finished_at", "is", null)
        .orderBy("claim_expires_at")
        .limit(limit),
    )
    return rows.map(({ id }) => id as RunId)
  }

  async changedWaits({ now, since, id, limit }: WaitQuery): Promise<readonly ChangedWait[]> {
    const { db, dialect } = this.#session
    const silent = hasSilentExecutors({ now, since })
    let rows = situated(db)
      .clearSelect()
      .select("r.id")
      .select(sql<number>`case when r.waiting_reason is null then 1 else 0 end`.as("is_unserved"))
      .where("r.finished_at", "is", null)
      .where("r.status", "in", claimableStatuses)
      .where("r.claim_id", "is", null)
      .where(
        sql<boolean>`((r.waiting_reason is null and ${waitsSince(dialect)} <= ${since}
          and ${isNext(now)} and ${hasConfiguration} and ${silent})
        or (r.waiting_reason is not null and not ${silent}))`,
      )
    if (id !== undefined) rows = rows.where("r.id", "=", id)
    const found = await this.#session.queryMany(rows.orderBy("r.created_at").orderBy("r.id").limit(limit))
    return found.map((row) => ({ id: row.id as RunId, isUnserved: row.is_unserved === 1 }))
  }

  async needsConfiguration(id: ConfigurationVersionId): Promise<boolean> {
    return (await this.#session.queryOne(unfinishedWith, { id })) !== undefined
  }

  async usesConfiguration({ id, workspaceId }: Pick<ConfigurationVersion, "id" | "workspaceId">): Promise<boolean> {
    const query = this.#session.db
      .selectFrom("runs")
      .select("id")
      .where("workspace_id", "=", workspaceId)
      .where("configuration_version_id", "=", id)
      .limit(1)
    return (await this.#session.queryOne(query)) !== undefined
  }

  async hasAny(workspaceId: WorkspaceId): Promise<boolean> {
    return (await this.#session.queryOne(anyOf, { workspaceId })) !== undefined
  }

  #page<DB, TB extends keyof DB>(query: SelectQueryBuilder<DB, TB, RunRow>, page: PageRequest): Promise<Page<Run>> {
    const ordered = query.orderBy(sql`r.created_at`, "desc").orderBy(sql`r.id`, "desc")
    return selectPage(this.#session, ordered, page, (row) => this.#runOf(row))
  }

  async measured(workspaceId: WorkspaceId, count: number): Promise<readonly Run[]> {
    const rows = await this.#session.queryMany(
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
    return rows.map((row) => this.#runOf(row))
  }

  async before({ id, workspaceId, organizationId, createdAt }: Run): Promise<readonly Run[]> {
    const rows = await this.#session.queryMany(
      this.#session.db
        .selectFrom("runs")
        .select(columns)
        // Without the organization, the index of unfinished runs could not be used.
        .where("organization_id", "=", organizationId)
        .where("finished_at", "is", null)
        .where("workspace_id", "=", workspaceId)
        .where("status", "=", "pending")
        .where("plan_only", "=", 0)
        .where("save_plan", "=", 0)
        .where(sql<boolean>`(created_at, id) < (${createdAt}, ${id})`)
        .orderBy("created_at")
        .orderBy("id"),
    )
    return rows.map((row) => this.#runOf(row))
  }

  async findComment(id: string): Promise<RunComment | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("run_comments").select(commentColumns).where("id", "=", id),
    )
    return row && commentOf(row)
  }

  comments(runId: RunId, page: PageRequest): Promise<Page<RunComment>> {
    const query = this.#session.db
      .selectFrom("run_comments")
      .select(commentColumns)
      .where("run_id", "=", runId)
      .orderBy("created_at")
      .orderBy("id")
    return selectPage(this.#session, query, page, commentOf)
  }

  async insertComment({ id, runId, body, createdAt, createdBy }: RunComment): Promise<void> {
    const row: RunCommentRow = {
      id,
      run_id: runId,
      body,
      created_at: createdAt,
      created_by_kind: createdBy?.kind ?? null,
      created_by_id: createdBy?.id ?? null,
    }
    await this.#session.execute(this.#session.db.insertInto("run_comments").values(row))
  }

  async findEvent(id: string): Promise<RunEvent | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("run_events").select(eventColumns).where("id", "=", id),
    )
    return row && eventOf(row)
  }

  async events(runId: RunId): Promise<readonly RunEvent[]> {
    const rows = await this.#session.queryMany(
      this.#session.db
        .selectFrom("run_events")
        .select(eventColumns)
        .where("run_id", "=", runId)
        .orderBy("number")
        .orderBy("id"),
    )
    return rows.map(eventOf)
  }

  async insertEvent(
    { id, runId, action, description, createdAt, actor, commentId }: RunEvent,
    number: number,
  ): Promise<void> {
    const row: RunEventRow = {
      id,
      run_id: runId,
      number,
      action,
      description,
      created_at: createdAt,
      actor_kind: actor?.kind ?? null,
      actor_id: actor?.id ?? null,
      comment_id: commentId,
    }
    await this.#session.execute(this.#session.db.insertInto("run_events").values(row))
  }

  async insert(run: Run): Promise<void> {
    await this.#session.execute(this.#session.db.insertInto("runs").values(this.#rowOf(run)))
  }

  async save(run: Run): Promise<void> {
    const { id, variables_sealed: _unchanged, ...row } = this.#rowOf(run)
    const { db } = this.#session
    await this.#session.execute(db.updateTable("runs").set(row).where("id", "=", id))
    await this.#session.execute(
      db
        .updateTable("workspaces")
        .set({ current_run_status: run.status })
        .where("id", "=", run.workspaceId)
        .where("current_run_id", "=", id),
    )
  }

  async makeCurrent(run: Run): Promise<void> {
    await this.#session.execute(
      this.#session.db
        .updateTable("workspaces")
        .set({ current_run_id: run.id, current_run_status: run.status, current_run_created_at: run.createdAt })
        .where("id", "=", run.workspaceId),
    )
  }

  #runOf(row: RunRow): Run {
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
      refresh: row.refresh === 1,
      savePlan: row.save_plan === 1,
      allowEmptyApply: row.allow_empty_apply === 1,
      allowConfigGeneration: row.allow_config_generation === 1,
      engineVersion: row.engine_version,
      targetAddrs: JSON.parse(row.target_addrs) as readonly string[],
      replaceAddrs: JSON.parse(row.replace_addrs) as readonly string[],
      variables: this.#variablesOf(row),
      planCounts: changesOf(row.plan_counts),
      applyCounts: changesOf(row.apply_counts),
      hasChanges: row.has_changes === 1,
      createdAt: row.created_at,
      createdBy: actorIn(row.created_by_kind, row.created_by_id),
      confirmedBy: actorIn(row.confirmed_by_kind, row.confirmed_by_id),
      statusTimestamps: JSON.parse(row.status_timestamps) as Run["statusTimestamps"],
      configurationVersionId: row.configuration_version_id as ConfigurationVersionId | null,
      planId: row.plan_id,
      applyId: row.apply_id,
      planDurationMs: row.plan_duration_ms,
      applyDurationMs: row.apply_duration_ms,
      policyFailed: row.policy_failed === 1,
      finishedAt: row.finished_at,
      claim: claimOf(row),
      cancelRequestedAt: row.cancel_requested_at,
      inputStateVersionId: row.input_state_version_id as StateVersionId | null,
      commentIds: idsIn(row.comment_ids),
      eventIds: idsIn(row.event_ids),
      waitingReason: row.waiting_reason,
      waitRecordedAt: row.wait_recorded_at,
    }
  }

  #rowOf(run: Run): RunRow {
    const { claim } = run
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
      confirmed_by_kind: run.confirmedBy?.kind ?? null,
      confirmed_by_id: run.confirmedBy?.id ?? null,
      status_timestamps: JSON.stringify(run.statusTimestamps),
      configuration_version_id: run.configurationVersionId,
      plan_id: run.planId,
      apply_id: run.applyId,
      plan_duration_ms: run.planDurationMs,
      apply_duration_ms: run.applyDurationMs,
      policy_failed: run.policyFailed ? 1 : 0,
      finished_at: run.finishedAt,
      operation: operationOf(run),
      refresh: run.refresh ? 1 : 0,
      save_plan: run.savePlan ? 1 : 0,
      allow_empty_apply: run.allowEmptyApply ? 1 : 0,
      allow_config_generation: run.allowConfigGeneration ? 1 : 0,
      engine_version: run.engineVersion,
      target_addrs: JSON.stringify(run.targetAddrs),
      replace_addrs: JSON.stringify(run.replaceAddrs),
      variables_sealed: this.#sealVariables(run),
      plan_counts: run.planCounts && JSON.stringify(run.planCounts),
      apply_counts: run.applyCounts && JSON.stringify(run.applyCounts),
      claim_id: claim?.id ?? null,
      claimed_by_kind: claim?.by.kind ?? null,
      claimed_by_id: claim?.by.id ?? null,
      claimed_by_name: claim?.name ?? null,
      claimed_at: claim?.claimedAt ?? null,
      claim_expires_at: claim?.expiresAt ?? null,
      claim_lease_ms: claim?.leaseMs ?? null,
      cancel_requested_at: run.cancelRequestedAt,
      input_state_version_id: run.inputStateVersionId,
      comment_ids: run.commentIds.length === 0 ? null : JSON.stringify(run.commentIds),
      event_ids: run.eventIds.length === 0 ? null : JSON.stringify(run.eventIds),
      waiting_reason: run.waitingReason,
      wait_recorded_at: run.waitRecordedAt,
    }
  }

  #sealVariables({ id, variables }: Run): Uint8Array | null {
    return variables.length === 0
      ? null
      : this.#sealer.seal(sealPaths.runVariables(id), Buffer.from(JSON.stringify(variables)))
  }

  #variablesOf({ id, variables_sealed: sealed }: RunRow): readonly RunVariable[] {
    if (sealed === null) return []
    const text = Buffer.from(this.#sealer.open(sealPaths.runVariables(id), sealed)).toString()
    return JSON.parse(text) as readonly RunVariable[]
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
  "confirmed_by_kind",
  "confirmed_by_id",
  "status_timestamps",
  "configuration_version_id",
  "plan_id",
  "apply_id",
  "plan_duration_ms",
  "apply_duration_ms",
  "policy_failed",
  "finished_at",
  "operation",
  "refresh",
  "save_plan",
  "allow_empty_apply",
  "allow_config_generation",
  "engine_version",
  "target_addrs",
  "replace_addrs",
  "variables_sealed",
  "plan_counts",
  "apply_counts",
  "claim_id",
  "claimed_by_kind",
  "claimed_by_id",
  "claimed_by_name",
  "claimed_at",
  "claim_expires_at",
  "claim_lease_ms",
  "cancel_requested_at",
  "input_state_version_id",
  "comment_ids",
  "event_ids",
  "waiting_reason",
  "wait_recorded_at",
] as const satisfies readonly (keyof RunRow)[]
const prefixed = columns.map((column) => `r.${column}` as const)

/** Selects runs joined with the workspace, project and organization, whose settings decide where a run executes. */
const situated = (db: Kysely<Tables>) =>
  db
    .selectFrom("runs as r")
    .innerJoin("workspaces as w", "w.id", "r.workspace_id")
    .innerJoin("projects as p", "p.id", "w.project_id")
    .innerJoin("organizations as o", "o.id", "w.organization_id")
    .select(prefixed)
/** Selects the unfinished runs of an organization, through the index of unfinished runs. */
const inQueue = ({ db, dialect }: QueryRunner, visibility: Visibility) =>
  db
    .selectFrom("runs as r")
    .innerJoin("workspaces as w", "w.id", "r.workspace_id")
    .where("r.organization_id", "=", visibility.organizationId)
    .where("r.finished_at", "is", null)
    .where(visible(dialect, visibility))
    .where(among(dialect, sql.ref("r.status"), queueStatuses))
const effectiveMode = sql`case when w.overwrites_execution_mode = 1 then w.execution_mode
  else coalesce(p.default_execution_mode, o.default_execution_mode) end`
const effectivePool = sql`coalesce(case when w.overwrites_agent_pool = 1 then w.agent_pool_id end,
  p.default_agent_pool_id, o.default_agent_pool_id)`

/** Tells whether a run may execute now. Runs that need the workspace lock start when it is free, the longest waiting first. */
const isNext = (now: Instant) => sql<boolean>`(r.status <> 'pending' or r.plan_only = 1 or r.save_plan = 1
  or ((w.locked_at is null or w.lock_ends_at <= ${now}) and not exists (select 1 from runs as earlier
    where earlier.workspace_id = r.workspace_id and earlier.finished_at is null and earlier.status = 'pending'
      and earlier.plan_only = 0 and earlier.save_plan = 0
      and (earlier.created_at, earlier.id) < (r.created_at, r.id))))`

/** Tells whether the configuration of a run needs no upload. */
const hasConfiguration = sql<boolean>`(r.configuration_version_id is null or exists (select 1 from configuration_versions as cv
  where cv.id = r.configuration_version_id and (cv.status in ('uploaded', 'archived')
    or cv.ingress_attributes is not null or cv.readme_id is not null)))`

/** Instant at which a run reached its present status. */
const waitsSince = (dialect: DialectName) =>
  dialect === "sqlite"
    ? sql`coalesce(json_extract(r.status_timestamps, '$.' || r.status), r.created_at)`
    : sql`coalesce((r.status_timestamps::json ->> r.status)::bigint, r.created_at)`

/**
 * Tells whether no executor that could take the run was seen. An executor with a live claim was, also if it does not search for other
 * runs. A last claim ahead of `now` was recorded by a server whose clock was ahead.
 */
const hasSilentExecutors = ({ now, since }: Pick<WaitQuery, "now" | "since">) => {
  const isRecent = (lastSeenAt: RawBuilder<unknown>) =>
    sql`coalesce(${lastSeenAt}, 0) > ${since} and ${lastSeenAt} <= ${now + minuteMs}`
  const hasClaim = (claimant: RawBuilder<unknown>) => sql`exists (select 1 from runs as claimed
    where claimed.organization_id = r.organization_id and claimed.finished_at is null
      and claimed.claim_expires_at > ${now} and ${claimant})`
  return sql<boolean>`(${effectiveMode} in ('remote', 'agent')
    and not exists (select 1 from agent_pools where agent_pools.organization_id = r.organization_id
      and (${effectiveMode} = 'remote' or agent_pools.id = ${effectivePool})
      and ${admitted(sql.ref("w.id"), sql.ref("w.project_id"))}
      and ((${isRecent(sql`agent_pools.agent_seen_at`)})
        or ${hasClaim(sql`claimed.claimed_by_kind = 'agent-pools' and claimed.claimed_by_id = agent_pools.id`)}))
    and not (${effectiveMode} = 'remote' and ((${isRecent(sql`o.executor_seen_at`)})
      or ${hasClaim(sql`claimed.claimed_by_kind in ('users', 'teams')`)})))`
}

/** Builds the condition of a run query on rows of `runs as r`. */
function matching(dialect: DialectName, query: RunQuery): RawBuilder<boolean> {
  const { statuses, sources, operations, unfinished, user, commit, text } = query
  const conditions = [sql<boolean>`true`]
  const one = (column: string, values: readonly string[]) =>
    conditions.push(among(dialect, sql.ref(`r.${column}`), values))
  if (statuses !== undefined) one("status", statuses)
  if (sources !== undefined) one("source", sources)
  if (operations !== undefined) one("operation", operations)
  if (unfinished !== undefined)
    conditions.push(unfinished ? sql<boolean>`r.finished_at is null` : sql<boolean>`r.finished_at is not null`)
  if (user !== undefined) conditions.push(byUser(dialect, user))
  if (commit !== undefined) conditions.push(byCommit(dialect, commit))
  // A search by user or by commit replaces the general search, as in HCP Terraform.
  if (text !== undefined && user === undefined && commit === undefined)
    conditions.push(
      sql<boolean>`(r.id = ${text} or ${containing(dialect, sql`lower(r.message)`, text.toLowerCase())}
        or ${byUser(dialect, text)} or ${byCommit(dialect, text)})`,
    )
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

const byId = statement((db, { id }: { id: string }) => db.selectFrom("runs").select(columns).where("id", "=", id))
const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("runs")
    .select(columns)
    .where(among(dialect, sql.ref("id"), ids)),
)
const byClaim = statement((db, { claimId }: { claimId: string }) =>
  db.selectFrom("runs").select(columns).where("claim_id", "=", claimId),
)
const anyOf = statement((db, { workspaceId }: { workspaceId: string }) =>
  db.selectFrom("runs").select("id").where("workspace_id", "=", workspaceId).limit(1),
)
const unfinishedWith = statement((db, { id }: { id: string }) =>
  db
    .selectFrom("runs as r")
    .innerJoin("configuration_versions as cv", "cv.id", "r.configuration_version_id")
    .select("r.id")
    .where("cv.id", "=", id)
    // Without the organization, the index of unfinished runs could not be used.
    .whereRef("r.organization_id", "=", "cv.organization_id")
    .where("r.finished_at", "is", null)
    .limit(1),
)
const byPlan = statement((db, { planId }: { planId: string }) =>
  db.selectFrom("runs").select(columns).where("plan_id", "=", planId),
)
const byApply = statement((db, { applyId }: { applyId: string }) =>
  db.selectFrom("runs").select(columns).where("apply_id", "=", applyId),
)

const byUser = (dialect: DialectName, user: string) => byIngress(dialect, "senderUsername", user)
const byCommit = (dialect: DialectName, commit: string) => byIngress(dialect, "commitSha", commit)

/** Builds the condition for runs whose configuration version has this value in its VCS ingress attributes. */
function byIngress(dialect: DialectName, member: "senderUsername" | "commitSha", value: string): RawBuilder<boolean> {
  const column =
    dialect === "sqlite"
      ? sql`json_extract(cv.ingress_attributes, ${`$.${member}`})`
      : sql`cv.ingress_attributes::json ->> ${sql.lit(member)}`
  return sql<boolean>`exists (select 1 from configuration_versions as cv
    where cv.id = r.configuration_version_id and ${column} = ${value})`
}

const commentColumns = ["id", "run_id", "body", "created_at", "created_by_kind", "created_by_id"] as const

const commentOf = (row: RunCommentRow): RunComment => ({
  id: row.id,
  runId: row.run_id as RunId,
  body: row.body,
  createdAt: row.created_at,
  createdBy: actorIn(row.created_by_kind, row.created_by_id),
})

const eventColumns = [
  "id",
  "run_id",
  "number",
  "action",
  "description",
  "created_at",
  "actor_kind",
  "actor_id",
  "comment_id",
] as const satisfies readonly (keyof RunEventRow)[]

const eventOf = (row: RunEventRow): RunEvent => ({
  id: row.id,
  runId: row.run_id as RunId,
  action: row.action as RunAction,
  description: row.description,
  createdAt: row.created_at,
  actor: actorIn(row.actor_kind, row.actor_id),
  commentId: row.comment_id,
})

const idsIn = (text: string | null): readonly string[] => (text === null ? [] : (JSON.parse(text) as readonly string[]))

const changesOf = (text: string | null): ResourceChanges | null =>
  text === null ? null : (JSON.parse(text) as ResourceChanges)

function claimOf(row: RunRow): RunClaim | null {
  if (row.claim_id === null) return null
  return {
    id: row.claim_id,
    by: { kind: row.claimed_by_kind as RunExecutor["kind"], id: row.claimed_by_id ?? "" },
    name: row.claimed_by_name ?? "",
    claimedAt: row.claimed_at ?? 0,
    expiresAt: row.claim_expires_at ?? 0,
    leaseMs: row.claim_lease_ms ?? 0,
  }
}

const actorIn = (kind: string | null, id: string | null): Actor | null =>
  kind === null || id === null ? null : { kind: kind as Actor["kind"], id }
