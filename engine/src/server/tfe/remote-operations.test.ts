// The setting remote-operations of an organization, and runs that no executor could take.
import { describe, expect, test } from "vitest"
import { announceExecutor } from "../../../testing/announced-executor.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { openTestEngine } from "../../../testing/test-engine.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { hourMs } from "../../core/time.ts"

const document = (type: string, attributes: object, relationships: object = {}) => ({
  data: { type, attributes, relationships },
})

async function openPlace() {
  const clock = manualClock(Date.now())
  const testEngine = await openTestEngine({ runtime: { ...systemRuntime(), clock } })
  const { engine, request } = testEngine
  const create = (attributes: object) =>
    request("POST", "/organizations", { body: document("organizations", { email: "a@example.com", ...attributes }) })
  await create({ name: "acme" })
  const workspace = async (attributes: object) => {
    const { status, body } = await request("POST", "/organizations/acme/workspaces", {
      body: document("workspaces", attributes),
    })
    return { status, body, id: body.data?.id as string }
  }
  const queue = (id: string) =>
    request("POST", "/runs", {
      body: document("runs", {}, { workspace: { data: { type: "workspaces", id } } }),
    })
  const set = (attributes: object) =>
    request("PATCH", "/organizations/acme", { body: document("organizations", attributes) })
  return { ...testEngine, engine, clock, create, workspace, queue, set }
}

describe("remote operations", () => {
  test("are on in a new organization, and clients see them as an entitlement", async () => {
    await using place = await openPlace()
    const { body } = await place.request("GET", "/organizations/acme")
    expect(body.data.attributes["remote-operations"]).toBe("on")
    const entitlements = async () =>
      (await place.request("GET", "/organizations/acme/entitlement-set")).body.data.attributes.operations
    expect(await entitlements()).toBe(true)
    expect((await place.set({ "remote-operations": "off" })).status).toBe(200)
    expect(await entitlements()).toBe(false)
  })

  test("that are off make every workspace read as local, and keep the stored modes", async () => {
    await using place = await openPlace()
    const pool = await place.engine.agentPools.create("acme", { name: "edge" })
    const inherits = await place.workspace({ name: "inherits" })
    const agent = await place.workspace({ name: "agent", "execution-mode": "agent", "agent-pool-id": pool.id })
    await place.set({ "remote-operations": "off" })
    const modes = async () =>
      Promise.all(
        [inherits, agent].map(async ({ id }) => {
          const { attributes } = (await place.request("GET", `/workspaces/${id}`)).body.data
          return [attributes["execution-mode"], attributes.operations]
        }),
      )
    expect(await modes()).toEqual([
      ["local", false],
      ["local", false],
    ])
    expect((await place.queue(inherits.id)).body.errors[0].detail).toBe(
      "Runs cannot be queued in a workspace whose execution mode is local",
    )
    await place.set({ "remote-operations": "on" })
    expect(await modes()).toEqual([
      ["remote", true],
      ["agent", true],
    ])
  })

  test.each([
    { path: "workspace", attributes: { "execution-mode": "remote" }, member: "execution-mode", value: "remote" },
    { path: "workspace", attributes: { "execution-mode": "agent" }, member: "execution-mode", value: "agent" },
    { path: "workspace", attributes: { operations: true }, member: "operations", value: "true" },
    {
      path: "project",
      attributes: { "default-execution-mode": "remote" },
      member: "default-execution-mode",
      value: "remote",
    },
    {
      path: "organization",
      attributes: { "default-execution-mode": "remote" },
      member: "default-execution-mode",
      value: "remote",
    },
  ])("that are off reject $attributes of a $path", async ({ path, attributes, member, value }) => {
    await using place = await openPlace()
    await place.set({ "remote-operations": "off" })
    const { id } = await place.workspace({ name: "web" })
    const project = (await place.request("GET", "/organizations/acme/projects")).body.data[0].id as string
    const paths = {
      workspace: `/workspaces/${id}`,
      project: `/projects/${project}`,
      organization: "/organizations/acme",
    }
    const target = paths[path as keyof typeof paths]
    const before = (await place.request("GET", target)).body
    const { status, body } = await place.request("PATCH", target, { body: document(`${path}s`, attributes) })
    expect([status, body.errors[0]]).toMatchObject([
      422,
      {
        detail: `${member} cannot be ${value} while the organization's setting remote-operations is off`,
        source: { pointer: `/data/attributes/${member}` },
      },
    ])
    expect((await place.request("GET", target)).body).toEqual(before)
  })

  test("reject a value that is neither on nor off", async () => {
    await using place = await openPlace()
    const { status, body } = await place.set({ "remote-operations": true })
    expect([status, body.errors[0].source.pointer]).toEqual([422, "/data/attributes/remote-operations"])
  })
})

describe("a run that is created on request", () => {
  test("is rejected when no executor could ever take it, and the error says what to start", async () => {
    await using place = await openPlace()
    const { id } = await place.workspace({ name: "web" })
    const { status, body } = await place.queue(id)
    expect([status, body.errors[0].detail]).toEqual([
      422,
      "No agent serves organization acme. Start one: chancery agent --token-file FILE (docs/agents.md)",
    ])
    expect((await place.request("GET", `/workspaces/${id}/runs`)).body.data).toEqual([])
  })

  test("is rejected when the pool of its workspace has no agent, and the error names the pool", async () => {
    await using place = await openPlace()
    const pool = await place.engine.agentPools.create("acme", { name: "edge" })
    const { id } = await place.workspace({ name: "web", "execution-mode": "agent", "agent-pool-id": pool.id })
    // Executors of other workspaces cannot take it.
    await announceExecutor(place.engine, { kind: "organization", name: "acme" })
    expect((await place.queue(id)).body.errors[0].detail).toBe(
      "No agent serves the agent pool edge of organization acme. Start one: chancery agent --token-file FILE (docs/agents.md)",
    )
  })

  test.each(["remote", "agent"] as const)("waits in the mode %s once an agent has a token", async (mode) => {
    await using place = await openPlace()
    const pool = await place.engine.agentPools.create("acme", { name: "edge" })
    const execution = { remote: {}, agent: { "execution-mode": "agent", "agent-pool-id": pool.id } }[mode]
    const { id } = await place.workspace({ name: "web", ...execution })
    const expiresAt = place.clock.now() + hourMs
    await place.engine.tokens.createForAgentPool(pool.id, { description: "edge", expiresAt })
    expect((await place.queue(id)).status).toBe(201)
    place.clock.advance(2 * hourMs)
    expect((await place.queue(id)).status).toBe(422)
  })

  test("is rejected when the only agents belong to a pool that does not admit its workspace", async () => {
    await using place = await openPlace()
    const pool = await place.engine.agentPools.create("acme", { name: "edge", organizationScoped: false })
    await place.engine.tokens.createForAgentPool(pool.id, { description: "edge" })
    const { id } = await place.workspace({ name: "web" })
    expect((await place.queue(id)).status).toBe(422)
  })

  test("waits once a user has claimed runs of the organization", async () => {
    await using place = await openPlace()
    const { id } = await place.workspace({ name: "web" })
    await announceExecutor(place.engine, { kind: "workspace", ref: { id } })
    expect((await place.queue(id)).status).toBe(201)
  })
})
