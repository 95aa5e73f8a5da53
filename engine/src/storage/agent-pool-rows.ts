import { sql } from "kysely"
import type { OrganizationId, WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import { type AgentPool, type AgentPoolUses, refuseUsedPool } from "../organizations/agent-pool.ts"
import { foldName } from "../organizations/organization.ts"
import type { AgentPoolStore } from "../workspaces/agent-pool-store.ts"
import type { Visibility } from "../workspaces/query.ts"
import { containing } from "./containing.ts"
import { among } from "./dialect.ts"
import { selectPage } from "./select-page.ts"
import { ReferenceViolation, type Session } from "./session.ts"
import type { AgentPoolRow } from "./tables.ts"
import { nameTaken, refuseTaken } from "./taken.ts"
import { visible } from "./visible.ts"

export class AgentPoolRows implements AgentPoolStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async find(id: string): Promise<AgentPool | undefined> {
    const row = await this.#session.first(
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
    return (await this.#session.all(query)).map(poolOf)
  }

  list(organizationId: OrganizationId, search: string | undefined, page: PageRequest): Promise<Page<AgentPool>> {
    const { db, dialect } = this.#session
    let query = db.selectFrom("agent_pools").select(columns).where("organization_id", "=", organizationId)
    if (search !== undefined) query = query.where(containing(dialect, sql.ref("name_folded"), foldName(search)))
    return selectPage(this.#session, query.orderBy("name_folded"), page, poolOf)
  }

  async workspacesOf(
    ids: readonly string[],
    visibility: Visibility,
  ): Promise<ReadonlyMap<string, readonly WorkspaceId[]>> {
    const { db, dialect } = this.#session
    const rows = await this.#session.all(
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

  async usesOf(id: string): Promise<AgentPoolUses> {
    const uses = await this.#session.first(
      sql<AgentPoolUses>`select
        (select count(*) from workspaces where agent_pool_id = ${id}) as workspaces,
        (select count(*) from projects where default_agent_pool_id = ${id}) as projects,
        (select count(*) from organizations where default_agent_pool_id = ${id}) as organizations`,
    )
    return uses ?? { workspaces: 0, projects: 0, organizations: 0 }
  }

  async insert(pool: AgentPool): Promise<void> {
    const row: AgentPoolRow = {
      id: pool.id,
      organization_id: pool.organizationId,
      name: pool.name,
      name_folded: foldName(pool.name),
      created_at: pool.createdAt,
    }
    await refuseTaken(() => this.#session.run(this.#session.db.insertInto("agent_pools").values(row)), {
      name: nameTaken,
    })
  }

  async save({ id, name }: AgentPool): Promise<void> {
    const update = this.#session.db
      .updateTable("agent_pools")
      .set({ name, name_folded: foldName(name) })
      .where("id", "=", id)
    await refuseTaken(() => this.#session.run(update), { name: nameTaken })
  }

  async remove(id: string): Promise<void> {
    try {
      await this.#session.run(this.#session.db.deleteFrom("agent_pools").where("id", "=", id))
    } catch (error) {
      // A workspace took it in the meantime.
      if (error instanceof ReferenceViolation) refuseUsedPool(id, { workspaces: 1, projects: 0, organizations: 0 })
      throw error
    }
  }
}

const columns = ["id", "organization_id", "name", "created_at"] as const

const poolOf = (row: Omit<AgentPoolRow, "name_folded">): AgentPool => ({
  id: row.id,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  createdAt: row.created_at,
})
