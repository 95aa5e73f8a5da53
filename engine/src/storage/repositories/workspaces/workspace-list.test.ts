import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type RawBuilder, sql } from "kysely"
import { newId, type OrganizationId, type ProjectId, type TeamId, type WorkspaceId } from "../../../core/ids.ts"
import { firstPage, type PageRequest } from "../../../core/page.ts"
import { manualClock } from "../../../../testing/manual-clock.ts"
import { seededRandom } from "../../../../testing/seeded-random.ts"
import { knownReleases } from "../../../workspaces/workspace/terraform-version.ts"
import type { Visibility, WorkspaceQuery } from "../../../workspaces/workspace/workspace-query.ts"
import { createWorkspace } from "../../../workspaces/workspace/workspace-settings.ts"
import { listWorkspaceIds } from "./workspace-list.ts"
import type { QueryRunner } from "../../sql/query-runner.ts"
import { ownOrigin } from "../../../events/feed/event.ts"
import { databaseKinds, temporaryDatabase, type TemporaryDatabase } from "../../../../testing/temporary-database.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../sealing/key-sealing.ts"
import { SqlWorkspaceRepository } from "./workspace-repository.ts"

const rowsOver = (session: QueryRunner) => {
  const random = seededRandom(1)
  return new SqlWorkspaceRepository(session, keySealer(parseKeyRing(newKeyText(random)), random), manualClock(), {
    clock: manualClock(),
    isOn: false,
    origin: ownOrigin,
    noted() {},
  })
}

// A model in plain values answers every query too. The two results must agree, page by page.

interface Known {
  readonly id: WorkspaceId
  readonly name: string
  readonly project: number
  readonly changedAt: number
  readonly run: { readonly status: string; readonly at: number } | null
  readonly own: ReadonlyMap<string, string>
  readonly granted: boolean
}

const random = seededRandom(7)
const below = (bound: number) => (random.bytes(2)[0] ?? 0) % bound
const organizationId = newId("org", random) as OrganizationId
const strangers = newId("org", random) as OrganizationId
const teamId = newId("team", random) as TeamId
const projectIds = [0, 1, 2].map(() => newId("prj", random) as ProjectId)
/** Tag bindings of each project, which its workspaces inherit. */
const projectBindings: readonly ReadonlyMap<string, string>[] = [
  new Map(),
  new Map([["env", "prod"]]),
  new Map([
    ["env", "test"],
    ["tier", "gold"],
  ]),
]
const projectGranted = [false, false, true]
const keys = ["env", "tier", "red", "blue"]
const values = ["", "prod", "test", "gold"]
const words = ["Web", "db", "net_x", "app"]

const known: readonly Known[] = Array.from({ length: 70 }, (_, index) => ({
  id: newId("ws", random) as WorkspaceId,
  name: `${words[below(4)]}-${words[below(4)]}-${index}`,
  project: below(3),
  changedAt: 1_000 + below(20),
  run: below(3) === 0 ? null : { status: ["applied", "planned", "errored"][below(3)] as string, at: 500 + below(10) },
  own: new Map(keys.filter(() => below(3) === 0).map((key) => [key, values[below(4)] as string])),
  granted: below(4) === 0,
}))

/** Returns true for a tag binding. Without a value, an entry is a flat tag in every second workspace. */
const isBinding = (workspace: Known, value: string): boolean => value !== "" || known.indexOf(workspace) % 2 === 1

