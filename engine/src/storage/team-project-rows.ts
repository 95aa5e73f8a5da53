import type { Kysely } from "kysely"
import type { ProjectId, TeamId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { TeamProject, TeamProjectRepository } from "../organizations/team-project.ts"
import { projectAccessColumns, projectAccessOf } from "./access-rows.ts"
import { selectPage } from "./select-page.ts"
import { type QueryRunner, statement } from "./session.ts"
import type { Tables, TeamProjectRow } from "./tables.ts"
import { rejectTaken } from "./taken.ts"

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
