import type { Kysely } from "kysely"
import type { TeamId, WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { CustomAccess, WorkspaceAccessLevel } from "../workspaces/permissions.ts"
import type { TeamWorkspace, TeamWorkspaceRepository } from "../workspaces/team-workspace.ts"
import { selectPage } from "./select-page.ts"
import { type QueryRunner, statement } from "./session.ts"
import type { Tables, TeamWorkspaceRow } from "./tables.ts"
import { rejectTaken } from "./taken.ts"

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
