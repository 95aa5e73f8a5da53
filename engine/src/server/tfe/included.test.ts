import { expect, test } from "vitest"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"

async function shown() {
  const testEngine = await populatedEngine()
  const workspace = await testEngine.workspace("web", { tagBindings: [{ key: "team", value: "core" }] })
  const version = (
    await testEngine.request("POST", `/workspaces/${workspace}/configuration-versions`, {
      body: {
        data: { type: "configuration-versions", attributes: { "ingress-attributes": { "commit-sha": "abc" } } },
      },
    })
  ).body.data.id as string
  const related = (type: string, id: string) => ({ data: { type, id } })
  const run = (
    await testEngine.request("POST", "/runs", {
      body: {
        data: {
          type: "runs",
          relationships: {
            workspace: related("workspaces", workspace),
            "configuration-version": related("configuration-versions", version),
          },
        },
      },
    })
  ).body.data.id as string
  await testEngine.request("POST", `/workspaces/${workspace}/actions/lock`)
  const outputs = { url: { value: "https://shop.example", type: "string" } }
  const document = stateVersionDocument(stateFile({ outputs }), { inline: true })
  const { body } = await testEngine.request("POST", `/workspaces/${workspace}/state-versions`, {
    body: { data: { ...document.data, relationships: { run: related("runs", run) } } },
  })
  await testEngine.request("POST", `/workspaces/${workspace}/actions/unlock`)
  return Object.assign(testEngine, { ids: { workspace, run, state: body.data.id as string } })
}

const brought = async (testEngine: PopulatedEngine, path: string, options = {}) =>
  (await testEngine.request("GET", path, options)).body.included?.map(({ type }: { type: string }) => type).toSorted()

test("runs are shown and listed with the resources in include", async () => {
  await using testEngine = await shown()
  const { run, workspace } = testEngine.ids
  for (const path of [`/runs/${run}`, `/workspaces/${workspace}/runs`]) {
    expect(await brought(testEngine, path)).toBeUndefined()
    expect(await brought(testEngine, `${path}?include=plan,apply`)).toEqual(["applies", "plans"])
    expect(await brought(testEngine, `${path}?include=created_by,workspace`)).toEqual(["users", "workspaces"])
    expect(await brought(testEngine, `${path}?include=configuration_version`)).toEqual(["configuration-versions"])
    expect(await brought(testEngine, `${path}?include=configuration_version.ingress_attributes`)).toEqual([
      "configuration-versions",
      "ingress-attributes",
    ])
    expect(await brought(testEngine, `${path}?include=cost_estimate,task_stages`)).toEqual([])
  }
})

test("state versions are shown and listed, also the current one, with the resources in include", async () => {
  await using testEngine = await shown()
  const { state, workspace } = testEngine.ids
  for (const path of [
    `/state-versions/${state}`,
    `/workspaces/${workspace}/state-versions`,
    `/workspaces/${workspace}/current-state-version`,
  ]) {
    expect(await brought(testEngine, path)).toBeUndefined()
    expect(await brought(testEngine, `${path}?include=outputs`)).toEqual(["state-version-outputs"])
    expect(await brought(testEngine, `${path}?include=created_by,run`)).toEqual(["runs", "users"])
    expect(await brought(testEngine, `${path}?include=run.created_by,run.configuration_version`)).toEqual([
      "configuration-versions",
      "runs",
      "users",
    ])
  }
})

test("resources that the caller may not see are not included", async () => {
  await using testEngine = await shown()
  const { workspace } = testEngine.ids
  const [maker, reader] = await Promise.all(
    ["write", "read"].map((access) => testEngine.token({ on: { [workspace]: access as "write" | "read" } })),
  )
  const body = { data: { type: "runs", relationships: { workspace: { data: { type: "workspaces", id: workspace } } } } }
  const made = await testEngine.request("POST", "/runs", { token: maker ?? "", body })
  const path = `/runs/${made.body.data.id}?include=created_by`
  // A team acts as its account, which is a user.
  expect(await brought(testEngine, path)).toEqual(["users"])
  // A secret team is hidden from callers who are not its members.
  expect(await brought(testEngine, path, { token: reader })).toEqual([])
})

test("an organization includes its default project and its entitlements", async () => {
  await using testEngine = await shown()
  const path = "/organizations/acme"
  expect(await brought(testEngine, path)).toBeUndefined()
  expect(await brought(testEngine, `${path}?include=default-project`)).toEqual(["projects"])
  expect(await brought(testEngine, `${path}?include=entitlement_set`)).toEqual(["entitlement-sets"])
})

test("an organization names its data retention policy if it has one", async () => {
  await using testEngine = await shown()
  const policy = "/organizations/acme/relationships/data-retention-policy"
  const named = async () =>
    (await testEngine.request("GET", "/organizations/acme")).body.data.relationships["data-retention-policy"]
  expect(await named()).toBeUndefined()
  const { body } = await testEngine.request("POST", policy, {
    body: { data: { type: "data-retention-policy-delete-olders", attributes: { "delete-older-than-n-days": 7 } } },
  })
  expect(await named()).toEqual({ data: { type: "data-retention-policy-delete-olders", id: body.data.id } })
  await testEngine.request("DELETE", policy)
  expect(await named()).toBeUndefined()
})

