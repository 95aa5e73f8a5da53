import { expect, test } from "vitest"
import { type PopulatedWorld, populatedWorld } from "../../testing/populated-world.ts"

const pools = "/organizations/acme/agent-pools"
const document = (attributes: Readonly<Record<string, unknown>>) => ({ data: { type: "agent-pools", attributes } })

async function create(world: PopulatedWorld, name: string): Promise<string> {
  const { status, body } = await world.request("POST", pools, { body: document({ name }) })
  expect(status).toBe(201)
  return body.data.id
}
const use = (world: PopulatedWorld, name: string, agentPoolId: string) =>
  world.workspace(name, { executionMode: "agent", agentPoolId })

test("a pool is made, listed, searched, shown, renamed and deleted", async () => {
  await using world = await populatedWorld()
  const id = await create(world, "Linux")
  const { body } = await world.request("GET", `/agent-pools/${id}`)
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
    },
    links: { self: `/api/v2/agent-pools/${id}` },
  })
  await create(world, "arm")
  const names = async (query: string) =>
    (await world.request("GET", `${pools}${query}`)).body.data.map(
      ({ attributes }: { attributes: { name: string } }) => attributes.name,
    )
  expect(await names("")).toEqual(["arm", "Linux"])
  expect(await names("?q=INU")).toEqual(["Linux"])
  expect(await names("?page[size]=1&page[number]=2")).toEqual(["Linux"])
  const renamed = await world.request("PATCH", `/agent-pools/${id}`, { body: document({ name: "linux" }) })
  expect([renamed.status, renamed.body.data.attributes.name]).toEqual([200, "linux"])
  expect((await world.request("DELETE", `/agent-pools/${id}`)).status).toBe(204)
  expect(await names("")).toEqual(["arm"])
})

test("a pool shows those of its workspaces that the caller sees", async () => {
  await using world = await populatedWorld()
  const id = await create(world, "linux")
  const [first, second] = [await use(world, "b", id), await use(world, "a", id)]
  const shown = async (token?: string) =>
    (await world.request("GET", `/agent-pools/${id}`, token === undefined ? {} : { token })).body.data.relationships
      .workspaces.data
  expect(await shown()).toEqual([
    { id: second, type: "workspaces" },
    { id: first, type: "workspaces" },
  ])
  expect(await shown(await world.token({ on: { [first]: "read" } }))).toEqual([{ id: first, type: "workspaces" }])
  expect(await shown(await world.token())).toEqual([])
})

test("a pool in use cannot be deleted, and says by what", async () => {
  await using world = await populatedWorld()
  const id = await create(world, "linux")
  const workspace = await use(world, "one", id)
  const { status, body } = await world.request("DELETE", `/agent-pools/${id}`)
  expect([status, body.errors[0].detail]).toEqual([
    409,
    "Agent pool cannot be deleted while it is in use by 1 workspace",
  ])
  await world.engine.workspaces.update({ id: workspace }, { executionMode: "remote" })
  await world.engine.organizations.update("acme", { defaultExecutionMode: "agent", defaultAgentPoolId: id })
  const asDefault = await world.request("DELETE", `/agent-pools/${id}`)
  expect([asDefault.status, asDefault.body.errors[0].detail]).toEqual([
    409,
    expect.stringContaining("1 organization default"),
  ])
  await world.engine.organizations.update("acme", { defaultExecutionMode: "remote" })
  expect((await world.request("DELETE", `/agent-pools/${id}`)).status).toBe(204)
})

test.each([
  { attributes: { name: "" }, pointer: "/data/attributes/name", detail: "Name can't be blank" },
  { attributes: { name: "a b" }, pointer: "/data/attributes/name", detail: "Name can only include" },
  { attributes: { name: "n".repeat(91) }, pointer: "/data/attributes/name", detail: "Name is too long" },
  { attributes: {}, pointer: "/data/attributes/name", detail: "name can't be blank" },
  { attributes: { name: "LINUX" }, pointer: "/data/attributes/name", detail: "Name has already been taken" },
  {
    attributes: { name: "x", "organization-scoped": false },
    pointer: "/data/attributes/organization-scoped",
    detail: "must be true",
  },
])("refuses $attributes: $detail", async ({ attributes, pointer, detail }) => {
  await using world = await populatedWorld()
  await create(world, "linux")
  const { status, body } = await world.request("POST", pools, { body: document(attributes) })
  expect([status, body.errors[0].source, body.errors[0].detail]).toEqual([
    422,
    { pointer },
    expect.stringContaining(detail),
  ])
})

test("pools are seen by members, managed by who manages agent pools, and not found by others", async () => {
  await using world = await populatedWorld()
  const id = await create(world, "linux")
  const statuses = async (token: string | null) => [
    (await world.request("GET", pools, { token })).status,
    (await world.request("GET", `/agent-pools/${id}`, { token })).status,
    (await world.request("POST", pools, { token, body: document({ name: "new" }) })).status,
    (await world.request("PATCH", `/agent-pools/${id}`, { token, body: document({ name: "x" }) })).status,
    (await world.request("DELETE", `/agent-pools/${id}`, { token })).status,
  ]
  expect(await statuses(null)).toEqual([401, 401, 401, 401, 401])
  expect(await statuses(await world.token())).toEqual([200, 200, 404, 404, 404])
  expect(await statuses(await world.token({ organization: { manageAgentPools: true } }))).toEqual([
    200, 200, 201, 200, 204,
  ])
  await world.organization("other")
  const { secret } = await world.engine.tokens.createForOrganization("other", {})
  expect(await statuses(secret)).toEqual([404, 404, 404, 404, 404])
})
