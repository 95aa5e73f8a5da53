import { describe, expect, test } from "vitest"
import { type PopulatedEngine, populatedEngine } from "../../../testing/populated-engine.ts"

const pools = "/organizations/acme/agent-pools"
const document = (attributes: Readonly<Record<string, unknown>>) => ({ data: { type: "agent-pools", attributes } })

async function create(testEngine: PopulatedEngine, name: string): Promise<string> {
  const { status, body } = await testEngine.request("POST", pools, { body: document({ name }) })
  expect(status).toBe(201)
  return body.data.id
}
const use = (testEngine: PopulatedEngine, name: string, agentPoolId: string) =>
  testEngine.workspace(name, { executionMode: "agent", agentPoolId })

test("an agent pool is created, listed, searched, shown, renamed and deleted", async () => {
  await using testEngine = await populatedEngine()
  const id = await create(testEngine, "Linux")
  const { body } = await testEngine.request("GET", `/agent-pools/${id}`)
  expect(body.data).toEqual({
    id: expect.stringMatching(/^apool-[a-zA-Z0-9]{16}$/),
    type: "agent-pools",
    attributes: {
      name: "Linux",
      "created-at": expect.stringMatching(/Z$/),
      "organization-scoped": true,
      "agent-count": 0,
    },
    relationships: {
      organization: { data: { id: "acme", type: "organizations" } },
      workspaces: { data: [] },
      "allowed-workspaces": { data: [] },
      "allowed-projects": { data: [] },
      "excluded-workspaces": { data: [] },
    },
    links: { self: `/api/v2/agent-pools/${id}` },
  })
  await create(testEngine, "arm")
  const names = async (query: string) =>
    (await testEngine.request("GET", `${pools}${query}`)).body.data.map(
      ({ attributes }: { attributes: { name: string } }) => attributes.name,
    )
  expect(await names("")).toEqual(["arm", "Linux"])
  expect(await names("?q=INU")).toEqual(["Linux"])
  expect(await names("?page[size]=1&page[number]=2")).toEqual(["Linux"])
  const renamed = await testEngine.request("PATCH", `/agent-pools/${id}`, { body: document({ name: "linux" }) })
  expect([renamed.status, renamed.body.data.attributes.name]).toEqual([200, "linux"])
  expect((await testEngine.request("DELETE", `/agent-pools/${id}`)).status).toBe(204)
  expect(await names("")).toEqual(["arm"])
})

test("an agent pool shows only the workspaces that the caller sees", async () => {
  await using testEngine = await populatedEngine()
  const id = await create(testEngine, "linux")
  const [first, second] = [await use(testEngine, "b", id), await use(testEngine, "a", id)]
  const shown = async (token?: string) =>
    (await testEngine.request("GET", `/agent-pools/${id}`, token === undefined ? {} : { token })).body.data
      .relationships.workspaces.data
  expect(await shown()).toEqual([
    { id: second, type: "workspaces" },
    { id: first, type: "workspaces" },
  ])
  expect(await shown(await testEngine.token({ on: { [first]: "read" } }))).toEqual([{ id: first, type: "workspaces" }])
  expect(await shown(await testEngine.token())).toEqual([])
})

test("an agent pool in use cannot be deleted, and the error names its users", async () => {
  await using testEngine = await populatedEngine()
  const id = await create(testEngine, "linux")
  const workspace = await use(testEngine, "one", id)
  const { status, body } = await testEngine.request("DELETE", `/agent-pools/${id}`)
  expect([status, body.errors[0].detail]).toEqual([
    409,
    "Agent pool cannot be deleted while it is in use by 1 workspace",
  ])
  await testEngine.engine.workspaces.update({ id: workspace }, { executionMode: "remote" })
  await testEngine.engine.organizations.update("acme", { defaultExecutionMode: "agent", defaultAgentPoolId: id })
  const asDefault = await testEngine.request("DELETE", `/agent-pools/${id}`)
  expect([asDefault.status, asDefault.body.errors[0].detail]).toEqual([
    409,
    expect.stringContaining("1 organization default"),
  ])
  await testEngine.engine.organizations.update("acme", { defaultExecutionMode: "remote" })
  expect((await testEngine.request("DELETE", `/agent-pools/${id}`)).status).toBe(204)
})