async function seed(session: QueryRunner): Promise<void> {
  const { db } = session
  for (const id of [organizationId, strangers])
    await session.execute(
      db.insertInto("organizations").values({
        id,
        name: id,
        name_folded: id.toLowerCase(),
        email: "",
        created_at: 0,
        default_execution_mode: "remote",
        default_agent_pool_id: null,
        allow_force_delete_workspaces: 0,
        assessments_enforced: 0,
        plan: "free",
        cost_estimation_enabled: 0,
        collaborator_auth_policy: "password",
      }),
    )
  const foreignProject = newId("prj", random) as ProjectId
  for (const [index, id] of [...projectIds, foreignProject].entries())
    await session.execute(
      db.insertInto("projects").values({
        id,
        organization_id: id === foreignProject ? strangers : organizationId,
        name: `p${index}`,
        name_folded: `p${index}`,
        description: "",
        is_default: 0,
        created_at: 0,
        auto_destroy_activity_duration: null,
        default_execution_mode: null,
        default_agent_pool_id: null,
      }),
    )
  await session.execute(
    db.insertInto("teams").values({
      id: teamId,
      organization_id: organizationId,
      name: "t",
      name_folded: "t",
      visibility: "secret",
      access: "{}",
      created_at: 0,
    }),
  )
  for (const [index, project_id] of projectIds.entries()) {
    for (const [key, value] of projectBindings[index] ?? [])
      await session.execute(
        db.insertInto("project_bindings").values({
          id: newId("tb", random),
          organization_id: organizationId,
          project_id,
          key,
          key_folded: key,
          value,
          created_at: 0,
        }),
      )
    if (projectGranted[index])
      await session.execute(
        db.insertInto("team_projects").values({
          id: newId("tprj", random),
          team_id: teamId,
          project_id,
          access: "read",
          custom: null,
        }),
      )
  }
  const rows = rowsOver(session)
  const surroundings = {
    edition: "self-hosted",
    plan: "free",
    execution: { executionMode: "remote", agentPoolId: null, remoteOperations: "on" },
    globalRemoteStateDefault: false,
    releases: knownReleases(),
    nameIsTaken: false,
    agentPoolExists: false,
    agentPoolAdmits: true,
    oauthTokenExists: false,
    oauthTokenAdmits: true,
    appInstallationExists: false,
  } as const
  const insert = async (workspace: Known, organization: OrganizationId, projectId: ProjectId) => {
    const place = { id: workspace.id, organizationId: organization, projectId }
    await rows.insert({
      ...createWorkspace({ name: workspace.name }, place, surroundings, 0),
      latestChangeAt: workspace.changedAt,
    })
    await session.execute(
      db
        .updateTable("workspaces")
        .set({ current_run_status: workspace.run?.status ?? null, current_run_created_at: workspace.run?.at ?? null })
        .where("id", "=", workspace.id),
    )
    for (const [key, value] of workspace.own)
      await session.execute(
        db.insertInto("workspace_bindings").values({
          id: newId("tb", random),
          organization_id: organization,
          workspace_id: workspace.id,
          tag_id: null,
          key,
          key_folded: key,
          value,
          created_at: 0,
          is_binding: isBinding(workspace, value) ? 1 : 0,
        }),
      )
    if (workspace.granted && organization === organizationId)
      await session.execute(
        db.insertInto("team_workspaces").values({
          id: newId("tws", random),
          team_id: teamId,
          workspace_id: workspace.id,
          access: "read",
          custom: null,
        }),
      )
  }
  for (const workspace of known) {
    await insert(workspace, organizationId, projectIds[workspace.project] as ProjectId)
    await insert({ ...workspace, id: newId("ws", random) }, strangers, foreignProject)
  }
}

const all: Visibility = { organizationId, all: true }
const granted: Visibility = { organizationId, all: false, teams: [teamId] }

/** Returns the expected ids in order. */
function expectedIds(query: WorkspaceQuery, visibility: Visibility): WorkspaceId[] {
  // A flat tag does not hide a binding of the project.
  const carried = (workspace: Known) => [
    ...workspace.own,
    ...[...(projectBindings[workspace.project] ?? [])].filter(([key]) => {
      const value = workspace.own.get(key)
      return value === undefined || !isBinding(workspace, value)
    }),
  ]
  const matches = (workspace: Known): boolean => {
    const name = workspace.name.toLowerCase()
    const bindings = carried(workspace)
    const isCarried = (tag: string) => bindings.some(([key]) => key === tag.toLowerCase())
    const pattern = query.wildcardName
      ?.toLowerCase()
      .split("*")
      .map((part) => part.replaceAll(/[^a-z0-9]/g, "\\$&"))
      .join(".*")
    return (
      (visibility.all || workspace.granted || projectGranted[workspace.project] === true) &&
      (query.name === undefined || name.includes(query.name.toLowerCase())) &&
      (pattern === undefined || new RegExp(`^${pattern}$`).test(name)) &&
      (query.tags ?? []).every(isCarried) &&
      !(query.excludeTags ?? []).some(isCarried) &&
      (query.projectId === undefined || projectIds[workspace.project] === query.projectId) &&
      (query.currentRunStatus === undefined || query.currentRunStatus.includes(workspace.run?.status ?? "")) &&
      (query.tagged ?? []).every(
        ({ key = "", value = "" }) =>
          (key === "" && value === "") ||
          bindings.some(([k, v]) => (key === "" || k === key.toLowerCase()) && (value === "" || v === value)),
      )
    )
  }
  const { key, descending } = query.sort ?? { key: "name", descending: false }
  const keyOf = (workspace: Known): string | number =>
    key === "name"
      ? workspace.name.toLowerCase()
      : key === "latest-change-at"
        ? workspace.changedAt
        : (workspace.run?.at ?? Number.MAX_SAFE_INTEGER)
  const ascending = known.filter(matches).toSorted((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)]
    if (x !== y) return x < y ? -1 : 1
    return a.id < b.id ? -1 : 1
  })
  return (descending ? ascending.toReversed() : ascending).map(({ id }) => id)
}

