import { type RawBuilder, sql } from "kysely"
import type { OrganizationId, ProjectId, WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import {
  type AgentPool,
  type AgentPoolFilter,
  type AgentPoolScope,
  type AgentPoolUses,
  rejectUsedPool,
} from "../../../organizations/agent-pool.ts"
import { foldName } from "../../../organizations/organization.ts"
import type { AgentPoolRepository } from "../../../workspaces/runs/agent-pool-repository.ts"
import type { Visibility } from "../../../workspaces/workspace/workspace-query.ts"
import { among, containing } from "../../sql/dialect.ts"
import { selectPage } from "../../sql/select-page.ts"
import { ReferenceViolation, type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { AgentPoolRow } from "../../schema/tables.ts"
import { nameTaken, rejectTaken } from "../../sql/unique-violations.ts"
import { visible } from "../../sql/visible-workspaces.ts"

export class SqlAgentPoolRepository implements AgentPoolRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<AgentPool | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("agent_pools").select(columns).where("id", "=", id),
    )
    return row && poolOf(row)
  }

  async findMany(ids: readonly string[]): Promise<readonly AgentPool[]> {
    if (ids.length === 0) return []
    const { db, dialect } = this.#session
    const query = db
      .selectFrom("agent_pools")
      .select(columns)
      .where(among(dialect, sql.ref("id"), ids))
    return (await this.#session.queryMany(query)).map(poolOf)
  }

  list(
    organizationId: OrganizationId,
    { search, allowedWorkspaceName, allowedProjectName }: AgentPoolFilter,
    page: PageRequest,
  ): Promise<Page<AgentPool>> {
    const { db, dialect } = this.#session
    let query = db.selectFrom("agent_pools").select(columns).where("organization_id", "=", organizationId)
    if (search !== undefined) query = query.where(containing(dialect, sql.ref("name_folded"), foldName(search)))
    if (allowedWorkspaceName !== undefined)
      query = query.where(
        sql<boolean>`exists (select 1 from workspaces as w where w.organization_id = ${organizationId}
          and w.name_folded = ${foldName(allowedWorkspaceName)} and ${admitted(sql.ref("w.id"), sql.ref("w.project_id"))})`,
      )
    if (allowedProjectName !== undefined)
      query = query.where(
        sql<boolean>`exists (select 1 from projects as p where p.organization_id = ${organizationId}
          and p.name_folded = ${foldName(allowedProjectName)} and ${admitted(sql`''`, sql.ref("p.id"))})`,
      )
    return selectPage(this.#session, query.orderBy("name_folded"), page, poolOf)
  }

  async workspacesOf(
    ids: readonly string[],
    visibility: Visibility,
  ): Promise<ReadonlyMap<string, readonly WorkspaceId[]>> {
    const { db, dialect } = this.#session
    const rows = await this.#session.queryMany(
      db
        .selectFrom("workspaces as w")
        .select(["w.id", "w.agent_pool_id"])
        .where(among(dialect, sql.ref("w.agent_pool_id"), ids))
        .where(visible(dialect, visibility))
        .orderBy("w.name_folded"),
    )
    const found = new Map<string, WorkspaceId[]>(ids.map((id) => [id, []]))
    for (const { id, agent_pool_id } of rows) found.get(agent_pool_id ?? "")?.push(id as WorkspaceId)
    return found
  }

  async scopesOf(ids: readonly string[]): Promise<ReadonlyMap<string, AgentPoolScope>> {
    const scopes = new Map(
      ids.map((id) => [
        id,
        {
          allowedWorkspaceIds: [] as WorkspaceId[],
          allowedProjectIds: [] as ProjectId[],
          excludedWorkspaceIds: [] as WorkspaceId[],
        },
      ]),
    )
    if (ids.length === 0) return scopes
    for (const { agent_pool_id, workspace_id, rule } of await this.#session.queryMany(workspaceRules, { ids })) {
      const scope = scopes.get(agent_pool_id)
      const list = rule === "excluded" ? scope?.excludedWorkspaceIds : scope?.allowedWorkspaceIds
      list?.push(workspace_id as WorkspaceId)
    }
    for (const { agent_pool_id, project_id } of await this.#session.queryMany(allowedProjects, { ids }))
      scopes.get(agent_pool_id)?.allowedProjectIds.push(project_id as ProjectId)
    return scopes
  }

  async saveScope(id: string, scope: Partial<AgentPoolScope>): Promise<void> {
    const { db } = this.#session
    const lists = [
      ["allowed", scope.allowedWorkspaceIds],
      ["excluded", scope.excludedWorkspaceIds],
    ] as const
    for (const [rule, ids] of lists) {
      if (ids === undefined) continue
      await this.#session.execute(
        db.deleteFrom("agent_pool_workspaces").where("agent_pool_id", "=", id).where("rule", "=", rule),
      )
      const rows = ids.map((workspaceId) => ({ agent_pool_id: id, workspace_id: workspaceId, rule }))
      if (rows.length > 0) await this.#session.execute(db.insertInto("agent_pool_workspaces").values(rows))
    }
    const { allowedProjectIds } = scope
    if (allowedProjectIds === undefined) return
    await this.#session.execute(db.deleteFrom("agent_pool_projects").where("agent_pool_id", "=", id))
    const rows = allowedProjectIds.map((projectId) => ({ agent_pool_id: id, project_id: projectId }))
    if (rows.length > 0) await this.#session.execute(db.insertInto("agent_pool_projects").values(rows))
  }

  async admits(
    id: string,
    {
      workspaceId = "" as WorkspaceId,
      projectId,
    }: { readonly workspaceId?: WorkspaceId; readonly projectId: ProjectId },
  ): Promise<boolean> {
    return (await this.#session.queryOne(admitting, { id, workspaceId, projectId })) !== undefined
  }

  async usesOf(id: string): Promise<AgentPoolUses> {
    const uses = await this.#session.queryOne(
      sql<AgentPoolUses>`select
        (select count(*) from workspaces where agent_pool_id = ${id}) as workspaces,
        (select count(*) from projects where default_agent_pool_id = ${id}) as projects,
        (select count(*) from organizations where default_agent_pool_id = ${id}) as organizations,
        (select count(*) from oauth_clients where agent_pool_id = ${id}) as "oauthClients"`,
    )
    return uses ?? { workspaces: 0, projects: 0, organizations: 0, oauthClients: 0 }
  }

  async insert(pool: AgentPool): Promise<void> {
    const row = {
      id: pool.id,
      organization_id: pool.organizationId,
      name: pool.name,
      name_folded: foldName(pool.name),
      created_at: pool.createdAt,
      organization_scoped: pool.organizationScoped ? 1 : 0,
      agent_seen_at: null,
    } satisfies AgentPoolRow
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("agent_pools").values(row)), {
      name: nameTaken,
    })
  }

  async save({ id, name, organizationScoped }: AgentPool): Promise<void> {
    const update = this.#session.db
      .updateTable("agent_pools")
      .set({ name, name_folded: foldName(name), organization_scoped: organizationScoped ? 1 : 0 })
      .where("id", "=", id)
    await rejectTaken(() => this.#session.execute(update), { name: nameTaken })
  }

  async remove(id: string): Promise<void> {
    try {
      await this.#session.execute(this.#session.db.deleteFrom("agent_pools").where("id", "=", id))
    } catch (error) {
      // A workspace has begun to use the pool since the check.
      if (error instanceof ReferenceViolation)
        rejectUsedPool(id, { workspaces: 1, projects: 0, organizations: 0, oauthClients: 0 })
      throw error
    }
  }
}