test.each([
  { attributes: { name: "" }, pointer: "/data/attributes/name", detail: "Name can't be blank" },
  { attributes: { name: "a b" }, pointer: "/data/attributes/name", detail: "Name can only include" },
  { attributes: { name: "n".repeat(91) }, pointer: "/data/attributes/name", detail: "Name is too long" },
  { attributes: {}, pointer: "/data/attributes/name", detail: "name can't be blank" },
  { attributes: { name: "LINUX" }, pointer: "/data/attributes/name", detail: "Name has already been taken" },
  {
    attributes: { name: "x", "organization-scoped": "no" },
    pointer: "/data/attributes/organization-scoped",
    detail: "must be a boolean",
  },
])("rejects $attributes: $detail", async ({ attributes, pointer, detail }) => {
  await using testEngine = await populatedEngine()
  await create(testEngine, "linux")
  const { status, body } = await testEngine.request("POST", pools, { body: document(attributes) })
  expect([status, body.errors[0].source, body.errors[0].detail]).toEqual([
    422,
    { pointer },
    expect.stringContaining(detail),
  ])
})

test("agent pools are visible to members, managed with the right to manage agent pools, and hidden from others", async () => {
  await using testEngine = await populatedEngine()
  const id = await create(testEngine, "linux")
  const statuses = async (token: string | null) => [
    (await testEngine.request("GET", pools, { token })).status,
    (await testEngine.request("GET", `/agent-pools/${id}`, { token })).status,
    (await testEngine.request("POST", pools, { token, body: document({ name: "new" }) })).status,
    (await testEngine.request("PATCH", `/agent-pools/${id}`, { token, body: document({ name: "x" }) })).status,
    (await testEngine.request("DELETE", `/agent-pools/${id}`, { token })).status,
  ]
  expect(await statuses(null)).toEqual([401, 401, 401, 401, 401])
  expect(await statuses(await testEngine.token())).toEqual([200, 200, 404, 404, 404])
  expect(await statuses(await testEngine.token({ organization: { manageAgentPools: true } }))).toEqual([
    200, 200, 201, 200, 204,
  ])
  await testEngine.organization("other")
  const { secret } = await testEngine.engine.tokens.createForOrganization("other", {})
  expect(await statuses(secret)).toEqual([404, 404, 404, 404, 404])
})

const scope = (lists: Readonly<Record<string, readonly string[]>>, attributes: object = {}) => ({
  data: {
    type: "agent-pools",
    attributes,
    relationships: Object.fromEntries(
      Object.entries(lists).map(([name, ids]) => [
        name,
        { data: ids.map((id) => ({ type: name.endsWith("projects") ? "projects" : "workspaces", id })) },
      ]),
    ),
  },
})

/** Returns the names of the workspaces and projects that accept the pool. */
async function admitted(testEngine: PopulatedEngine, pool: string, places: Readonly<Record<string, string>>) {
  const given: string[] = []
  for (const [name, id] of Object.entries(places)) {
    const [type, attributes] = id.startsWith("ws-")
      ? ["workspaces", { "execution-mode": "agent", "agent-pool-id": pool }]
      : ["projects", { "default-execution-mode": "agent", "default-agent-pool-id": pool }]
    const { status, body } = await testEngine.request("PATCH", `/${type}/${id}`, {
      body: { data: { type, attributes } },
    })
    const isRefused = status === 422 && /is not available to/.test(body.errors[0].detail)
    if (isRefused) continue
    given.push(status === 200 ? name : `${name}: ${status}`)
    const restored = { [type === "workspaces" ? "execution-mode" : "default-execution-mode"]: "remote" }
    await testEngine.request("PATCH", `/${type}/${id}`, { body: { data: { type, attributes: restored } } })
  }
  return given
}