const queries: readonly WorkspaceQuery[] = [
  {},
  { sort: { key: "name", descending: true } },
  { sort: { key: "latest-change-at", descending: false } },
  { sort: { key: "latest-change-at", descending: true } },
  { sort: { key: "current-run.created-at", descending: false } },
  { sort: { key: "current-run.created-at", descending: true } },
  { name: "web" },
  { name: "B-NET" },
  { name: "_x" },
  { name: "1" },
  { name: "%" },
  { name: "nothing like it" },
  { wildcardName: "web-*" },
  { wildcardName: "*-7" },
  { wildcardName: "*-net_x-*" },
  { wildcardName: "DB-*1" },
  { wildcardName: "d*b-*-1*" },
  { wildcardName: "*" },
  { wildcardName: "web-db-1" },
  { tags: ["red"] },
  { tags: ["RED", "env"] },
  { tags: ["env", "tier", "blue"] },
  { tags: ["absent"] },
  { excludeTags: ["env"] },
  { excludeTags: ["Red", "blue"] },
  { tags: ["env"], excludeTags: ["tier"] },
  { projectId: projectIds[1] as string },
  { projectId: "prj-unknown" },
  { currentRunStatus: ["applied"] },
  { currentRunStatus: ["applied", "errored"] },
  { tagged: [{ key: "env" }] },
  { tagged: [{ key: "ENV", value: "prod" }] },
  { tagged: [{ key: "env", value: "" }] },
  { tagged: [{ value: "prod" }] },
  { tagged: [{ value: "gold" }] },
  {
    tagged: [
      { key: "env", value: "test" },
      { key: "tier", value: "gold" },
    ],
  },
  { tagged: [{}] },
  {
    name: "-",
    tags: ["env"],
    excludeTags: ["red"],
    currentRunStatus: ["applied", "planned"],
    tagged: [{ key: "env", value: "prod" }],
    sort: { key: "current-run.created-at", descending: true },
  },
  { wildcardName: "*-net_x-*", projectId: projectIds[2] as string, tags: ["tier"] },
]
const cases = queries.flatMap((query) => [all, granted].map((visibility) => ({ query, visibility })))
const strategies = [
  { strategy: "driven by its narrowest filter", maxNarrow: 5_000 },
  { strategy: "in the order of an index", maxNarrow: -1 },
  { strategy: "by whichever is nearer", maxNarrow: 12 },
]

