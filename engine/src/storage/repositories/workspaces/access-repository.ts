import { type Kysely, sql } from "kysely"
import type { TeamId, WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import { workspaceAccessOfProject } from "../../../organizations/project.ts"
import type { NamedAccessLevel, ProjectAccess, ProjectParts } from "../../../organizations/team-project-access.ts"
import type { AccessRepository, StateProducer } from "../../../workspaces/access/access-repository.ts"
import type { TeamWorkspace, TeamWorkspaceRepository } from "../../../workspaces/access/team-workspace-access.ts"
import type { CustomAccess, Grant, WorkspaceAccessLevel } from "../../../workspaces/access/workspace-permissions.ts"
import type { Tables, TeamWorkspaceRow } from "../../schema/tables.ts"
import { among } from "../../sql/dialect.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import { selectPage } from "../../sql/select-page.ts"
import { rejectTaken } from "../../sql/unique-violations.ts"

export class SqlAccessRepository implements AccessRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async grantsOn(
    workspaceIds: readonly WorkspaceId[],
    teams: readonly TeamId[],
  ): Promise<ReadonlyMap<WorkspaceId, readonly Grant[]>> {
    const grants = new Map<WorkspaceId, Grant[]>()
    const add = (id: string, grant: Grant) => {
      const workspaceId = id as WorkspaceId
      grants.set(workspaceId, [...(grants.get(workspaceId) ?? []), grant])
    }
    const ids = workspaceIds
    for (const row of await this.#session.queryMany(grantsOfTeams, { ids, teams })) add(row.workspace_id, grantOf(row))
    return grants
  }

  async grantsOnConsumersOf(
    { id, organizationId, projectId, globalRemoteState, projectRemoteState }: StateProducer,
    teams: readonly TeamId[],
  ): Promise<readonly Grant[]> {
    const { db, dialect } = this.#session
    const listed = sql<boolean>`w.id in (select consumer_id from remote_state_consumers where workspace_id = ${id})`
    const consumes = globalRemoteState
      ? sql<boolean>`w.organization_id = ${organizationId} and w.id <> ${id}`
      : projectRemoteState
        ? sql<boolean>`(${listed} or (w.project_id = ${projectId} and w.id <> ${id}))`
        : listed
    const own = db
      .selectFrom("workspaces as w")
      .innerJoin("team_workspaces as g", "g.workspace_id", "w.id")
      .select(["g.team_id", "g.access", "g.custom"])
      .where(among(dialect, sql.ref("g.team_id"), teams))
      .where(consumes)
    const inherited = db
      .selectFrom("workspaces as w")
      .innerJoin("team_projects as g", "g.project_id", "w.project_id")
      .select(["g.team_id", "g.access", "g.custom"])
      .distinct()
      .where(among(dialect, sql.ref("g.team_id"), teams))
      .where(consumes)
    return [
      ...(await this.#session.queryMany(own)).map(directGrant),
      ...(await this.#session.queryMany(inherited)).map(projectGrant),
    ]
  }
}

/** Builds a PostgreSQL expression for the grants of these teams on one workspace, as a JSON array in one column. */
export const grantsInCell = (workspace: { id: string; projectId: string }, teams: readonly string[]) => sql<
  readonly GrantRow[]
>`
  (select coalesce(json_agg(g), '[]') from (
    select 0 as of_project, team_id, access, custom from team_workspaces
      where workspace_id = ${sql.ref(workspace.id)} and team_id = any(${sql.val(teams)})
    union all select 1, team_id, access, custom from team_projects
      where project_id = ${sql.ref(workspace.projectId)} and team_id = any(${sql.val(teams)})
  ) as g)`

export interface GrantRow {
  readonly of_project: number
  readonly team_id: string
  readonly access: string
  readonly custom: string | null
}

export const grantOf = (row: GrantRow): Grant => (row.of_project === 1 ? projectGrant(row) : directGrant(row))

interface AccessColumns {
  readonly access: string
  readonly custom: string | null
}

export const projectAccessOf = ({ access, custom }: AccessColumns): ProjectAccess =>
  access === "read" && custom !== null
    ? { access: "custom", parts: JSON.parse(custom) as ProjectParts }
    : { access: access as NamedAccessLevel }

export const projectAccessColumns = (subject: ProjectAccess): AccessColumns =>
  subject.access === "custom"
    ? { access: "read", custom: JSON.stringify(subject.parts) }
    : { access: subject.access, custom: null }

function projectGrant(row: AccessColumns & { readonly team_id: string }): Grant {
  const teamId = row.team_id as TeamId
  const access = projectAccessOf(row)
  if (access.access !== "custom") return { teamId, access: workspaceAccessOfProject[access.access] }
  const {
    runs,
    variables,
    stateVersions,
    sentinelMocks,
    locking,
    runTasks,
    delete: canDelete,
  } = access.parts.workspaceAccess
  return {
    teamId,
    access: "custom",
    custom: { runs, variables, stateVersions, sentinelMocks, workspaceLocking: locking, runTasks },
    canDelete,
  }
}

function directGrant(row: {
  readonly team_id: string
  readonly access: string
  readonly custom: string | null
}): Grant {
  const teamId = row.team_id as TeamId
  const access = row.access as WorkspaceAccessLevel
  return access === "custom"
    ? { teamId, access, custom: JSON.parse(row.custom ?? "{}") as CustomAccess }
    : { teamId, access }
}

interface GrantParameters {
  readonly ids: readonly string[]
  readonly teams: readonly string[]
}

const grantsOfTeams = statement<GrantParameters, GrantRow & { readonly workspace_id: string }>(
  (_db, { ids, teams }, dialect) => sql`
    select g.workspace_id, 0 as of_project, g.team_id, g.access, g.custom from team_workspaces as g
      where ${among(dialect, sql.ref("g.workspace_id"), ids)} and ${among(dialect, sql.ref("g.team_id"), teams)}
    union all select w.id, 1, g.team_id, g.access, g.custom from workspaces as w
      join team_projects as g on g.project_id = w.project_id
      where ${among(dialect, sql.ref("w.id"), ids)} and ${among(dialect, sql.ref("g.team_id"), teams)}`,
)

export class SqlTeamWorkspaceRepository implements TeamWorkspaceRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<TeamWorkspace | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && accessOf(row)
  }

  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<TeamWorkspace>> {
    const query = rows(this.#session.db).where("g.workspace_id", "=", workspaceId).orderBy("g.id")
    return selectPage(this.#session, query, page, accessOf)
  }

  async insert(access: TeamWorkspace): Promise<void> {
    const row: TeamWorkspaceRow = {
      id: access.id,
      team_id: access.teamId,
      workspace_id: access.workspaceId,
      ...columnsOf(access),
    }
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("team_workspaces").values(row)), {
      team: { field: ["teamId", "id"], detail: "Team has already been given access to the workspace" },
    })
  }

  async save(access: TeamWorkspace): Promise<void> {
    const { db } = this.#session
    await this.#session.execute(db.updateTable("team_workspaces").set(columnsOf(access)).where("id", "=", access.id))
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("team_workspaces").where("id", "=", id))
  }
}

const rows = (db: Kysely<Tables>) =>
  db.selectFrom("team_workspaces as g").select(["g.id", "g.team_id", "g.workspace_id", "g.access", "g.custom"])

const byId = statement((db, { id }: { id: string }) => rows(db).where("g.id", "=", id))

const columnsOf = (subject: TeamWorkspace) => ({
  access: subject.access,
  custom: subject.access === "custom" ? JSON.stringify(subject.custom) : null,
})

function accessOf(row: TeamWorkspaceRow): TeamWorkspace {
  const subject = { id: row.id, teamId: row.team_id as TeamId, workspaceId: row.workspace_id as WorkspaceId }
  const access = row.access as WorkspaceAccessLevel
  return access === "custom"
    ? { ...subject, access, custom: JSON.parse(row.custom ?? "{}") as CustomAccess }
    : { ...subject, access }
}
