// After an apply, a second plan of terraform-provider-tfe 0.70.0 is empty: every attribute is read as it was written.
import { afterAll, beforeAll, expect, test } from "vitest"
import { openTestEngine, type TestEngine } from "../../../engine/testing/test-engine.ts"
import {
  agentPool,
  agentPoolAllowedProjects,
  agentPoolAllowedWorkspaces,
  agentPoolExcludedWorkspaces,
  type Attributes,
  type Kind,
  organization,
  plan,
  projectSettings,
  type Send,
  succeed,
  team,
  teamPermissions,
  teamProjectAccess,
  terraformVersion,
  workspace,
} from "./tfe-provider.ts"

let testEngine: TestEngine
let projectId: string
beforeAll(async () => {
  testEngine = await openTestEngine()
  const id = await organization.create(send, { name: "acme", email: "ops@example.com" })
  const body = { data: { type: "projects", attributes: { name: "apps" } } }
  projectId = (await succeed(send("POST", `/organizations/${id}/projects`, body))).data.id
})
afterAll(() => testEngine[Symbol.asyncDispose]())

const send: Send = (method, path, body) => testEngine.request(method, path, body === undefined ? {} : { body })
let made = 0
const unique = (prefix: string) => `${prefix}-${(made += 1)}`

async function secondPlan(
  kind: Kind,
  config: Attributes,
): Promise<{ readonly id: string; readonly changes: string[] }> {
  const id = await kind.create(send, config)
  return { id, changes: plan(kind, config, await kind.read(send, id)) }
}

const newWorkspace = () => workspace.create(send, { organization: "acme", name: unique("ws") })

test.each<{ readonly why: string; readonly config: Attributes }>([
  { why: "name and e-mail alone", config: {} },
  { why: "session timeouts", config: { session_timeout_minutes: 30, session_remember_minutes: 600 } },
  {
    why: "everything else",
    config: {
      collaborator_auth_policy: "two_factor_mandatory",
      owners_team_saml_role_id: "owners",
      cost_estimation_enabled: true,
      send_passing_statuses_for_untriggered_speculative_plans: true,
      assessments_enforced: true,
      allow_force_delete_workspaces: true,
      speculative_plan_management_enabled: false,
    },
  },
  { why: "no aggregated status", config: { aggregated_commit_status_enabled: false } },
])("[F-W6] tfe_organization with $why has an empty second plan", async ({ config }) => {
  const { changes } = await secondPlan(organization, { name: unique("org"), email: "ops@example.com", ...config })
  expect(changes).toEqual([])
})

test.each<{ readonly why: string; readonly config: Attributes }>([
  { why: "name and organization alone", config: {} },
  { why: "no token management by members", config: { allow_member_token_management: false } },
  { why: "an SSO id", config: { sso_team_id: "7dddb675-73e0-4858-a8ad-0e597064301b", visibility: "organization" } },
  ...teamPermissions.map((name) => ({
    why: name,
    config: { organization_access: Object.fromEntries(teamPermissions.map((one) => [one, one === name])) },
  })),
])("[F-W6] [F-W8] tfe_team with $why has an empty second plan", async ({ config }) => {
  expect((await secondPlan(team, { organization: "acme", name: unique("team"), ...config })).changes).toEqual([
    // The provider keeps it as it was configured.
    "organization",
  ])
})

test.each<{ readonly why: string; readonly config: Attributes }>([
  { why: "nothing", config: { tag_names: [], tags: {} } },
  { why: "flat tags and bindings", config: { tag_names: ["app", "db"], tags: { env: "prod", empty: "" } } },
  { why: "flat tags alone", config: { tag_names: ["app"], tags: {} } },
  { why: "bindings without a value alone", config: { tag_names: [], tags: { empty: "" } } },
  { why: "the same key in both", config: { tag_names: ["both"], tags: { both: "" } } },
])("[F-W6] tfe_workspace with $why has an empty second plan", async ({ config }) => {
  const { id, changes } = await secondPlan(workspace, { organization: "acme", name: unique("ws"), ...config })
  expect(changes).toEqual([])
  const bindings = await succeed(send("GET", `/workspaces/${id}/tag-bindings`))
  expect(
    bindings.data.map(({ attributes: { key, value } }: { readonly attributes: Attributes }) => [key, value]),
  ).toEqual(Object.entries(config["tags"] as Attributes).toSorted(([one], [other]) => (one < other ? -1 : 1)))
})

const binary = { url: "https://releases.example.com/terraform.zip", sha: "ab".repeat(32) }
const amd64 = { ...binary, os: "linux", arch: "amd64" }
const arm64 = { ...binary, os: "linux", arch: "arm64" }

test.each<{ readonly why: string; readonly config: Attributes }>([
  { why: "url and sha", config: binary },
  { why: "binaries for two architectures", config: { archs: [amd64, arm64] } },
  { why: "url and sha beside the binaries", config: { ...binary, archs: [amd64, arm64] } },
  {
    why: "a checksum as in the provider's example",
    config: { ...binary, sha: "e75ac73deb69a6b3aa667cb0b8b731aee79e2904" },
  },
  {
    why: "everything else",
    config: { ...binary, official: true, enabled: false, beta: true, deprecated: true, deprecated_reason: "old" },
  },
])("[F-W15] tfe_terraform_version with $why has an empty second plan", async ({ config }) => {
  const { id, changes } = await secondPlan(terraformVersion, { version: `1.5.7-${unique("custom")}`, ...config })
  expect(changes).toEqual([])
  // `terraform import` finds the id by the version.
  const { version } = await terraformVersion.read(send, id)
  const { data } = await succeed(send("GET", `/admin/terraform-versions?filter[version]=${String(version)}`))
  expect(data.map((one: { readonly id: string }) => one.id)).toEqual([id])
})