describe.each(databaseKinds.filter(({ name, available }) => available && name !== "SQLite file"))("$name", (kind) => {
  let opened: TemporaryDatabase
  beforeAll(async () => {
    opened = await temporaryDatabase(kind, { unused: true })
    await opened.database.transact(seed)
  })
  afterAll(() => opened[Symbol.asyncDispose]())

  const list = (query: WorkspaceQuery, visibility: Visibility, page: PageRequest, maxNarrow?: number) =>
    opened.database.read((session) => listWorkspaceIds(session, query, visibility, page, maxNarrow))

  describe.each(strategies)("found $strategy", ({ maxNarrow }) => {
    test.each(cases)("$query with visibility of all: $visibility.all", async ({ query, visibility }) => {
      const expected = expectedIds(query, visibility)
      const found: WorkspaceId[] = []
      for (let number = 1; number === 1 || found.length < expected.length; number += 1) {
        const page = await list(query, visibility, { number, size: 9 }, maxNarrow)
        expect(page.totalCount).toBe(expected.length)
        expect(page.items).toEqual(expected.slice((number - 1) * 9, number * 9))
        found.push(...page.items)
        if (page.items.length === 0) break
      }
      expect(found).toEqual(expected)
    })

    test("a page past the end is empty and keeps the count", async () => {
      const page = await list({}, all, { number: 999, size: 20 }, maxNarrow)
      expect(page).toEqual({ items: [], number: 999, size: 20, totalCount: known.length })
    })
  })

  test("rows are complete and in the order of the page", async () => {
    const page = await opened.database.read((session) => rowsOver(session).list({}, all, firstPage))
    expect(page.items.map(({ id }) => id)).toEqual(expectedIds({}, all).slice(0, 20))
    expect(page.totalCount).toBe(known.length)
  })
})

describe("on SQLite each filter uses its index", () => {
  let opened: TemporaryDatabase
  beforeAll(async () => {
    opened = await temporaryDatabase(databaseKinds[1] as (typeof databaseKinds)[number])
    await opened.database.transact(seed)
  })
  afterAll(() => opened[Symbol.asyncDispose]())

  const drivingPlans = async (query: WorkspaceQuery, visibility: Visibility, maxNarrow?: number) => {
    const plans: string[] = []
    await opened.database.read(async (session) => {
      const explain = async (query: object): Promise<void> => {
        if (!("isRawBuilder" in query)) return
        const rows = await session.queryMany(
          sql<{ detail: string }>`explain query plan ${query as RawBuilder<unknown>}`,
        )
        plans.push(...rows.map(({ detail }) => detail))
      }
      const explaining = {
        dialect: session.dialect,
        db: session.db,
        queryMany: async (query: RawBuilder<unknown>, parameters: never) => {
          await explain(query)
          return session.queryMany(query as never, parameters)
        },
        queryOne: async (query: RawBuilder<unknown>, parameters: never) => {
          await explain(query)
          return session.queryOne(query as never, parameters)
        },
      } as unknown as QueryRunner
      await listWorkspaceIds(explaining, query, visibility, firstPage, maxNarrow)
    })
    return plans
  }

  test.each<{ query: WorkspaceQuery; index: string; visibility?: Visibility; maxNarrow?: number }>([
    { query: {}, index: "workspaces_by_name (organization_id=?)" },
    {
      query: { sort: { key: "latest-change-at", descending: true } },
      index: "workspaces_by_change (organization_id=?)",
    },
    {
      query: { sort: { key: "current-run.created-at", descending: false } },
      index: "workspaces_by_run (organization_id=?)",
    },
    {
      query: { wildcardName: "x-*" },
      index: "workspaces_by_name (organization_id=? AND name_folded>? AND name_folded<?)",
    },
    {
      query: { wildcardName: "*-x" },
      index: "workspaces_by_reversed_name (organization_id=? AND name_reversed>? AND name_reversed<?)",
    },
    { query: { projectId: "prj-1" }, index: "(organization_id=? AND project_id=?)" },
    {
      query: { currentRunStatus: ["applied"] },
      index: "workspaces_by_run_status (organization_id=? AND current_run_status=?)",
    },
    { query: { tags: ["a"] }, index: "workspace_bindings_pair (organization_id=? AND key_folded=?)" },
    {
      query: { tagged: [{ key: "a", value: "b" }] },
      index: "workspace_bindings_pair (organization_id=? AND key_folded=? AND value=?)",
    },
    { query: { tagged: [{ value: "b" }] }, index: "workspace_bindings_value (organization_id=? AND value=?)" },
    { query: {}, visibility: granted, index: "g USING" },
  ])("$query: $index", async ({ query, index, visibility, maxNarrow }) => {
    const plans = await drivingPlans(query, visibility ?? all, maxNarrow)
    expect(plans.join("\n")).toContain(index)
    expect(plans.filter((plan) => /^SCAN (workspaces|workspace_bindings|[bgwp])\b/.test(plan))).toEqual([])
  })
})
