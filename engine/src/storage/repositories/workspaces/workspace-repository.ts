import { invalid } from "../../../core/errors.ts"
import type { OrganizationId, TeamId, WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Sealer } from "../../../core/sealing.ts"
import { type Clock, dayMs, hourMs, type Instant } from "../../../core/time.ts"
import { type ExecutionMode, foldName, type Plan } from "../../../organizations/organization.ts"
import type { LockChange } from "../../../workspaces/lock/lock.ts"
import type {
  Actor,
  Lock,
  SituatedWorkspace,
  VcsRepo,
  Workspace,
  WorkspaceRef,
} from "../../../workspaces/workspace/workspace.ts"
import type { Visibility, WorkspaceQuery } from "../../../workspaces/workspace/workspace-query.ts"
import type {
  GrantedWorkspace,
  ReferencedIds,
  ReferenceFacts,
  WorkspaceOutline,
  WorkspaceRelated,
  WorkspaceRepository,
} from "../../../workspaces/workspace/workspace-repository.ts"
import type { EventKind } from "../../../events/feed/event.ts"
import { SqlAccessRepository, grantOf, grantsInCell } from "./access-repository.ts"
import { among } from "../../sql/dialect.ts"
import { type EventRecording, SqlEventRepository } from "../events/event-repository.ts"
import { indexName, removeName } from "../../sql/name-search.ts"
import { batchPart, type QueryRunner, statement, UniqueViolation } from "../../sql/query-runner.ts"
import type { Flag, Tables, WorkspaceRow } from "../../schema/tables.ts"
import { listWorkspaceIds } from "./workspace-list.ts"
import { type Kysely, type RawBuilder, sql } from "kysely"

/** Ends these expired locks and writes the consequences, in the transaction that found them. */
export type ExpireLocks = (ids: readonly WorkspaceId[], now: Instant) => Promise<void>

export class SqlWorkspaceRepository implements WorkspaceRepository {
  readonly #session: QueryRunner
  readonly #clock: Clock
  readonly #recording: EventRecording
  readonly #expireLocks: ExpireLocks | undefined
  /** Workspaces that this unit of work has read one by one, and whether it has written their rows. */
  readonly #isWritten = new Map<string, boolean>()

  constructor(
    session: QueryRunner,
    _sealer: Sealer,
    clock: Clock,
    recording: EventRecording,
    expireLocks?: ExpireLocks,
  ) {
    this.#session = session
    this.#clock = clock
    this.#recording = recording
    this.#expireLocks = expireLocks
  }

