import { describe, expect, test } from "vitest"
import { newId, type OrganizationId, type ProjectId, type WorkspaceId } from "../../../core/ids.ts"
import { firstPage } from "../../../core/page.ts"
import type { Storage } from "../../../core/storage.ts"
import { type Repositories, repositoriesOver } from "../repositories.ts"
import { bind } from "../../../workspaces/tags/bind-tags.ts"
import {
  addAndChange,
  addFlat,
  changesBetween,
  removeFlat,
  replaceBindings,
  type TagBinding,
  type TagEntry,
} from "../../../workspaces/tags/tag-binding.ts"
import type { Taggable } from "../../../workspaces/tags/tag-repository.ts"
import { manualClock } from "../../../../testing/manual-clock.ts"
import { seededRandom } from "../../../../testing/seeded-random.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../sealing/key-sealing.ts"
import { databaseKinds, temporaryDatabase } from "../../../../testing/temporary-database.ts"
import type { Database } from "../../sql/database.ts"
import type { WorkspaceRow } from "../../schema/tables.ts"

const organizationId = "org-1" as OrganizationId
const projectId = "prj-1" as ProjectId
const random = seededRandom(1)
const workspace = (index: number): Taggable => ({ kind: "workspace", id: `ws-${index}` as WorkspaceId, organizationId })
const project: Taggable = { kind: "project", id: projectId, organizationId }

/** Creates `count` workspaces in one organization. */
async function populated(database: Database, count: number): Promise<Storage<Repositories>> {
  await database.transact(async (session) => {
    const { db } = session
    await session.execute(
      db.insertInto("organizations").values({
        id: organizationId,
        name: "acme",
        name_folded: "acme",
        email: "",
        created_at: 1,
        default_execution_mode: "remote",
        default_agent_pool_id: null,
        allow_force_delete_workspaces: 0,
        assessments_enforced: 0,
        plan: "free",
        cost_estimation_enabled: 0,
        collaborator_auth_policy: "password",
      }),
    )
    await session.execute(
      db.insertInto("projects").values({
        id: projectId,
        organization_id: organizationId,
        name: "Default Project",
        name_folded: "default project",
        description: "",
        is_default: 1,
        created_at: 1,
        auto_destroy_activity_duration: null,
        default_execution_mode: null,
        default_agent_pool_id: null,
      }),
    )
    for (let index = 0; index < count; index += 1)
      await session.execute(db.insertInto("workspaces").values(workspaceRow(`ws-${index}`)))
  })
  return repositoriesOver(database, keySealer(parseKeyRing(newKeyText(random)), random), manualClock())
}

const workspaceRow = (id: string): WorkspaceRow => ({
  id,
  organization_id: organizationId,
  project_id: projectId,
  name: id,
  name_folded: id,
  name_reversed: id,
  description: null,
  created_at: 1,
  updated_at: 1,
  latest_change_at: 1,
  environment: "default",
  source: "tfe-api",
  source_name: null,
  source_url: null,
  execution_mode: "remote",
  agent_pool_id: null,
  overwrites_execution_mode: 0,
  overwrites_agent_pool: 0,
  allow_destroy_plan: 1,
  assessments_enabled: 0,
  auto_apply: 0,
  auto_apply_run_trigger: 0,
  auto_destroy_at: null,
  auto_destroy_status: null,
  auto_destroy_settled_at: null,
  auto_destroy_activity_duration: null,
  inherits_project_auto_destroy: 1,
  file_triggers_enabled: 1,
  global_remote_state: 0,
  project_remote_state: 0,
  queue_all_runs: 0,
  speculative_enabled: 1,
  structured_run_output_enabled: 1,
  engine_version: "1.11.4",
  trigger_patterns: "[]",
  trigger_prefixes: "[]",
  working_directory: null,
  vcs_repo: null,
  oauth_token_id: null,
  app_installation_id: null,
  ssh_key_id: null,
  locked_at: null,
  locked_by_kind: null,
  locked_by_id: null,
  locked_reason: null,
  lock_ends_at: null,
  lock_ttl_ms: null,
  lock_number: 0,
  current_run_id: null,
  current_run_status: null,
  current_run_created_at: null,
  current_state_version_id: null,
  current_configuration_version_id: null,
  current_assessment_result_id: null,
  last_assessment_result_at: null,
  resource_count: 0,
  apply_duration_average_ms: null,
  plan_duration_average_ms: null,
  policy_check_failures: null,
  run_failures: null,
  kpis_runs_count: null,
})

const binding = (key: string, value: string): TagEntry => ({ key, value, isTag: false, isBinding: true })
const flatTag = (key: string): TagEntry => ({ key, value: "", isTag: true, isBinding: false })

type Plan = (present: readonly TagBinding[]) => readonly TagEntry[]

