import { sql } from "kysely"
import { expect, test } from "vitest"
import { openDatabase } from "../../sql/database.ts"
import { migrate } from "../migrate.ts"
import { databaseKinds } from "../../../../testing/temporary-database.ts"
import { migrations } from "./index.ts"

/** Inserts an organization as the previous release does, without the new columns. */
const insert = (name: string) =>
  sql.raw(`insert into organizations (id, name, name_folded, email, created_at, default_execution_mode, default_agent_pool_id,
    allow_force_delete_workspaces, assessments_enforced, plan, cost_estimation_enabled, collaborator_auth_policy)
    values ('${name}', '${name}', '${name}', '', 1, 'remote', null, 0, 0, 'plus', 0, 'password')`)

test.each(databaseKinds.filter(({ available }) => available))(
  "[F-W1] organizations of the previous release have no setting and no executor, and keep their execution mode, on $name",
  async ({ place }) => {
    await using where = await place({ empty: true })
    await using database = await openDatabase(where.url)
    const before = migrations.findIndex(({ name }) => name === "0052-remote-operations")
    await database.transact(async (session) => {
      await migrate(session, migrations.slice(0, before))
      await session.execute(insert("before"))
      await session.execute(
        sql.raw(`insert into agent_pools (id, organization_id, name, name_folded, created_at)
        values ('apool-1', 'before', 'edge', 'edge', 1)`),
      )
    })
    await database.migrate()
    // Servers of the previous release create organizations during the upgrade.
    await database.transact((session) => session.execute(insert("during")))
    const [organizations, pools] = await database.read(async (session) => [
      await session.queryMany(
        sql`select name, default_execution_mode, remote_operations, executor_seen_at from organizations order by name`,
      ),
      await session.queryMany(sql`select name, agent_seen_at from agent_pools`),
    ])
    const unset = { default_execution_mode: "remote", remote_operations: null, executor_seen_at: null }
    expect(organizations).toEqual([
      { name: "before", ...unset },
      { name: "during", ...unset },
    ])
    expect(pools).toEqual([{ name: "edge", agent_seen_at: null }])
  },
)
