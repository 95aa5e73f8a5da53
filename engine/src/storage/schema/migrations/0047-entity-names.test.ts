import { sql } from "kysely"
import { expect, test } from "vitest"
import { openDatabase } from "../../sql/database.ts"
import { migrate } from "../migrate.ts"
import { databaseKinds } from "../../../../testing/temporary-database.ts"
import { migrations } from "./index.ts"

test.each(databaseKinds.filter(({ available }) => available))(
  "[F-P14] users are named by their usernames and teams by the remaining names, on $name",
  async ({ place }) => {
    await using where = await place({ empty: true })
    await using database = await openDatabase(where.url)
    const before = migrations.findIndex(({ name }) => name === "0047-entity-names")
    await database.transact(async (session) => {
      await migrate(session, migrations.slice(0, before))
      const run = (text: string) => session.execute(sql.raw(text))
      for (const name of ["Ada", "ops"])
        await run(`insert into users (id, username, username_folded, email, site_admin, service_account, created_at)
          values ('user-${name}', '${name}', '${name.toLowerCase()}', '', 0, 0, 1)`)
      for (const organization of ["a", "b"]) {
        await run(`insert into organizations (id, name, name_folded, email, created_at, default_execution_mode,
          default_agent_pool_id, allow_force_delete_workspaces, assessments_enforced, plan, cost_estimation_enabled,
          collaborator_auth_policy) values ('${organization}', '${organization}', '${organization}', '', 1, 'remote', null, 0, 0,
          'plus', 0, 'password')`)
        for (const name of ["Ops", "infra"])
          await run(`insert into teams (id, organization_id, name, name_folded, visibility, access, created_at) values
            ('team-${organization}-${name}', '${organization}', '${name}', '${name.toLowerCase()}', 'secret', '{}', 1)`)
      }
    })
    await database.migrate()
    const rows = await database.read((session) =>
      session.queryMany(
        sql<{ entity_id: string; name: string }>`select entity_id, name from entity_names order by entity_id`,
      ),
    )
    expect(rows.map(({ entity_id: id, name }) => `${id}: ${name}`)).toEqual([
      "team-a-Ops: Ops-2",
      "team-a-infra: infra",
      "team-b-Ops: Ops-3",
      "team-b-infra: infra-2",
      "user-Ada: Ada",
      "user-ops: ops",
    ])
  },
)