const change = (storage: Storage<Repositories>, taggable: Taggable, plan: Plan) =>
  storage.transact(async ({ tags }) => {
    const present = (await tags.bindingsOf([taggable])).get(taggable.id) ?? []
    await bind(tags, [{ taggable, change: changesBetween(present, plan(present)) }], { now: 5, random })
  })
const add = (storage: Storage<Repositories>, index: number, ...names: string[]) =>
  change(storage, workspace(index), (present) => addFlat(present, names, []).bindings)
const take = (storage: Storage<Repositories>, index: number, ...names: string[]) =>
  change(storage, workspace(index), (present) => removeFlat(present, names))

const pool = (storage: Storage<Repositories>, query: { search?: string; exceptOf?: WorkspaceId[] } = {}) =>
  storage.read(async ({ tags }) =>
    (await tags.list({ organizationId, ...query }, { number: 1, size: 100 })).items.map(
      ({ name, instanceCount }) => `${name} ${instanceCount}`,
    ),
  )
const bindings = (storage: Storage<Repositories>, taggable: Taggable) =>
  storage.read(async ({ tags }) => (await tags.bindingsOf([taggable])).get(taggable.id) ?? [])

describe.each(databaseKinds.filter(({ available }) => available))("$name", (kind) => {
  test("a tag is added to the pool with its first workspace, counted, and removed with its last", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 2)
    await add(storage, 0, "prod", "web")
    await add(storage, 1, "PROD")
    expect(await pool(storage)).toEqual(["prod 2", "web 1"])
    await take(storage, 0, "prod", "web")
    expect(await pool(storage)).toEqual(["prod 1"])
    await storage.transact(({ tags }) => tags.releaseTagsOf("ws-1" as WorkspaceId))
    expect(await pool(storage)).toEqual([])
  })

  test("a tag deleted from the pool is removed from every resource", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 2)
    await Promise.all([add(storage, 0, "a", "b"), add(storage, 1, "a")])
    await storage.transact(async ({ tags }) => {
      const named = await tags.findNamed(organizationId, ["A"])
      await tags.remove(named.map(({ id }) => id))
    })
    expect((await bindings(storage, workspace(0))).map(({ key }) => key)).toEqual(["b"])
    expect(await bindings(storage, workspace(1))).toEqual([])
  })

  test("[F-W6] a binding without a value is in the pool only while it is a flat tag too", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 1)
    const present = () => bindings(storage, workspace(0))
    await change(storage, workspace(0), (before) => addAndChange(before, [binding("env", "")], []).bindings)
    expect(await present()).toMatchObject([{ value: "", tagId: null, isTag: false, isBinding: true }])
    expect(await pool(storage)).toEqual([])
    await add(storage, 0, "env")
    expect(await present()).toMatchObject([{ value: "", isTag: true, isBinding: true }])
    expect(await pool(storage)).toEqual(["env 1"])
    await change(storage, workspace(0), (before) => replaceBindings(before, [], []).bindings)
    expect(await present()).toMatchObject([{ value: "", isTag: true, isBinding: false }])
    await change(storage, workspace(0), (before) => addAndChange(before, [binding("env", "")], []).bindings)
    await take(storage, 0, "env")
    expect(await present()).toMatchObject([{ value: "", tagId: null, isTag: false, isBinding: true }])
    expect(await pool(storage)).toEqual([])
  })

  test("a value removes a flat tag from the pool, and a flat tag is added to it", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 1)
    await add(storage, 0, "env")
    const [before] = await bindings(storage, workspace(0))
    await change(storage, workspace(0), () => [binding("env", "prod")])
    expect(await bindings(storage, workspace(0))).toEqual([{ ...before, ...binding("env", "prod"), tagId: null }])
    expect(await pool(storage)).toEqual([])
    await change(storage, workspace(0), () => [flatTag("env")])
    expect((await bindings(storage, workspace(0)))[0]?.tagId).toMatch(/^tag-/)
    expect(await pool(storage)).toEqual(["env 1"])
  })

  test("bindings of a project are separate and not in the pool", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 1)
    await change(storage, project, () => [binding("env", "prod"), binding("flat", "")])
    await change(storage, project, (present) => present.map(({ key }) => binding(key, "new")))
    expect((await bindings(storage, project)).map(({ key, value }) => [key, value])).toEqual([
      ["env", "new"],
      ["flat", "new"],
    ])
    await change(storage, project, () => [])
    expect(await bindings(storage, project)).toEqual([])
    expect(await pool(storage)).toEqual([])
  })

  test("the owner of a binding is stored with it, on workspaces and projects", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 2)
    const owners = ["kubernetes:acme/default/api", "pulumi:site/prod"]
    for (const taggable of [workspace(0), project]) {
      await change(storage, taggable, () => [
        { ...binding("env", "prod"), owners },
        { ...binding("flat", ""), owners: ["a"] },
      ])
      const heldBy = async () => (await bindings(storage, taggable)).map((binding) => binding.owners)
      expect(await heldBy()).toEqual([owners, ["a"]])
      await change(storage, taggable, (present) => present.map(({ key, value }) => binding(key, `${value}1`)))
      expect(await heldBy()).toEqual([owners, ["a"]])
      await change(storage, taggable, (present) => present.map((binding) => ({ ...binding, owners: [] })))
      expect(await heldBy()).toEqual([[], []])
    }
  })

  test("flat tags of other owners are found, and tags of the owner alone are not", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 3)
    const give = (index: number, owners: readonly string[]) =>
      change(storage, workspace(index), () => [{ ...flatTag("t"), owners }])
    await Promise.all([give(0, ["a"]), give(1, []), give(2, ["a", "b"])])
    const ids = (await storage.read(({ tags }) => tags.findNamed(organizationId, ["t"]))).map(({ id }) => id)
    const heldByOthersThan = (owner: string) => storage.read(({ tags }) => tags.heldByOthers(ids, owner))
    expect(await heldByOthersThan("a")).toEqual([{ tagId: ids[0], workspaceId: "ws-2", owners: ["a", "b"] }])
    expect((await heldByOthersThan("b")).map(({ workspaceId }) => workspaceId)).toEqual(["ws-0", "ws-2"])
    expect(await storage.read(({ tags }) => tags.heldByOthers([], "b"))).toEqual([])
  })

  test("the pool is searched by a literal part of the name, without the tags of one workspace", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 2)
    await add(storage, 0, "Prod-eu", "prod_us", "dev")
    await add(storage, 1, "stage")
    expect(await pool(storage, { search: "PROD" })).toEqual(["Prod-eu 1", "prod_us 1"])
    expect(await pool(storage, { search: "d_" })).toEqual(["prod_us 1"])
    expect(await pool(storage, { search: "%" })).toEqual([])
    expect(await pool(storage, { search: "x".repeat(100_000) })).toEqual([])
    expect(await pool(storage, { exceptOf: ["ws-0" as WorkspaceId] })).toEqual(["stage 1"])
  })

  test("a tag added to the pool directly stays without a workspace, once", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 1)
    const draft = (name: string) => ({ id: newId("tag", random), organizationId, name, createdAt: 1 })
    const first = await storage.transact(({ tags }) => tags.ensure([draft("b"), draft("a")]))
    const again = await storage.transact(({ tags }) => tags.ensure([draft("A"), draft("c")]))
    expect(first.map(({ name }) => name)).toEqual(["b", "a"])
    expect(again[0]).toEqual(first[1])
    await add(storage, 0, "c")
    await take(storage, 0, "c")
    expect(await pool(storage)).toEqual(["a 0", "b 0"])
  })

  test("flat tags of a workspace are paged, without bindings that have a value", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 1)
    await add(storage, 0, ...Array.from({ length: 25 }, (_, index) => `t${index + 10}`))
    await change(storage, workspace(0), (present) => [...present, binding("a", "1")])
    const read = (number: number) =>
      storage.read(({ tags }) => tags.tagsOf("ws-0" as WorkspaceId, { ...firstPage, number }))
    const [first, second] = [await read(1), await read(2)]
    expect([first.items.length, first.totalCount, first.items[0]?.name]).toEqual([20, 25, "t10"])
    expect(second.items.map(({ name }) => name)).toEqual(["t30", "t31", "t32", "t33", "t34"])
  })

  test("a new tag added to 50 workspaces concurrently is one tag", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 50)
    await Promise.all(Array.from({ length: 50 }, (_, index) => add(storage, index, "new")))
    expect(await pool(storage)).toEqual(["new 50"])
  })

  test("the pool contains exactly the used tags while workspaces add and remove tags concurrently", async () => {
    await using temporary = await temporaryDatabase(kind)
    const storage = await populated(temporary.database, 8)
    for (let round = 0; round < 10; round += 1) {
      const [leaving, coming] = round % 2 === 0 ? [0, 4] : [4, 0]
      await Promise.all([0, 1, 2, 3].map((index) => add(storage, leaving + index, "x")))
      await Promise.all(
        [0, 1, 2, 3].flatMap((index) => [
          take(storage, leaving + index, "x"),
          index === 0 ? add(storage, coming, "x") : take(storage, coming + index, "x"),
        ]),
      )
      expect(await pool(storage)).toEqual(["x 1"])
      const carried = await bindings(storage, workspace(coming))
      const [tag] = await storage.read(({ tags }) => tags.findNamed(organizationId, ["x"]))
      expect(carried.map(({ tagId }) => tagId)).toEqual([tag?.id])
      await take(storage, coming, "x")
      expect(await pool(storage)).toEqual([])
    }
  })
})