describe("[F-W7] the scope of an agent pool", () => {
  async function scoped() {
    const testEngine = await populatedEngine()
    const project = (await testEngine.engine.projects.create("acme", { name: "edge" })).id
    const [one, two] = [await testEngine.workspace("one"), await testEngine.workspace("two", { projectId: project })]
    const pool = await create(testEngine, "linux")
    const patch = async (lists: Readonly<Record<string, readonly string[]>>, attributes?: object) =>
      testEngine.request("PATCH", `/agent-pools/${pool}`, { body: scope(lists, attributes) })
    return Object.assign(testEngine, { project, one, two, pool, patch, places: { one, two, project } })
  }

  test("is the whole organization when it names no workspaces and projects", async () => {
    await using testEngine = await scoped()
    expect(await admitted(testEngine, testEngine.pool, testEngine.places)).toEqual(["one", "two", "project"])
    const { status, body } = await testEngine.patch({ "allowed-workspaces": [testEngine.one] })
    expect(status).toBe(200)
    expect(body.data.attributes["organization-scoped"]).toBe(false)
    expect(body.data.relationships["allowed-workspaces"].data).toEqual([{ id: testEngine.one, type: "workspaces" }])
    expect((await testEngine.request("GET", `/agent-pools/${testEngine.pool}`)).body).toEqual(body)
    expect(await admitted(testEngine, testEngine.pool, testEngine.places)).toEqual(["one"])
  })

  test.each([
    { lists: { "allowed-projects": ["project"] }, given: ["two", "project"] },
    { lists: { "allowed-projects": ["project"], "excluded-workspaces": ["two"] }, given: ["project"] },
    { lists: { "excluded-workspaces": ["one"] }, given: ["two", "project"] },
    {
      lists: { "allowed-workspaces": ["one"] },
      attributes: { "organization-scoped": true },
      given: ["one", "two", "project"],
    },
    { lists: {}, attributes: { "organization-scoped": false }, given: [] },
  ] as const)("$lists with $attributes allows $given", async ({ lists, given, ...more }) => {
    await using testEngine = await scoped()
    const ids = Object.fromEntries(
      Object.entries(lists).map(([name, named]) => [
        name,
        (named as readonly (keyof typeof testEngine.places)[]).map((one) => testEngine.places[one]),
      ]),
    )
    expect((await testEngine.patch(ids, "attributes" in more ? more.attributes : undefined)).status).toBe(200)
    expect(await admitted(testEngine, testEngine.pool, testEngine.places)).toEqual(given)
    const created = await testEngine.request("POST", pools, {
      body: scope(ids, { name: "made-with-it", ...("attributes" in more ? more.attributes : {}) }),
    })
    expect(await admitted(testEngine, created.body.data.id, testEngine.places)).toEqual(given)
  })

  test("prevents its use as default when it does not cover the organization", async () => {
    await using testEngine = await scoped()
    await testEngine.patch({ "allowed-projects": [testEngine.project] })
    const body = {
      data: {
        type: "organizations",
        attributes: { "default-execution-mode": "agent", "default-agent-pool-id": testEngine.pool },
      },
    }
    const { status, body: answer } = await testEngine.request("PATCH", "/organizations/acme", { body })
    expect([status, answer.errors[0].source]).toEqual([
      422,
      { pointer: "/data/relationships/default-agent-pool/data/id" },
    ])
    await testEngine.patch({}, { "organization-scoped": true })
    expect((await testEngine.request("PATCH", "/organizations/acme", { body })).status).toBe(200)
  })

  test("loses deleted workspaces and projects, and each list is changed separately", async () => {
    await using testEngine = await scoped()
    await testEngine.patch({
      "allowed-workspaces": [testEngine.one, testEngine.two],
      "excluded-workspaces": [testEngine.two],
    })
    await testEngine.patch({ "excluded-workspaces": [] })
    await testEngine.engine.workspaces.forceDelete({ id: testEngine.one })
    const { relationships } = (await testEngine.request("GET", `/agent-pools/${testEngine.pool}`)).body.data
    expect(relationships["allowed-workspaces"].data).toEqual([{ id: testEngine.two, type: "workspaces" }])
    expect(relationships["excluded-workspaces"].data).toEqual([])
  })

  test.each(["allowed-workspaces", "allowed-projects", "excluded-workspaces"])(
    "rejects %s that the caller does not see, and keeps existing ones",
    async (list) => {
      await using testEngine = await scoped()
      const hidden = list === "allowed-projects" ? testEngine.project : testEngine.one
      await testEngine.patch({ [list]: [hidden] })
      const token = await testEngine.token({ organization: { manageAgentPools: true } })
      const options = (ids: readonly string[]) => ({ token, body: scope({ [list]: ids }) })
      const refused = await testEngine.request("PATCH", `/agent-pools/${testEngine.pool}`, options([hidden]))
      expect([refused.status, refused.body.errors[0].source]).toEqual([
        422,
        { pointer: `/data/relationships/${list}/data/0/id` },
      ])
      const { body } = await testEngine.request("PATCH", `/agent-pools/${testEngine.pool}`, options([]))
      expect(body.data.relationships[list].data).toEqual([])
      const shown = await testEngine.request("GET", `/agent-pools/${testEngine.pool}`)
      expect(shown.body.data.relationships[list].data).toMatchObject([{ id: hidden }])
    },
  )

  test("is a filter by workspace and by project that may use the pool", async () => {
    await using testEngine = await scoped()
    await testEngine.patch({ "allowed-projects": [testEngine.project] })
    const names = async (query: string) =>
      (await testEngine.request("GET", `${pools}?${query}`)).body.data.map(
        ({ attributes }: { attributes: { name: string } }) => attributes.name,
      )
    expect(await names("filter[allowed_workspaces][name]=one")).toEqual([])
    expect(await names("filter[allowed_workspaces][name]=two")).toEqual(["linux"])
    expect(await names("filter[allowed_projects][name]=edge")).toEqual(["linux"])
    expect(await names("filter[allowed_projects][name]=Default Project")).toEqual([])
  })
})
