import { type Kysely, sql } from "kysely"
import type { OrganizationId, ProjectId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import {
  type CollaboratorAuthPolicy,
  type ExecutionMode,
  foldName,
  type Organization,
  type OrganizationRepository,
  type Plan,
  recordedDefaults,
  type RecordedOrganizationSettings,
} from "../../../organizations/organization.ts"
import {
  initialSiteSettings,
  type SettingsRepository,
  type SiteSettings,
} from "../../../organizations/site-settings.ts"
import type { OrganizationRow, Tables } from "../../schema/tables.ts"
import { among, containing } from "../../sql/dialect.ts"
import { removeNamesOf } from "../../sql/name-search.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import { selectPage } from "../../sql/select-page.ts"
import { nameTaken, rejectTaken } from "../../sql/unique-violations.ts"
import { admitted } from "./agent-pool-repository.ts"

export class SqlOrganizationRepository implements OrganizationRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async findByName(name: string): Promise<Organization | undefined> {
    const row = await this.#session.queryOne(byName, { name: foldName(name) })
    return row && organizationOf(row)
  }

  async find(id: OrganizationId): Promise<Organization | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && organizationOf(row)
  }

  list(
    ids: readonly OrganizationId[] | "all",
    search: string | undefined,
    page: PageRequest,
  ): Promise<Page<Organization>> {
    const { db, dialect } = this.#session
    let query = rows(db).orderBy("o.name_folded")
    if (ids !== "all") query = query.where(among(dialect, sql.ref("o.id"), ids))
    if (search !== undefined)
      query = query.where((where) =>
        where.or([
          containing(dialect, sql.ref("o.name_folded"), foldName(search)),
          containing(dialect, sql`lower(o.email)`, search.toLowerCase()),
        ]),
      )
    return selectPage(this.#session, query, page, organizationOf)
  }

  async ownsAgentPool(id: OrganizationId, agentPoolId: string): Promise<boolean> {
    return (await this.#session.queryOne(agentPool, { id, agentPoolId })) !== undefined
  }

  async admittedByAgentPool(agentPoolId: string, projectId = ""): Promise<boolean> {
    return (await this.#session.queryOne(admittingPool, { agentPoolId, projectId })) !== undefined
  }

  async insert(organization: Organization): Promise<void> {
    const { db } = this.#session
    const row: OrganizationRow = {
      id: organization.id,
      created_at: organization.createdAt,
      executor_seen_at: null,
      ...settingsOf(organization),
    }
    await rejectTaken(() => this.#session.execute(db.insertInto("organizations").values(row)), { name: nameTaken })
  }

  async save(organization: Organization): Promise<void> {
    const update = this.#session.db
      .updateTable("organizations")
      .set(settingsOf(organization))
      .where("id", "=", organization.id)
    await rejectTaken(() => this.#session.execute(update), { name: nameTaken })
  }

  async remove(id: OrganizationId): Promise<void> {
    const { db } = this.#session
    await removeNamesOf(this.#session, id)
    await this.#session.execute(removePoliciesOfWorkspaces, { id })
    // Projects and agent pools are deleted by cascade. Workspaces refer to them, so they are deleted first.
    await this.#session.execute(db.deleteFrom("workspaces").where("organization_id", "=", id))
    await this.#session.execute(
      db.deleteFrom("retention_policies").where("target_kind", "=", "organization").where("target_id", "=", id),
    )
    await this.#session.execute(db.deleteFrom("organizations").where("id", "=", id))
  }
}

const rows = (db: Kysely<Tables>) =>
  db
    .selectFrom("organizations as o")
    .innerJoin("projects as p", (join) =>
      join.onRef("p.organization_id", "=", "o.id").on("p.is_default", "=", sql.lit(1)),
    )
    .select([
      "o.id",
      "o.name",
      "o.email",
      "o.created_at",
      "o.default_execution_mode",
      "o.default_agent_pool_id",
      "o.remote_operations",
      "o.allow_force_delete_workspaces",
      "o.assessments_enforced",
      "o.plan",
      "o.cost_estimation_enabled",
      "o.collaborator_auth_policy",
      "o.settings",
      "p.id as default_project_id",
    ])

const removePoliciesOfWorkspaces = statement((db, { id }: { id: string }) =>
  db
    .deleteFrom("retention_policies")
    .where("target_kind", "=", "workspace")
    .where("target_id", "in", (eb) => eb.selectFrom("workspaces").select("id").where("organization_id", "=", id)),
)
const byName = statement((db, { name }: { name: string }) => rows(db).where("o.name_folded", "=", name))
const byId = statement((db, { id }: { id: string }) => rows(db).where("o.id", "=", id))
const agentPool = statement((db, { id, agentPoolId }: { id: string; agentPoolId: string }) =>
  db.selectFrom("agent_pools").select("id").where("id", "=", agentPoolId).where("organization_id", "=", id),
)
const admittingPool = statement((db, { agentPoolId, projectId }: { agentPoolId: string; projectId: string }) =>
  db
    .selectFrom("agent_pools")
    .select("id")
    .where("id", "=", agentPoolId)
    .where(admitted(sql`''`, sql.val(projectId))),
)

function organizationOf(
  row: Omit<OrganizationRow, "name_folded" | "executor_seen_at"> & { default_project_id: string },
): Organization {
  return {
    id: row.id as OrganizationId,
    name: row.name,
    email: row.email,
    createdAt: row.created_at,
    defaultExecutionMode: row.default_execution_mode as ExecutionMode,
    defaultAgentPoolId: row.default_agent_pool_id,
    remoteOperations: row.remote_operations === null ? null : row.remote_operations === 1 ? "on" : "off",
    allowForceDeleteWorkspaces: row.allow_force_delete_workspaces === 1,
    assessmentsEnforced: row.assessments_enforced === 1,
    plan: row.plan as Plan,
    costEstimationEnabled: row.cost_estimation_enabled === 1,
    collaboratorAuthPolicy: row.collaborator_auth_policy as CollaboratorAuthPolicy,
    defaultProjectId: row.default_project_id as ProjectId,
    ...recordedDefaults,
    ...(JSON.parse(row.settings ?? "{}") as Partial<RecordedOrganizationSettings>),
  }
}

/** Serializes the settings that differ from their defaults. Rows from before a setting existed get its default. */
const recordedText = (organization: Organization): string | null => {
  const names = Object.keys(recordedDefaults) as (keyof RecordedOrganizationSettings)[]
  const own = names.filter((name) => organization[name] !== recordedDefaults[name])
  return own.length === 0 ? null : JSON.stringify(Object.fromEntries(own.map((name) => [name, organization[name]])))
}

const settingsOf = (organization: Organization) =>
  ({
    name: organization.name,
    name_folded: foldName(organization.name),
    email: organization.email,
    default_execution_mode: organization.defaultExecutionMode,
    default_agent_pool_id: organization.defaultAgentPoolId,
    remote_operations: organization.remoteOperations === null ? null : organization.remoteOperations === "on" ? 1 : 0,
    allow_force_delete_workspaces: organization.allowForceDeleteWorkspaces ? 1 : 0,
    assessments_enforced: organization.assessmentsEnforced ? 1 : 0,
    plan: organization.plan,
    cost_estimation_enabled: organization.costEstimationEnabled ? 1 : 0,
    collaborator_auth_policy: organization.collaboratorAuthPolicy,
    settings: recordedText(organization),
  }) satisfies Omit<OrganizationRow, "id" | "created_at" | "executor_seen_at">

const siteSettings = "site"

export class SqlSettingRepository implements SettingsRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async get(): Promise<SiteSettings> {
    const row = await this.#session.queryOne(settingsByName, { name: siteSettings })
    return { ...initialSiteSettings, ...(row && (JSON.parse(row.value) as Partial<SiteSettings>)) }
  }

  async save(settings: SiteSettings): Promise<void> {
    await this.#session.execute(save, { name: siteSettings, value: JSON.stringify(settings) })
  }
}

const settingsByName = statement((db, { name }: { name: string }) =>
  db.selectFrom("settings").select("value").where("name", "=", name),
)
const save = statement((db, { name, value }: { name: string; value: string }) =>
  db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((taken) => taken.column("name").doUpdateSet({ value })),
)