const columns = ["id", "organization_id", "name", "created_at", "organization_scoped"] as const

/**
 * Builds the condition that a workspace or its project may use a row of `agent_pools`. The id "", which no workspace has, stands for the
 * project alone.
 */
export const admitted = (workspaceId: RawBuilder<unknown>, projectId: RawBuilder<unknown>) => sql<boolean>`(
  not exists (select 1 from agent_pool_workspaces as x
    where x.agent_pool_id = agent_pools.id and x.workspace_id = ${workspaceId} and x.rule = 'excluded')
  and (coalesce(agent_pools.organization_scoped, 1) = 1
    or exists (select 1 from agent_pool_workspaces as x
      where x.agent_pool_id = agent_pools.id and x.workspace_id = ${workspaceId} and x.rule = 'allowed')
    or exists (select 1 from agent_pool_projects as x
      where x.agent_pool_id = agent_pools.id and x.project_id = ${projectId})))`

const admitting = statement(
  (db, { id, workspaceId, projectId }: { id: string; workspaceId: string; projectId: string }) =>
    db
      .selectFrom("agent_pools")
      .select("id")
      .where("id", "=", id)
      .where(admitted(sql.val(workspaceId), sql.val(projectId))),
)
const workspaceRules = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("agent_pool_workspaces as x")
    .innerJoin("workspaces as w", "w.id", "x.workspace_id")
    .select(["x.agent_pool_id", "x.workspace_id", "x.rule"])
    .where(among(dialect, sql.ref("x.agent_pool_id"), ids))
    .orderBy("w.name_folded"),
)
const allowedProjects = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("agent_pool_projects as x")
    .innerJoin("projects as p", "p.id", "x.project_id")
    .select(["x.agent_pool_id", "x.project_id"])
    .where(among(dialect, sql.ref("x.agent_pool_id"), ids))
    .orderBy("p.name_folded"),
)

const poolOf = (row: Omit<AgentPoolRow, "name_folded" | "agent_seen_at">): AgentPool => ({
  id: row.id,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  organizationScoped: row.organization_scoped !== 0,
  createdAt: row.created_at,
})