  async find(ref: WorkspaceRef): Promise<SituatedWorkspace | undefined> {
    const [row] = await this.#current(async () => {
      const found =
        "id" in ref
          ? await this.#session.queryOne(byId, { id: ref.id })
          : await this.#session.queryOne(byName, {
              organization: foldName(ref.organization),
              name: foldName(ref.name),
            })
      return found === undefined ? [] : [found]
    })
    if (row === undefined) return undefined
    this.guard([row.id as WorkspaceId])
    return this.#situated(row)
  }

  async findGranted(ref: WorkspaceRef, teams: readonly TeamId[]): Promise<GrantedWorkspace | undefined> {
    // On SQLite, one query is no faster, and its rows could not be cached and reused.
    if (this.#session.dialect === "sqlite") {
      const workspace = await this.find(ref)
      if (workspace === undefined) return undefined
      const grants = await new SqlAccessRepository(this.#session).grantsOn([workspace.id], teams)
      return { workspace, grants: grants.get(workspace.id) ?? [] }
    }
    const [row] = await this.#current(async () => {
      const found =
        "id" in ref
          ? await this.#session.queryOne(byIdGranted, { id: ref.id, teams })
          : await this.#session.queryOne(byNameGranted, {
              organization: foldName(ref.organization),
              name: foldName(ref.name),
              teams,
            })
      return found === undefined ? [] : [found]
    })
    if (row === undefined) return undefined
    this.guard([row.id as WorkspaceId])
    return { workspace: this.#situated(row), grants: row.grants.map(grantOf) }
  }

  guard(ids: readonly WorkspaceId[]): void {
    for (const id of ids) if (!this.#isWritten.has(id)) this.#isWritten.set(id, false)
  }

  /**
   * Writes the rows of the workspaces that the transaction is about. Of two concurrent transactions on the same workspace, one is therefore
   * retried, whatever they read or write and whatever their isolation. Transactions that only share an index page do not conflict.
   */
  async guardFound(): Promise<void> {
    if (this.#session.dialect === "sqlite" || !this.#session.hasWritten) return
    const ids = [...this.#isWritten].flatMap(([id, isWritten]) => (isWritten ? [] : [id]))
    if (ids.length > 0) await this.#session.execute(guardWorkspaces, { ids: ids.toSorted() })
  }

  async findExpired(id: WorkspaceId, now: Instant): Promise<SituatedWorkspace | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row !== undefined && hasExpiredLock(row, now) ? makeSituated(row) : undefined
  }

  async expiredLocks(now: Instant, limit: number): Promise<readonly WorkspaceId[]> {
    const rows = await this.#session.queryMany(expiredLocks, { now, limit })
    return rows.map(({ id }) => id as WorkspaceId)
  }

  /** Reads rows. A writing transaction first ends the expired locks among them and reads the rows again. */
  async #current<Row extends SituatedRow>(read: () => Promise<readonly Row[]>): Promise<readonly Row[]> {
    const rows = await read()
    if (this.#expireLocks === undefined || rows.every((row) => row.lock_ends_at === null)) return rows
    const now = this.#clock.now()
    const ids = rows.filter((row) => hasExpiredLock(row, now)).map(({ id }) => id as WorkspaceId)
    if (ids.length === 0) return rows
    await this.#expireLocks(ids, now)
    return read()
  }

  /** Converts a row. An expired lock counts as unlocked. */
  #situated(row: SituatedRow): SituatedWorkspace {
    const workspace = makeSituated(row)
    return row.lock_ends_at !== null && hasExpiredLock(row, this.#clock.now())
      ? { ...workspace, lock: { held: false } }
      : workspace
  }

  async findMany(ids: readonly WorkspaceId[]): Promise<readonly SituatedWorkspace[]> {
    if (ids.length === 0) return []
    const rows = await this.#current(() => this.#session.queryMany(byIds, { ids }))
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => {
      const row = found.get(id)
      return row === undefined ? [] : [this.#situated(row)]
    })
  }

  async outlines(ids: readonly WorkspaceId[]): Promise<readonly WorkspaceOutline[]> {
    if (ids.length === 0) return []
    const rows = await this.#session.queryMany(outlinesByIds, { ids })
    return rows.map((row) => ({
      id: row.id as WorkspaceId,
      organizationId: row.organization_id as OrganizationId,
      name: row.name,
      organization: { allowForceDeleteWorkspaces: row.allow_force_delete_workspaces === 1 },
    }))
  }

  async related(
    workspaces: readonly Pick<Workspace, "id" | "currentStateVersionId">[],
  ): Promise<ReadonlyMap<WorkspaceId, WorkspaceRelated>> {
    const [only] = workspaces
    if (only !== undefined && workspaces.length === 1) {
      const { id, currentStateVersionId } = only
      const rows = await this.#session.queryMany(relatedToOne, { id, stateVersionId: currentStateVersionId ?? "" })
      return new Map([[id, groupRelated(rows)]])
    }
    const ids = workspaces.map(({ id }) => id)
    const stateVersionIds = workspaces.flatMap(({ currentStateVersionId: id }) => (id === null ? [] : [id]))
    const rows = Map.groupBy(
      await this.#session.queryMany(relatedToMany, { ids, stateVersionIds }),
      ({ owner }): string => owner,
    )
    return new Map(
      workspaces.map(({ id, currentStateVersionId }) => [
        id,
        groupRelated([...(rows.get(id) ?? []), ...(rows.get(currentStateVersionId ?? "") ?? [])]),
      ]),
    )
  }

  async list(query: WorkspaceQuery, visibility: Visibility, page: PageRequest): Promise<Page<SituatedWorkspace>> {
    const ids = await this.ids(query, visibility, page)
    return { ...ids, items: await this.findMany(ids.items) }
  }

  ids(query: WorkspaceQuery, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>> {
    return listWorkspaceIds(this.#session, query, visibility, page)
  }

  async references(organizationId: OrganizationId, ids: ReferencedIds): Promise<ReferenceFacts> {
    const row = await this.#session.queryOne(referencesIn, { organizationId, ...ids })
    return {
      agentPoolExists: row?.agent_pool_id === ids.agentPoolId,
      oauthTokenExists: row?.oauth_token_id === ids.oauthTokenId,
      appInstallationExists: row?.app_installation_id === ids.appInstallationId,
    }
  }

  async stateIsProcessed(id: WorkspaceId): Promise<boolean> {
    const newest = await this.#session.queryOne(newestStateVersion, { id })
    if (newest === undefined) return true
    return newest.status === "pending" ? false : newest.resources_processed === 1
  }

  async dueForDestruction(now: Instant, after: string, limit: number): Promise<readonly WorkspaceId[]> {
    const rows = await this.#session.queryMany(dueForDestruction, { now, after, limit })
    return rows.map(({ id }) => id as WorkspaceId)
  }

  async insert(workspace: Workspace): Promise<void> {
    await rejectTakenName(() =>
      this.#session.execute(this.#session.db.insertInto("workspaces").values(rowOf(workspace))),
    )
    this.#isWritten.set(workspace.id, true)
    await indexName(this.#session, workspace.id)
  }

  async save(before: Workspace, after: Workspace): Promise<void> {
    const changes = difference(rowOf(before), rowOf(after))
    if (Object.keys(changes).length === 0) return
    await rejectTakenName(() =>
      this.#session.execute(this.#session.db.updateTable("workspaces").set(changes).where("id", "=", after.id)),
    )
    this.#isWritten.set(after.id, true)
    if (before.name !== after.name) {
      await removeName(this.#session, after.id)
      await indexName(this.#session, after.id)
    }
  }

  async saveLock(id: WorkspaceId, { lock, lockNumber }: LockChange): Promise<void> {
    await this.#session.execute(updateLock, { id, ...lockColumns(lock), lock_number: lockNumber })
    this.#isWritten.set(id, true)
  }

  async changeLock(
    workspace: SituatedWorkspace,
    { lock, lockNumber }: LockChange,
    kind: EventKind,
    changed: readonly string[],
  ): Promise<WorkspaceRelated> {
    const { id, currentStateVersionId } = workspace
    const rows = await this.#session.executeBatch({
      changes: [
        batchPart(updateLock, { id, ...lockColumns(lock), lock_number: lockNumber }),
        ...new SqlEventRepository(this.#session, this.#recording).appending({ kind, workspace, changed }),
      ],
      query: batchPart(relatedToOne, { id, stateVersionId: currentStateVersionId ?? "" }),
    })
    this.#isWritten.set(id, true)
    return groupRelated(rows)
  }

  async remove(id: WorkspaceId): Promise<void> {
    await removeName(this.#session, id)
    await this.#session.execute(removePolicy, { id })
    await this.#session.execute(this.#session.db.deleteFrom("workspaces").where("id", "=", id))
    this.#isWritten.set(id, true)
  }
}

const situatedRows = (db: Kysely<Tables>) =>
  db
    .selectFrom("workspaces as w")
    .innerJoin("organizations as o", "o.id", "w.organization_id")
    .innerJoin("projects as p", "p.id", "w.project_id")
    .leftJoin("oauth_tokens as ot", "ot.id", "w.oauth_token_id")
    .leftJoin("oauth_clients as oc", "oc.id", "ot.oauth_client_id")
    .leftJoin("app_installations as ai", "ai.id", "w.app_installation_id")
    .leftJoin("configuration_versions as cv", "cv.id", "w.current_configuration_version_id")
    .leftJoin("retention_policies as rp", (join) =>
      join.onRef("rp.target_id", "=", "w.id").on("rp.target_kind", "=", "workspace"),
    )
    .select(workspaceColumns.map((column) => `w.${column}` as const))
    .select([
      "o.name as organization_name",
      "o.default_execution_mode as organization_execution_mode",
      "o.default_agent_pool_id as organization_agent_pool_id",
      "o.remote_operations",
      "o.allow_force_delete_workspaces",
      "o.assessments_enforced",
      "o.plan",
      "p.name as project_name",
      "p.default_execution_mode as project_execution_mode",
      "p.default_agent_pool_id as project_agent_pool_id",
      "p.auto_destroy_activity_duration as project_auto_destroy_activity_duration",
      "oc.name as oauth_client_name",
      "oc.service_provider",
      "oc.http_url",
      "ai.name as app_installation_name",
      "cv.readme_id",
      "rp.id as retention_policy_id",
      "rp.kind as retention_policy_kind",
    ])

/** Time without activity after which a workspace is destroyed: its own setting, or the one that it inherits from its project. */
const idleDuration = sql`case when w.inherits_project_auto_destroy = 1
  then coalesce(p.auto_destroy_activity_duration, w.auto_destroy_activity_duration)
  else w.auto_destroy_activity_duration end`
const lastActivity = sql<number>`case when coalesce(w.current_run_created_at, 0) > w.latest_change_at
  then w.current_run_created_at else w.latest_change_at end`
/** Idle duration in milliseconds, converted from forms such as `14d` and `36h`. */
const idleMs = sql`cast(substr(${idleDuration}, 1, length(${idleDuration}) - 1) as bigint)
  * case when ${idleDuration} like '%d' then ${sql.lit(dayMs)} else ${sql.lit(hourMs)} end`

const dueForDestruction = statement((db, { now, after, limit }: { now: Instant; after: string; limit: number }) =>
  db
    .selectFrom("workspaces as w")
    .innerJoin("projects as p", "p.id", "w.project_id")
    .select("w.id")
    .where("w.id", ">", after)
    .where(
      sql<boolean>`(w.auto_destroy_at <= ${now} or (w.auto_destroy_at is null
        and (w.auto_destroy_activity_duration is not null
          or w.project_id in (select id from projects where auto_destroy_activity_duration is not null))
        and ${idleDuration} is not null
        and (w.auto_destroy_settled_at is null or w.auto_destroy_settled_at <> ${lastActivity})
        and ${lastActivity} + ${idleMs} <= ${now}))`,
    )
    .orderBy("w.id")
    .limit(limit),
)

const referencesIn = statement((db, ids: ReferencedIds & { readonly organizationId: string }) =>
  db.selectNoFrom((select) => [
    select
      .selectFrom("agent_pools")
      .select("id")
      .where("id", "=", ids.agentPoolId)
      .where("organization_id", "=", ids.organizationId)
      .as("agent_pool_id"),
    select
      .selectFrom("oauth_tokens")
      .select("id")
      .where("id", "=", ids.oauthTokenId)
      .where("organization_id", "=", ids.organizationId)
      .as("oauth_token_id"),
    select
      .selectFrom("app_installations")
      .select("id")
      .where("id", "=", ids.appInstallationId)
      .where("organization_id", "=", ids.organizationId)
      .as("app_installation_id"),
  ]),
)

/** Newest state version. Discarded versions do not count. */
const newestStateVersion = statement((db, { id }: { readonly id: string }) =>
  db
    .selectFrom("state_versions")
    .select(["status", "resources_processed"])
    .where("workspace_id", "=", id)
    .where("status", "!=", "discarded")
    .orderBy("created_at", "desc")
    .orderBy("serial", "desc")
    .limit(1),
)

const workspaceColumns = [
  "id",
  "organization_id",
  "project_id",
  "name",
  "name_folded",
  "name_reversed",
  "description",
  "created_at",
  "updated_at",
  "latest_change_at",
  "environment",
  "source",
  "source_name",
  "source_url",
  "execution_mode",
  "agent_pool_id",
  "overwrites_execution_mode",
  "overwrites_agent_pool",
  "allow_destroy_plan",
  "assessments_enabled",
  "auto_apply",
  "auto_apply_run_trigger",
  "auto_destroy_at",
  "auto_destroy_status",
  "auto_destroy_settled_at",
  "auto_destroy_activity_duration",
  "inherits_project_auto_destroy",
  "file_triggers_enabled",
  "global_remote_state",
  "project_remote_state",
  "queue_all_runs",
  "speculative_enabled",
  "structured_run_output_enabled",
  "engine_version",
  "trigger_patterns",
  "trigger_prefixes",
  "working_directory",
  "vcs_repo",
  "oauth_token_id",
  "app_installation_id",
  "ssh_key_id",
  "locked_at",
  "locked_by_kind",
  "locked_by_id",
  "locked_reason",
  "lock_ends_at",
  "lock_ttl_ms",
  "lock_number",
  "current_run_id",
  "current_run_status",
  "current_run_created_at",
  "current_state_version_id",
  "current_configuration_version_id",
  "current_assessment_result_id",
  "last_assessment_result_at",
  "resource_count",
  "apply_duration_average_ms",
  "plan_duration_average_ms",
  "policy_check_failures",
  "run_failures",
  "kpis_runs_count",
] as const satisfies readonly (keyof WorkspaceRow)[]

const byId = statement((db, { id }: { id: string }) => situatedRows(db).where("w.id", "=", id))
const byName = statement((db, { organization, name }: { organization: string; name: string }) =>
  situatedRows(db).where("o.name_folded", "=", organization).where("w.name_folded", "=", name),
)
const grantsOnIt = (teams: readonly string[]) =>
  grantsInCell({ id: "w.id", projectId: "w.project_id" }, teams).as("grants")
const byIdGranted = statement((db, { id, teams }: { id: string; teams: readonly string[] }) =>
  situatedRows(db).select(grantsOnIt(teams)).where("w.id", "=", id),
)
const byNameGranted = statement(
  (db, { organization, name, teams }: { organization: string; name: string; teams: readonly string[] }) =>
    situatedRows(db)
      .select(grantsOnIt(teams))
      .where("o.name_folded", "=", organization)
      .where("w.name_folded", "=", name),
)
const removePolicy = statement((db, { id }: { id: string }) =>
  db.deleteFrom("retention_policies").where("target_kind", "=", "workspace").where("target_id", "=", id),
)
const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  situatedRows(db).where(among(dialect, sql.ref("w.id"), ids)),
)
const outlinesByIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("workspaces as w")
    .innerJoin("organizations as o", "o.id", "w.organization_id")
    .select(["w.id", "w.organization_id", "w.name", "o.allow_force_delete_workspaces"])
    .where(among(dialect, sql.ref("w.id"), ids)),
)
/** Row of a related object. `owner` is the workspace, or the state version that an output belongs to. */
interface RelatedRow {
  readonly owner: string
  readonly kind: "tag" | "variable" | "output"
  readonly text: string
}

interface RelatedConditions {
  /** Conditions on `b` (bindings), `v` (variables) and `o` (outputs). */
  readonly bindings: RawBuilder<boolean>
  readonly variables: RawBuilder<boolean>
  readonly outputs: RawBuilder<boolean>
}

/** Selects all related objects in one query, because a round trip costs more than its execution. */
const relatedRows = ({ bindings, variables, outputs }: RelatedConditions) => sql<RelatedRow>`
  select b.workspace_id as owner, 'tag' as kind, b.key as text, 0 as place, b.key_folded as sorted
    from workspace_bindings as b where ${bindings} and b.tag_id is not null
  union all select v.workspace_id, 'variable', v.id, v.created_at, v.id from variables as v where ${variables}
  union all select o.state_version_id, 'output', o.id, o.position, o.id from state_version_outputs as o where ${outputs}
  order by place, sorted`

interface ManyParameters {
  readonly ids: readonly string[]
  readonly stateVersionIds: readonly string[]
}
const relatedToMany = statement((_db, { ids, stateVersionIds }: ManyParameters, dialect) =>
  relatedRows({
    bindings: among(dialect, sql.ref("b.workspace_id"), ids),
    variables: among(dialect, sql.ref("v.workspace_id"), ids),
    outputs: among(dialect, sql.ref("o.state_version_id"), stateVersionIds),
  }),
)
/** A missing state version is passed as the id "". */
const relatedToOne = statement(
  (_db, { id, stateVersionId }: { readonly id: string; readonly stateVersionId: string }) =>
    relatedRows({
      bindings: sql`b.workspace_id = ${id}`,
      variables: sql`v.workspace_id = ${id}`,
      outputs: sql`o.state_version_id = ${stateVersionId}`,
    }),
)

function groupRelated(rows: readonly RelatedRow[]): WorkspaceRelated {
  const texts = (kind: RelatedRow["kind"]) => rows.filter((row) => row.kind === kind).map(({ text }) => text)
  return { tagNames: texts("tag"), variableIds: texts("variable"), outputIds: texts("output") }
}

const hasExpiredLock = (row: Pick<WorkspaceRow, "lock_ends_at">, now: Instant): boolean =>
  row.lock_ends_at !== null && row.lock_ends_at <= now

const expiredLocks = statement((db, { now, limit }: { now: Instant; limit: number }) =>
  db
    .selectFrom("workspaces")
    .select("id")
    .where("lock_ends_at", "is not", null)
    .where("lock_ends_at", "<=", now)
    .orderBy("lock_ends_at")
    .limit(limit),
)

type LockColumns = Pick<
  WorkspaceRow,
  "locked_at" | "locked_by_kind" | "locked_by_id" | "locked_reason" | "lock_ends_at" | "lock_ttl_ms"
>
/** Changes no value. The row write alone causes the conflict, and no index is touched. */
const guardWorkspaces = statement((db, { ids }: { readonly ids: readonly string[] }, dialect) =>
  db
    .updateTable("workspaces")
    .set({ lock_number: sql<number>`lock_number` })
    .where(among(dialect, sql.ref("id"), ids)),
)

const updateLock = statement((db, change: LockColumns & { id: string; lock_number: number }) =>
  db
    .updateTable("workspaces")
    .set({
      locked_at: change.locked_at,
      locked_by_kind: change.locked_by_kind,
      locked_by_id: change.locked_by_id,
      locked_reason: change.locked_reason,
      lock_ends_at: change.lock_ends_at,
      lock_ttl_ms: change.lock_ttl_ms,
      lock_number: change.lock_number,
    })
    .where("id", "=", change.id),
)

type SituatedRow = Pick<WorkspaceRow, (typeof workspaceColumns)[number]> & {
  organization_name: string
  organization_execution_mode: string
  organization_agent_pool_id: string | null
  remote_operations: Flag | null
  allow_force_delete_workspaces: Flag
  assessments_enforced: Flag
  plan: string
  project_name: string
  project_execution_mode: string | null
  project_agent_pool_id: string | null
  project_auto_destroy_activity_duration: string | null
  oauth_client_name: string | null
  service_provider: string | null
  http_url: string | null
  app_installation_name: string | null
  readme_id: string | null
  retention_policy_id: string | null
  retention_policy_kind: string | null
}

/** Converts a row in one object literal: copying sixty members from one object to another costs more than the query. */
const makeSituated = (row: SituatedRow): SituatedWorkspace => {
  return {
    id: row.id as Workspace["id"],
    organizationId: row.organization_id as Workspace["organizationId"],
    projectId: row.project_id as Workspace["projectId"],
    name: row.name,
    description: row.description,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    latestChangeAt: row.latest_change_at,
    environment: row.environment,
    source: row.source,
    sourceName: row.source_name,
    sourceUrl: row.source_url,
    executionMode: row.execution_mode as ExecutionMode,
    agentPoolId: row.agent_pool_id,
    settingOverwrites: {
      executionMode: row.overwrites_execution_mode === 1,
      agentPool: row.overwrites_agent_pool === 1,
    },
    allowDestroyPlan: row.allow_destroy_plan === 1,
    assessmentsEnabled: row.assessments_enabled === 1,
    autoApply: row.auto_apply === 1,
    autoApplyRunTrigger: row.auto_apply_run_trigger === 1,
    autoDestroyAt: row.auto_destroy_at,
    autoDestroyStatus: row.auto_destroy_status,
    autoDestroySettledAt: row.auto_destroy_settled_at,
    autoDestroyActivityDuration: row.auto_destroy_activity_duration,
    inheritsProjectAutoDestroy: row.inherits_project_auto_destroy === 1,
    fileTriggersEnabled: row.file_triggers_enabled === 1,
    globalRemoteState: row.global_remote_state === 1,
    projectRemoteState: row.project_remote_state === 1,
    queueAllRuns: row.queue_all_runs === 1,
    speculativeEnabled: row.speculative_enabled === 1,
    structuredRunOutputEnabled: row.structured_run_output_enabled === 1,
    engineVersion: row.engine_version,
    triggerPatterns: textsOf(row.trigger_patterns),
    triggerPrefixes: textsOf(row.trigger_prefixes),
    workingDirectory: row.working_directory,
    vcsRepo: row.vcs_repo === null ? null : vcsRepoOf(row),
    sshKeyId: row.ssh_key_id,
    lock: lockOf(row),
    lockNumber: row.lock_number,
    currentRunId: row.current_run_id as Workspace["currentRunId"],
    currentStateVersionId: row.current_state_version_id as Workspace["currentStateVersionId"],
    currentConfigurationVersionId: row.current_configuration_version_id as Workspace["currentConfigurationVersionId"],
    currentAssessmentResultId: row.current_assessment_result_id,
    lastAssessmentResultAt: row.last_assessment_result_at,
    resourceCount: row.resource_count,
    metrics: {
      applyDurationAverageMs: row.apply_duration_average_ms,
      planDurationAverageMs: row.plan_duration_average_ms,
      policyCheckFailures: row.policy_check_failures,
      runFailures: row.run_failures,
      runsCount: row.kpis_runs_count,
    },
    currentRunAt: row.current_run_created_at,
    organization: {
      name: row.organization_name,
      defaultExecutionMode: row.organization_execution_mode as ExecutionMode,
      defaultAgentPoolId: row.organization_agent_pool_id,
      remoteOperations: row.remote_operations === 1 ? "on" : "off",
      allowForceDeleteWorkspaces: row.allow_force_delete_workspaces === 1,
      assessmentsEnforced: row.assessments_enforced === 1,
      plan: row.plan as Plan,
    },
    project: {
      name: row.project_name,
      defaultExecutionMode: row.project_execution_mode as ExecutionMode | null,
      defaultAgentPoolId: row.project_agent_pool_id,
      autoDestroyActivityDuration: row.project_auto_destroy_activity_duration,
    },
    vcsConnection: connectionOf(row),
    readmeId: row.readme_id,
    retentionPolicy:
      row.retention_policy_id === null
        ? null
        : { id: row.retention_policy_id, kind: row.retention_policy_kind as "delete-older" | "dont-delete" },
  }
}

const textsOf = (json: string): readonly string[] => (json === "[]" ? [] : (JSON.parse(json) as string[]))

function connectionOf(row: SituatedRow): SituatedWorkspace["vcsConnection"] {
  if (row.service_provider !== null)
    return { name: row.oauth_client_name, serviceProvider: row.service_provider, httpUrl: row.http_url ?? "" }
  if (row.app_installation_name !== null)
    return { name: row.app_installation_name, serviceProvider: "github_app", httpUrl: "https://github.com" }
  return null
}

/** Returns the columns that are derived from a workspace value. Status and time of the current run are written together with its id. */
function rowOf(workspace: Workspace): Omit<WorkspaceRow, "current_run_status" | "current_run_created_at"> {
  const nameFolded = foldName(workspace.name)
  const { vcsRepo, metrics } = workspace
  return {
    id: workspace.id,
    organization_id: workspace.organizationId,
    project_id: workspace.projectId,
    name: workspace.name,
    name_folded: nameFolded,
    name_reversed: reversed(nameFolded),
    description: workspace.description,
    created_at: workspace.createdAt,
    updated_at: workspace.updatedAt,
    latest_change_at: workspace.latestChangeAt,
    environment: workspace.environment,
    source: workspace.source,
    source_name: workspace.sourceName,
    source_url: workspace.sourceUrl,
    execution_mode: workspace.executionMode,
    agent_pool_id: workspace.agentPoolId,
    overwrites_execution_mode: flag(workspace.settingOverwrites.executionMode),
    overwrites_agent_pool: flag(workspace.settingOverwrites.agentPool),
    allow_destroy_plan: flag(workspace.allowDestroyPlan),
    assessments_enabled: flag(workspace.assessmentsEnabled),
    auto_apply: flag(workspace.autoApply),
    auto_apply_run_trigger: flag(workspace.autoApplyRunTrigger),
    auto_destroy_at: workspace.autoDestroyAt,
    auto_destroy_status: workspace.autoDestroyStatus,
    auto_destroy_settled_at: workspace.autoDestroySettledAt,
    auto_destroy_activity_duration: workspace.autoDestroyActivityDuration,
    inherits_project_auto_destroy: flag(workspace.inheritsProjectAutoDestroy),
    file_triggers_enabled: flag(workspace.fileTriggersEnabled),
    global_remote_state: flag(workspace.globalRemoteState),
    project_remote_state: flag(workspace.projectRemoteState),
    queue_all_runs: flag(workspace.queueAllRuns),
    speculative_enabled: flag(workspace.speculativeEnabled),
    structured_run_output_enabled: flag(workspace.structuredRunOutputEnabled),
    engine_version: workspace.engineVersion,
    trigger_patterns: JSON.stringify(workspace.triggerPatterns),
    trigger_prefixes: JSON.stringify(workspace.triggerPrefixes),
    working_directory: workspace.workingDirectory,
    vcs_repo: vcsRepo === null ? null : JSON.stringify(vcsColumn(vcsRepo)),
    oauth_token_id: vcsRepo?.oauthTokenId ?? null,
    app_installation_id: vcsRepo?.githubAppInstallationId ?? null,
    ssh_key_id: workspace.sshKeyId,
    ...lockColumns(workspace.lock),
    lock_number: workspace.lockNumber,
    current_run_id: workspace.currentRunId,
    current_state_version_id: workspace.currentStateVersionId,
    current_configuration_version_id: workspace.currentConfigurationVersionId,
    current_assessment_result_id: workspace.currentAssessmentResultId,
    last_assessment_result_at: workspace.lastAssessmentResultAt,
    resource_count: workspace.resourceCount,
    apply_duration_average_ms: metrics.applyDurationAverageMs,
    plan_duration_average_ms: metrics.planDurationAverageMs,
    policy_check_failures: metrics.policyCheckFailures,
    run_failures: metrics.runFailures,
    kpis_runs_count: metrics.runsCount,
  }
}

type VcsColumn = Pick<VcsRepo, "identifier" | "branch" | "ingressSubmodules" | "tagsRegex">
const vcsColumn = ({ identifier, branch, ingressSubmodules, tagsRegex }: VcsRepo): VcsColumn => ({
  identifier,
  branch,
  ingressSubmodules,
  tagsRegex,
})

const vcsRepoOf = (row: Pick<WorkspaceRow, "vcs_repo" | "oauth_token_id" | "app_installation_id">): VcsRepo => ({
  ...(JSON.parse(row.vcs_repo ?? "{}") as VcsColumn),
  oauthTokenId: row.oauth_token_id,
  githubAppInstallationId: row.app_installation_id,
})

function lockOf(row: LockColumns): Lock {
  if (row.locked_at === null) return { held: false }
  const by: Actor = { kind: row.locked_by_kind as Actor["kind"], id: row.locked_by_id ?? "" }
  const lock = { held: true, by, reason: row.locked_reason ?? "", since: row.locked_at } as const
  if (row.lock_ends_at === null) return lock
  return { ...lock, end: { at: row.lock_ends_at, ttlMs: row.lock_ttl_ms ?? 0 } }
}

function lockColumns(lock: Lock): LockColumns {
  if (!lock.held) return unlocked
  return {
    locked_at: lock.since,
    locked_by_kind: lock.by.kind,
    locked_by_id: lock.by.id,
    locked_reason: lock.reason,
    lock_ends_at: lock.end?.at ?? null,
    lock_ttl_ms: lock.end?.ttlMs ?? null,
  }
}

const unlocked: LockColumns = {
  locked_at: null,
  locked_by_kind: null,
  locked_by_id: null,
  locked_reason: null,
  lock_ends_at: null,
  lock_ttl_ms: null,
}

const flag = (value: boolean): Flag => (value ? 1 : 0)
const reversed = (text: string): string => Array.from(text).toReversed().join("")

function difference<Row extends object>(before: Row, after: Row): Partial<Row> {
  const changed = Object.entries(after).filter(([name, value]) => before[name as keyof Row] !== value)
  return Object.fromEntries(changed) as Partial<Row>
}

async function rejectTakenName(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (error instanceof UniqueViolation && error.constraint.includes("name"))
      throw invalid([{ field: ["name"], detail: "Name has already been taken" }])
    throw error
  }
}