test("[F-W6] filter[tagged] and search[tags] find flat tags and bindings without a value", async () => {
  const flat = await workspace.create(send, { organization: "acme", name: unique("ws"), tag_names: ["found"] })
  const bound = await workspace.create(send, { organization: "acme", name: unique("ws"), tags: { found: "" } })
  for (const query of ["filter[tagged][0][key]=found&filter[tagged][0][value]=", "search[tags]=found"]) {
    const { data } = await succeed(send("GET", `/organizations/acme/workspaces?${query}`))
    expect(data.map(({ id }: { readonly id: string }) => id).toSorted()).toEqual([flat, bound].toSorted())
  }
})

test.each<{ readonly why: string; readonly change: (send: Send, id: string) => Promise<unknown> }>([
  {
    why: "PATCH …/tag-bindings",
    change: (send, id) =>
      send("PATCH", `/workspaces/${id}/tag-bindings`, { data: [{ type: "tag-bindings", attributes: { key: "app" } }] }),
  },
  {
    why: "POST …/relationships/tag-bindings",
    change: (send, id) =>
      send("POST", `/workspaces/${id}/relationships/tag-bindings`, {
        data: [{ type: "tag-bindings", attributes: { key: "app", value: "" } }],
      }),
  },
])(
  "[F-W6] a flat tag is listed as a binding once $why creates one with its key, as terraform does",
  async ({ change }) => {
    const id = await workspace.create(send, { organization: "acme", name: unique("ws"), tag_names: ["app"] })
    expect(await workspace.read(send, id)).toMatchObject({ tag_names: ["app"], tags: {} })
    await change(send, id)
    expect(await workspace.read(send, id)).toMatchObject({ tag_names: ["app"], tags: { app: "" } })
    await succeed(
      send("DELETE", `/workspaces/${id}/relationships/tags`, { data: [{ type: "tags", attributes: { name: "app" } }] }),
    )
    expect(await workspace.read(send, id)).toMatchObject({ tag_names: [], tags: { app: "" } })
  },
)

test("[F-W6] tfe_agent_pool with allowed workspaces, allowed projects and excluded workspaces has an empty second plan", async () => {
  const config = { organization: "acme", name: unique("pool"), organization_scoped: false }
  const { id } = await secondPlan(agentPool, config)
  const [allowed, excluded] = [await newWorkspace(), await newWorkspace()]
  const scopes: readonly (readonly [Kind, Attributes])[] = [
    [agentPoolAllowedWorkspaces, { agent_pool_id: id, allowed_workspace_ids: [allowed] }],
    [agentPoolAllowedProjects, { agent_pool_id: id, allowed_project_ids: [projectId] }],
    [agentPoolExcludedWorkspaces, { agent_pool_id: id, excluded_workspace_ids: [excluded] }],
  ]
  for (const [kind, scope] of scopes) expect((await secondPlan(kind, scope)).changes).toEqual([])
  // Each writes its own list and leaves the others unchanged.
  for (const [kind, scope] of scopes) expect(plan(kind, scope, await kind.read(send, id))).toEqual([])
  expect(plan(agentPool, { organization_scoped: false }, await agentPool.read(send, id))).toEqual([])
  for (const [kind, scope] of scopes) {
    const none = Object.fromEntries(
      Object.entries(scope).map(([name, value]) => [name, Array.isArray(value) ? [] : value]),
    )
    expect((await secondPlan(kind, none)).changes).toEqual([])
  }
})

test.each(["local", "remote", "agent"])(
  "[F-W9] tfe_project_settings with the mode %s has an empty second plan",
  async (mode) => {
    const pool = await agentPool.create(send, { organization: "acme", name: unique("pool") })
    const config = {
      project_id: projectId,
      default_execution_mode: mode,
      ...(mode === "agent" ? { default_agent_pool_id: pool } : {}),
      // Known at plan time if a mode is configured.
      overwrites: { default_execution_mode: true, default_agent_pool_id: true },
    }
    expect((await secondPlan(projectSettings, config)).changes).toEqual([])
    const none = { project_id: projectId, overwrites: { default_execution_mode: false, default_agent_pool_id: false } }
    expect((await secondPlan(projectSettings, none)).changes).toEqual([])
  },
)

test("[F-W10] tfe_team_project_access with custom access has an empty second plan", async () => {
  const teamId = await team.create(send, { organization: "acme", name: unique("team") })
  const config = {
    access: "custom",
    team_id: teamId,
    project_id: projectId,
    project_access: { settings: "update", teams: "manage", variable_sets: "write" },
    workspace_access: {
      runs: "apply",
      sentinel_mocks: "read",
      state_versions: "read-outputs",
      variables: "write",
      create: true,
      locking: true,
      move: true,
      delete: true,
      run_tasks: true,
    },
  }
  expect((await secondPlan(teamProjectAccess, config)).changes).toEqual([])
})
