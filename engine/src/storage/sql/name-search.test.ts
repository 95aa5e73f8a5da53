import { sql } from "kysely"
import { describe, expect, test } from "vitest"
import { idsByName, indexName, nameContains, removeName, removeNamesOf } from "./name-search.ts"
import type { QueryRunner } from "./query-runner.ts"
import { databaseKinds, temporaryDatabase } from "../../../testing/temporary-database.ts"

const names = ["network-prod", "my-net", "net", "prod_1", "prodx1", "журнал", "abcab-cabca-bca"]

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  test.each<{ text: string; found: readonly string[] }>([
    { text: "net", found: ["network-prod", "my-net", "net"] },
    { text: "network-p", found: ["network-prod"] },
    { text: "prod", found: ["network-prod", "prod_1", "prodx1"] },
    { text: "d_1", found: ["prod_1"] },
    { text: "t", found: ["network-prod", "my-net", "net"] },
    { text: "%", found: [] },
    { text: "_", found: ["prod_1"] },
    { text: '"', found: [] },
    { text: 'net" OR "prod', found: [] },
    { text: "rk-prod-and-something-much-longer-than-any-name", found: [] },
    { text: "жур", found: ["журнал"] },
    // "abcab-cabca-bca" contains each trigram of the text, but not the text.
    { text: "abcabca", found: [] },
  ])("a search for $text finds $found", async ({ text, found }) => {
    await using temporary = await temporaryDatabase(kind)
    await temporary.database.transact((session) => populate(session, names))
    expect(new Set(await search(temporary.database.read, text))).toEqual(new Set(found))
    const ids = await temporary.database.read((session) =>
      idsByName(session, { organizationId: "org-1", folded: text, most: 100 }),
    )
    const indexed = kind.name !== "PostgreSQL" && Array.from(text).length >= 3
    expect(ids?.toSorted((a, b) => a.localeCompare(b))).toEqual(
      indexed ? names.flatMap((name, index) => (found.includes(name) ? [`ws-${index}`] : [])) : undefined,
    )
  })

  test("the index is used only for few matches, and only within the organization", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact((session) => populate(session, names))
    const lead = (organizationId: string, most: number) =>
      database.read((session) => idsByName(session, { organizationId, folded: "prod", most }))
    expect(await lead("org-1", 2)).toBeUndefined()
    expect(await lead("org-2", 3)).toEqual(kind.name === "PostgreSQL" ? undefined : [])
  })

  // Deleted names leave tombstones in the index, in rows with ids above 2^53.
  test("name search works after many creations and deletions", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    const many = Array.from({ length: 30 }, (_, index) => `passing-${index}`)
    for (let round = 0; round < 3; round += 1) {
      await database.transact((session) => populate(session, many))
      for (let index = 0; index < many.length; index += 1)
        await database.transact(async (session) => {
          await removeName(session, `ws-${index}`)
          await session.execute(session.db.deleteFrom("workspaces").where("id", "=", `ws-${index}`))
        })
      expect(await search(database.read, "passing")).toEqual([])
      await database.transact((session) => session.execute(session.db.deleteFrom("organizations")))
    }
  })

  test("a renamed workspace is found by its new name only, and a deleted workspace is not found", async () => {
    await using temporary = await temporaryDatabase(kind)
    const { database } = temporary
    await database.transact((session) => populate(session, ["network", "compute"]))
    await database.transact(async (session) => {
      await session.execute(
        session.db.updateTable("workspaces").set({ name_folded: "storage" }).where("id", "=", "ws-0"),
      )
      await indexName(session, "ws-0")
    })
    const lead = (folded: string) =>
      database.read((session) => idsByName(session, { organizationId: "org-1", folded, most: 10 }))
    expect(await search(database.read, "stor")).toEqual(["storage"])
    expect([await lead("netw"), await lead("stor")]).toEqual(
      kind.name === "PostgreSQL" ? [undefined, undefined] : [[], ["ws-0"]],
    )
    await database.transact(async (session) => {
      await removeName(session, "ws-0")
      await session.execute(session.db.deleteFrom("workspaces").where("id", "=", "ws-0"))
    })
    expect(await search(database.read, "stor")).toEqual([])
    await database.transact(async (session) => {
      await removeNamesOf(session, "org-1")
      await session.execute(session.db.deleteFrom("organizations"))
      await populate(session, ["compare"])
    })
    expect(await search(database.read, "comp")).toEqual(["compare"])
  })
})

const search = (read: <T>(work: (session: QueryRunner) => Promise<T>) => Promise<T>, text: string) =>
  read(async (session) => {
    const rows = await session.queryMany(
      session.db.selectFrom("workspaces").select("name_folded").where(nameContains(session.dialect, text)),
    )
    return rows.map((row) => row.name_folded)
  })

async function populate(session: QueryRunner, names: readonly string[]): Promise<void> {
  await session.execute(
    sql`insert into organizations (id, name, name_folded, email, created_at, default_execution_mode,
        allow_force_delete_workspaces, assessments_enforced, plan, cost_estimation_enabled, collaborator_auth_policy)
      values ('org-1', 'o', 'o', '', 1, 'remote', 0, 0, '', 0, '')`,
  )
  await session.execute(
    sql`insert into projects (id, organization_id, name, name_folded, description, is_default, created_at)
      values ('prj-1', 'org-1', 'p', 'p', '', 1, 1)`,
  )
  for (const [index, name] of names.entries()) {
    await session.execute(sql`insert into workspaces (id, organization_id, project_id, name, name_folded, name_reversed,
      created_at, updated_at, latest_change_at, environment, source, execution_mode,
      overwrites_execution_mode, overwrites_agent_pool, allow_destroy_plan, assessments_enabled, auto_apply,
      auto_apply_run_trigger, inherits_project_auto_destroy, file_triggers_enabled, global_remote_state, queue_all_runs,
      speculative_enabled, structured_run_output_enabled, engine_version, trigger_patterns, trigger_prefixes,
      lock_number, resource_count)
      values (${`ws-${index}`}, 'org-1', 'prj-1', ${name}, ${name}, '', 1, 1, 1, '', '', 'remote',
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '[]', '[]', 0, 0)`)
    await indexName(session, `ws-${index}`)
  }
}