test("a project includes its organization and its tag bindings", async () => {
  await using testEngine = await shown()
  const made = await testEngine.request("POST", "/organizations/acme/projects", {
    body: {
      data: {
        type: "projects",
        attributes: { name: "east" },
        relationships: {
          "tag-bindings": { data: [{ type: "tag-bindings", attributes: { key: "region", value: "east" } }] },
        },
      },
    },
  })
  const path = `/projects/${made.body.data.id}`
  const { body } = await testEngine.request("GET", `${path}?include=effective_tag_bindings,organization`)
  expect(body.included).toMatchObject([
    { type: "effective-tag-bindings", attributes: { key: "region", value: "east" } },
    { type: "organizations", id: "acme" },
  ])
  expect(body.data.relationships["effective-tag-bindings"].data).toEqual([
    { type: "effective-tag-bindings", id: body.included[0].id },
  ])
  const list = await testEngine.request("GET", "/organizations/acme/projects?q=east&include=effective_tag_bindings")
  expect(list.body.included).toEqual([body.included[0]])
})

test.each([
  "/runs/RUN",
  "/workspaces/WORKSPACE/runs",
  "/state-versions/STATE",
  "/organizations/acme",
  "/organizations/acme/projects",
])("%s rejects an unknown value of include", async (path) => {
  await using testEngine = await shown()
  const { run, state, workspace } = testEngine.ids
  const own = path.replace("RUN", run).replace("STATE", state).replace("WORKSPACE", workspace)
  const { status, body } = await testEngine.request("GET", `${own}?include=nonsense`)
  expect([status, body.errors[0].source]).toEqual([400, { parameter: "include" }])
  expect(body.errors[0].detail).toContain("include parameter")
})

test("a caller who may only read the state, as a consumer, gets no other included resources of the workspace", async () => {
  await using testEngine = await shown()
  const { workspace } = testEngine.ids
  const consumer = await testEngine.workspace("consumer")
  await testEngine.request("POST", `/workspaces/${workspace}/relationships/remote-state-consumers`, {
    body: { data: [{ type: "workspaces", id: consumer }] },
  })
  const parts = [
    "current_run.plan",
    "current_configuration_version.ingress_attributes",
    "current_state_version",
    "effective_tag_bindings",
    "outputs",
    "vars",
  ]
  const path = `/workspaces/${workspace}?include=${parts.join(",")}`
  const token = await testEngine.token({ on: { [consumer]: "plan" } })
  expect(await brought(testEngine, path, { token })).toEqual(["state-versions", "workspace-outputs"])
  expect(await brought(testEngine, path)).toEqual(
    expect.arrayContaining(["configuration-versions", "effective-tag-bindings", "plans"]),
  )
})

test("a secret team that holds the lock is included only for callers who see the team", async () => {
  await using testEngine = await shown()
  const { workspace } = testEngine.ids
  const [holder, reader] = await Promise.all(
    ["write", "read"].map((access) => testEngine.token({ on: { [workspace]: access as "write" | "read" } })),
  )
  await testEngine.request("POST", `/workspaces/${workspace}/actions/lock`, { token: holder ?? "" })
  const path = `/workspaces/${workspace}?include=locked_by`
  expect(await brought(testEngine, path, { token: holder })).toEqual(["teams"])
  expect(await brought(testEngine, path, { token: reader })).toEqual([])
})

test("a workspace includes the agent pool it uses, own or inherited, once", async () => {
  await using testEngine = await shown()
  const { id } = (
    await testEngine.request("POST", "/organizations/acme/agent-pools", {
      body: { data: { type: "agent-pools", attributes: { name: "linux" } } },
    })
  ).body.data
  const own = await testEngine.workspace("own", { executionMode: "agent", agentPoolId: id })
  const list = "/organizations/acme/workspaces?include=agent_pool"
  const poolsOf = async (path: string, options = {}) => (await testEngine.request("GET", path, options)).body.included
  expect(await poolsOf(`/workspaces/${own}?include=agent_pool`)).toMatchObject([
    { id, type: "agent-pools", attributes: { name: "linux" }, relationships: { workspaces: { data: [{ id: own }] } } },
  ])
  expect(await poolsOf(`/workspaces/${testEngine.ids.workspace}?include=agent_pool`)).toEqual([])
  await testEngine.engine.organizations.update("acme", { defaultExecutionMode: "agent", defaultAgentPoolId: id })
  expect(await poolsOf(list)).toMatchObject([{ id, type: "agent-pools" }])
  const [organization, pool] = await poolsOf(`/workspaces/${own}?include=agent_pool,organization`)
  expect(organization.relationships).not.toHaveProperty("default-agent-pool")
  expect(pool).toMatchObject({ id, relationships: { organization: { data: { id: "acme" } } } })
})
