import { type Kysely, sql } from "kysely"
import type { OrganizationId, ProjectId, TeamId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import { type ExecutionMode, foldName } from "../../../organizations/organization.ts"
import type { Project, ProjectCounts, ProjectQuery, ProjectRepository } from "../../../organizations/project.ts"
import type { ProjectAccess } from "../../../organizations/team-project-access.ts"
import { projectAccessOf } from "../workspaces/access-repository.ts"
import { among, containing } from "../../sql/dialect.ts"
import { selectPage } from "../../sql/select-page.ts"
import { OutdatedSnapshot, ReferenceViolation, type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { ProjectRow, Tables } from "../../schema/tables.ts"
import { nameTaken, rejectTaken } from "../../sql/unique-violations.ts"

export class SqlProjectRepository implements ProjectRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<Project | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && projectOf(row)
  }

  async findMany(ids: readonly ProjectId[]): Promise<readonly Project[]> {
    const { db, dialect } = this.#session
    const found = await this.#session.queryMany(rows(db).where(among(dialect, sql.ref("p.id"), ids)))
    return found.map(projectOf)
  }

  async defaultOf(organizationId: OrganizationId): Promise<Project> {
    const row = await this.#session.queryOne(defaultOf, { organizationId })
    if (row === undefined) throw new Error(`organization ${organizationId} has no default project`)
    return projectOf(row)
  }

  list(query: ProjectQuery, page: PageRequest): Promise<Page<Project>> {
    const { db, dialect } = this.#session
    const { names, search, grantedTo } = query
    let selected = rows(db).where("p.organization_id", "=", query.organizationId).orderBy("p.name_folded")
    if (names !== undefined)
      selected = selected.where(
        among(
          dialect,
          sql.ref("p.name_folded"),
          names.map((name) => foldName(name)),
        ),
      )
    if (search !== undefined) selected = selected.where(containing(dialect, sql.ref("p.name_folded"), foldName(search)))
    if (grantedTo !== undefined)
      selected = selected.where(
        "p.id",
        "in",
        db
          .selectFrom("team_projects")
          .select("project_id")
          .where(among(dialect, sql.ref("team_id"), grantedTo)),
      )
    return selectPage(this.#session, selected, page, projectOf)
  }

  async grantsOn(
    ids: readonly ProjectId[],
    teams: readonly TeamId[],
  ): Promise<ReadonlyMap<ProjectId, readonly ProjectAccess[]>> {
    const grants = new Map<ProjectId, ProjectAccess[]>()
    for (const row of await this.#session.queryMany(grantsOn, { ids, teams })) {
      const projectId = row.project_id as ProjectId
      grants.set(projectId, [...(grants.get(projectId) ?? []), projectAccessOf(row)])
    }
    return grants
  }

  async countsOf(ids: readonly ProjectId[]): Promise<ReadonlyMap<ProjectId, ProjectCounts>> {
    const workspaces = countsById(await this.#session.queryMany(workspaceCounts, { ids }))
    const teams = countsById(await this.#session.queryMany(teamCounts, { ids }))
    return new Map(ids.map((id) => [id, { workspaces: workspaces.get(id) ?? 0, teams: teams.get(id) ?? 0 }]))
  }

  async insert(project: Project): Promise<void> {
    const row: ProjectRow = {
      id: project.id,
      organization_id: project.organizationId,
      is_default: project.isDefault ? 1 : 0,
      created_at: project.createdAt,
      ...settingsOf(project),
    }
    const insert = this.#session.db.insertInto("projects").values(row)
    await rejectTaken(() => this.#session.execute(insert), { name: nameTaken })
  }

  async save(project: Project): Promise<void> {
    const update = this.#session.db.updateTable("projects").set(settingsOf(project)).where("id", "=", project.id)
    await rejectTaken(() => this.#session.execute(update), { name: nameTaken })
  }

  async remove(id: ProjectId): Promise<void> {
    try {
      await this.#session.execute(this.#session.db.deleteFrom("projects").where("id", "=", id))
    } catch (error) {
      // A workspace was added to the project after its workspaces were counted.
      throw error instanceof ReferenceViolation ? new OutdatedSnapshot({ cause: error }) : error
    }
  }
}

const rows = (db: Kysely<Tables>) =>
  db
    .selectFrom("projects as p")
    .select([
      "p.id",
      "p.organization_id",
      "p.name",
      "p.description",
      "p.is_default",
      "p.created_at",
      "p.auto_destroy_activity_duration",
      "p.default_execution_mode",
      "p.default_agent_pool_id",
      "p.overwrites_agent_pool",
    ])

const byId = statement((db, { id }: { id: string }) => rows(db).where("p.id", "=", id))
const defaultOf = statement((db, { organizationId }: { organizationId: string }) =>
  rows(db).where("p.organization_id", "=", organizationId).where("p.is_default", "=", 1),
)
const grantsOn = statement((db, { ids, teams }: { ids: readonly string[]; teams: readonly string[] }, dialect) =>
  db
    .selectFrom("team_projects as g")
    .select(["g.project_id", "g.access", "g.custom"])
    .where(among(dialect, sql.ref("g.project_id"), ids))
    .where(among(dialect, sql.ref("g.team_id"), teams)),
)
const workspaceCounts = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("workspaces as w")
    .select(["w.project_id as id", sql<number>`count(*)`.as("count")])
    .where(among(dialect, sql.ref("w.project_id"), ids))
    .groupBy("w.project_id"),
)
const teamCounts = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("team_projects as g")
    .select(["g.project_id as id", sql<number>`count(*)`.as("count")])
    .where(among(dialect, sql.ref("g.project_id"), ids))
    .groupBy("g.project_id"),
)

const countsById = (counted: readonly { readonly id: string; readonly count: number }[]) =>
  new Map(counted.map(({ id, count }) => [id, count]))

const projectOf = (row: Omit<ProjectRow, "name_folded">): Project => ({
  id: row.id as ProjectId,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  description: row.description,
  isDefault: row.is_default === 1,
  createdAt: row.created_at,
  autoDestroyActivityDuration: row.auto_destroy_activity_duration,
  defaultExecutionMode: row.default_execution_mode as ExecutionMode | null,
  defaultAgentPoolId: row.default_agent_pool_id,
  overwritesAgentPool: row.default_agent_pool_id !== null || row.overwrites_agent_pool === 1,
})

const settingsOf = (project: Project) =>
  ({
    name: project.name,
    name_folded: foldName(project.name),
    description: project.description,
    auto_destroy_activity_duration: project.autoDestroyActivityDuration,
    default_execution_mode: project.defaultExecutionMode,
    default_agent_pool_id: project.defaultAgentPoolId,
    overwrites_agent_pool: project.overwritesAgentPool ? 1 : 0,
  }) satisfies Partial<ProjectRow>
