import { type Kysely, sql } from "kysely"
import { noOrganizationAccess, type OrganizationAccess } from "../../../core/caller.ts"
import type { OrganizationId, ProjectId, TeamId, UserId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import { ownersTeamName } from "../../../organizations/authentication.ts"
import { foldName } from "../../../organizations/organization.ts"
import type { TeamProject, TeamProjectRepository } from "../../../organizations/team-project-access.ts"
import type { Team, TeamQuery, TeamRepository, TeamVisibility } from "../../../organizations/team.ts"
import type { Tables, TeamProjectRow, TeamRow } from "../../schema/tables.ts"
import { among, containing } from "../../sql/dialect.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import { selectPage } from "../../sql/select-page.ts"
import { nameTaken, rejectTaken } from "../../sql/unique-violations.ts"
import { projectAccessColumns, projectAccessOf } from "../workspaces/access-repository.ts"
import { SqlEntityNameRepository } from "./identity-repository.ts"

export class SqlTeamRepository implements TeamRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<Team | undefined> {
    const [team] = await this.findMany([id as TeamId])
    return team
  }

  async findMany(ids: readonly TeamId[]): Promise<readonly Team[]> {
    return ids.length === 0 ? [] : (await this.#session.queryMany(byIds, { ids })).map(teamOf)
  }

  async findByName(organizationId: OrganizationId, name: string): Promise<Team | undefined> {
    const row = await this.#session.queryOne(byName, { organizationId, name: foldName(name) })
    return row && teamOf(row)
  }

  list(query: TeamQuery, page: PageRequest): Promise<Page<Team>> {
    const { db, dialect } = this.#session
    const { names, search, visibleAnd } = query
    let selected = rows(db).where("t.organization_id", "=", query.organizationId).orderBy("t.name_folded")
    if (names !== undefined)
      selected = selected.where(
        among(
          dialect,
          sql.ref("t.name_folded"),
          names.map((name) => foldName(name)),
        ),
      )
    if (search !== undefined) selected = selected.where(containing(dialect, sql.ref("t.name_folded"), foldName(search)))
    if (visibleAnd !== undefined)
      selected = selected.where((where) =>
        where.or([where("t.visibility", "=", "organization"), among(dialect, sql.ref("t.id"), visibleAnd)]),
      )
    return selectPage(this.#session, selected, page, teamOf)
  }

  async membersOf(ids: readonly TeamId[]): Promise<ReadonlyMap<TeamId, readonly UserId[]>> {
    const members = new Map<TeamId, UserId[]>(ids.map((id) => [id, []]))
    for (const { team_id, user_id } of await this.#session.queryMany(membersOf, { ids }))
      members.get(team_id as TeamId)?.push(user_id as UserId)
    return members
  }

  async teamsOf(
    organizationId: OrganizationId,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, readonly TeamId[]>> {
    const teams = new Map<UserId, TeamId[]>(userIds.map((id) => [id, []]))
    for (const { team_id, user_id } of await this.#session.queryMany(teamsOf, { organizationId, userIds }))
      teams.get(user_id as UserId)?.push(team_id as TeamId)
    return teams
  }

  async organizationsOwnedOnlyBy(userId: UserId): Promise<readonly string[]> {
    const owned = await this.#session.queryMany(ownedOnlyBy, { userId, owners: ownersTeamName })
    return owned.map(({ name }) => name)
  }

  async insert(team: Team): Promise<void> {
    const row: TeamRow = {
      id: team.id,
      organization_id: team.organizationId,
      created_at: team.createdAt,
      ...settingsOf(team),
    }
    const insert = this.#session.db.insertInto("teams").values(row)
    await rejectTaken(() => this.#session.execute(insert), { name: nameTaken })
    await new SqlEntityNameRepository(this.#session).fix(team)
  }

  async save(team: Team): Promise<void> {
    const update = this.#session.db.updateTable("teams").set(settingsOf(team)).where("id", "=", team.id)
    await rejectTaken(() => this.#session.execute(update), { name: nameTaken })
  }

  async remove(id: TeamId): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("teams").where("id", "=", id))
  }

  async addMembers(id: TeamId, userIds: readonly UserId[]): Promise<void> {
    for (const userId of userIds) await this.#session.execute(addMember, { id, userId })
  }

  async removeMembers(id: TeamId, userIds: readonly UserId[]): Promise<void> {
    await this.#session.execute(removeMembers, { id, userIds })
  }

  async leaveOrganization(organizationId: OrganizationId, userId: UserId): Promise<void> {
    await this.#session.execute(leaveOrganization, { organizationId, userId })
  }
}

const rows = (db: Kysely<Tables>) =>
  db
    .selectFrom("teams as t")
    .select([
      "t.id",
      "t.organization_id",
      "t.name",
      "t.visibility",
      "t.access",
      "t.created_at",
      "t.sso_team_id",
      "t.members_manage_token",
    ])

const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  rows(db).where(among(dialect, sql.ref("t.id"), ids)),
)
const byName = statement((db, { organizationId, name }: { organizationId: string; name: string }) =>
  rows(db).where("t.organization_id", "=", organizationId).where("t.name_folded", "=", name),
)
const membersOf = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("team_members as m")
    .select(["m.team_id", "m.user_id"])
    .where(among(dialect, sql.ref("m.team_id"), ids))
    .orderBy("m.user_id"),
)
const teamsOf = statement(
  (db, { organizationId, userIds }: { organizationId: string; userIds: readonly string[] }, dialect) =>
    db
      .selectFrom("team_members as m")
      .innerJoin("teams as t", "t.id", "m.team_id")
      .select(["m.team_id", "m.user_id"])
      .where("t.organization_id", "=", organizationId)
      .where(among(dialect, sql.ref("m.user_id"), userIds))
      .orderBy("t.name_folded"),
)
const ownedOnlyBy = statement((db, { userId, owners }: { userId: string; owners: string }) =>
  db
    .selectFrom("teams as t")
    .innerJoin("team_members as m", "m.team_id", "t.id")
    .innerJoin("organizations as o", "o.id", "t.organization_id")
    .select("o.name")
    .where("t.name_folded", "=", owners)
    .where("m.user_id", "=", userId)
    .where(
      sql<boolean>`not exists (select 1 from team_members other where other.team_id = t.id and other.user_id <> ${userId})`,
    )
    .orderBy("o.name_folded"),
)
const addMember = statement((db, { id, userId }: { id: string; userId: string }) =>
  db
    .insertInto("team_members")
    .values({ team_id: id, user_id: userId })
    .onConflict((taken) => taken.doNothing()),
)
const removeMembers = statement((db, { id, userIds }: { id: string; userIds: readonly string[] }, dialect) =>
  db
    .deleteFrom("team_members")
    .where("team_id", "=", id)
    .where(among(dialect, sql.ref("user_id"), userIds)),
)
const leaveOrganization = statement((db, { organizationId, userId }: { organizationId: string; userId: string }) =>
  db
    .deleteFrom("team_members")
    .where("user_id", "=", userId)
    .where("team_id", "in", db.selectFrom("teams").select("id").where("organization_id", "=", organizationId)),
)

const teamOf = (row: Omit<TeamRow, "name_folded">): Team => ({
  id: row.id as TeamId,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  visibility: row.visibility as TeamVisibility,
  access: { ...noOrganizationAccess, ...(JSON.parse(row.access) as Partial<OrganizationAccess>) },
  ssoTeamId: row.sso_team_id,
  allowMemberTokenManagement: row.members_manage_token === 1,
  createdAt: row.created_at,
})

const settingsOf = (team: Team) =>
  ({
    name: team.name,
    name_folded: foldName(team.name),
    visibility: team.visibility,
    access: JSON.stringify(Object.fromEntries(Object.entries(team.access).filter(([, isGranted]) => isGranted))),
    sso_team_id: team.ssoTeamId,
    members_manage_token: team.allowMemberTokenManagement ? 1 : 0,
  }) satisfies Partial<TeamRow>

export class SqlTeamProjectRepository implements TeamProjectRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<TeamProject | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && accessOf(row)
  }

  list(projectId: ProjectId, page: PageRequest): Promise<Page<TeamProject>> {
    const query = teamProjectRows(this.#session.db).where("g.project_id", "=", projectId).orderBy("g.id")
    return selectPage(this.#session, query, page, accessOf)
  }

  async insert(access: TeamProject): Promise<void> {
    const row: TeamProjectRow = {
      id: access.id,
      team_id: access.teamId,
      project_id: access.projectId,
      ...projectAccessColumns(access),
    }
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("team_projects").values(row)), {
      team: { field: ["teamId", "id"], detail: "Team has already been given access to the project" },
    })
  }

  async save(access: TeamProject): Promise<void> {
    await this.#session.execute(
      this.#session.db.updateTable("team_projects").set(projectAccessColumns(access)).where("id", "=", access.id),
    )
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("team_projects").where("id", "=", id))
  }
}

const teamProjectRows = (db: Kysely<Tables>) =>
  db.selectFrom("team_projects as g").select(["g.id", "g.team_id", "g.project_id", "g.access", "g.custom"])

const byId = statement((db, { id }: { id: string }) => teamProjectRows(db).where("g.id", "=", id))

const accessOf = (row: TeamProjectRow): TeamProject => ({
  id: row.id,
  teamId: row.team_id as TeamId,
  projectId: row.project_id as ProjectId,
  ...projectAccessOf(row),
})
