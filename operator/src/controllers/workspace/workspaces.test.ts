import type { Engine } from "@chancery/engine"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type SimulatedFate, openWorkspaces, type WorkspacesFixture } from "../../../testing/workspaces-fixture.ts"

let engine: Engine
let open: WorkspacesFixture["open"]
let closing: AsyncDisposable
beforeAll(async () => {
  const stage = await openWorkspaces()
  ;({ engine, open } = stage)
  closing = stage
})
afterAll(() => closing[Symbol.asyncDispose]())

const minute = 60_000

const named = async (name: string) => {
  const { items } = await engine.workspaces.list("acme", { name }, { number: 1, size: 100 })
  return items.filter((item) => item.name === name)
}

test("a creation is recorded in the status before it starts, and removed after it", async () => {
  const it = open("written", { description: "x" })
  expect(await it.look()).toBe("Available")
  expect(it.saved).toEqual([
    { createPending: { at: "2026-01-01T00:00:00Z", token: "chancery-operator/uid-of-written" } },
  ])
  expect(it.status).not.toHaveProperty("createPending")
  expect(it.happened).toEqual(["Created"])
})

test.each<{ fate: SimulatedFate; made: number }>([
  { fate: "lost", made: 0 },
  { fate: "answer lost", made: 1 },
])("a workspace is created once if the request or the response is lost ($fate)", async ({ fate, made }) => {
  let fates: SimulatedFate[] = [fate, fate]
  const name = `lost-${made}`
  const it = open(name, { description: "x" }, (call) => {
    // The lookup after the lost creation fails too.
    if (call !== "workspaces.create" && call !== "workspaces.get") return "done"
    return fates.shift() ?? "done"
  })
  expect(await it.look()).toBe("EngineUnavailable")
  expect(it.status).toHaveProperty("createPending")
  expect(await named(name)).toHaveLength(made)
  fates = []
  expect(await it.look()).toBe("Available")
  expect(await named(name)).toHaveLength(1)
  expect(it.status).toMatchObject({ id: (await named(name))[0]?.id })
  expect(it.saved).toHaveLength(1)
})

test("a rejected creation is not pending, and is retried after a change of the spec", async () => {
  const it = open("refused", { executionMode: "agent", agentPool: { id: "apool-none" } })
  expect(await it.look()).toBe("EngineRefused")
  expect(it.status).toEqual({})
  it.edit({})
  expect(await it.look()).toBe("Available")
})

test("a workspace of a lost creation is deleted with its object, except one with another creation id", async () => {
  for (const [name, sourceName, reason] of [
    ["orphan", "chancery-operator/uid-of-orphan", true],
    ["stranger", "chancery-operator/uid-of-another", false],
  ] as const) {
    await engine.workspaces.create("acme", { name, sourceName })
    const it = open(name, {}, (call) => (call === "workspaces.create" ? "lost" : "done"))
    // The creation is refused because the name is taken, but the answer is lost.
    await it.look()
    Object.assign(it.status, { createPending: { at: "2026-01-01T00:00:00Z", token: "x" }, id: undefined })
    expect(await it.part()).toBe("gone")
    expect(await named(name)).toHaveLength(reason ? 0 : 1)
  }
})

test("deleting an object that created nothing sends no request", async () => {
  const it = open("never", {})
  expect(await it.part()).toBe("gone")
  expect(it.calls).toEqual([])
})

test("a poll without changes sends one request and does not write the status", async () => {
  await engine.projects.create("acme", { name: "Polled" })
  const it = open("polled", {
    project: { name: "Polled" },
    tags: ["a"],
    tagBindings: [{ key: "k", value: "v" }],
    globalRemoteState: false,
    remoteStateConsumers: [],
    dataRetentionPolicy: { deleteOlderThanDays: 5 },
    lock: { reason: "ours" },
  })
  expect(await it.look()).toBe("Available")
  const before = it.status
  const asked = new Set<string>()
  for (let poll = 0; poll < 8; poll += 1) {
    it.pass(10 * minute)
    expect(await it.poll()).toBe("Available")
    expect(it.calls).toHaveLength(1)
    asked.add(it.calls[0] ?? "")
    expect(it.status).toEqual(before)
  }
  // Polls check one aspect each, in turn.
  expect([...asked].toSorted()).toEqual([
    "remoteStateConsumers.list",
    "retentionPolicies.get",
    "tags.effectiveBindings",
    "workspaces.get",
  ])
  expect(it.happened).toEqual(["Created"])
})

test("a poll reverts differences and records an event", async () => {
  const it = open("drifting", { description: "as written", tags: ["ours"] })
  await it.look()
  const id = String(it.status["id"])
  await engine.workspaces.update({ id }, { description: "edited" })
  await engine.tags.remove(id, [{ name: "ours" }])
  it.pass(10 * minute)
  expect(await it.poll()).toBe("Available")
  expect(await engine.workspaces.get({ id })).toMatchObject({ description: "as written", tagNames: ["ours"] })
  expect(it.happened).toEqual(["Created", "DriftCorrected"])
})

test.each([
  { driftPolicy: "Enforce", reason: "Available", count: 1 },
  { driftPolicy: "Report", reason: "WorkspaceMissing", count: 0 },
])(
  "a workspace that another client deleted has the reason $reason with driftPolicy $driftPolicy",
  async ({ driftPolicy, reason, count }) => {
    const name = `deleted-${driftPolicy.toLowerCase()}`
    const it = open(name, { driftPolicy })
    await it.look()
    const id = String(it.status["id"])
    await engine.workspaces.forceDelete({ id })
    it.pass(10 * minute)
    expect(await it.poll()).toBe(reason)
    expect(await named(name)).toHaveLength(count)
    expect(it.status["id"] === id).toBe(count === 0)
  },
)

test("applied fields are recorded although others were rejected, so that they can be reset", async () => {
  const it = open("partly", { tags: ["first"] })
  await it.look()
  it.edit({ tags: ["second"], sshKey: { id: "sshkey-none" } })
  expect(await it.look()).not.toBe("Available")
  expect(it.status).toMatchObject({ applied: { tags: ["first", "second"] } })
  it.edit({})
  expect(await it.look()).toBe("Available")
  const [found] = await named("partly")
  expect(found?.tagNames).toEqual([])
  expect(it.status).not.toHaveProperty("applied")
})

test("a name is looked up once for many objects, and again after an object was edited", async () => {
  await engine.projects.create("acme", { name: "Shared" })
  const it = open("shared", { project: { name: "Shared" } })
  await it.look()
  expect(it.calls).toContain("projects.list")
  it.pass(5_000)
  await it.look()
  expect(it.calls).not.toContain("projects.list")
  it.pass(minute)
  await it.look()
  expect(it.calls).toContain("projects.list")
})

test("a Workspace waits for the id of another one, and stalls if that does not exist or waits for this one", async () => {
  const it = open("producer", { globalRemoteState: false, remoteStateConsumers: [{ workspaceRef: "reader" }] })
  const ask = async () => `${await it.look()} ${it.told}`
  expect(await ask()).toMatch(/^ReferenceMissing .* does not exist\.$/)
  const reader = { metadata: { name: "reader", namespace: "team" }, spec: {} }
  it.store.set(reader)
  expect(await ask()).toMatch(/^ReferenceMissing .* has no id yet\.$/)
  it.store.set({ ...reader, spec: { remoteStateConsumers: [{ workspaceRef: "producer" }] } })
  expect(await ask()).toMatch(/^ReferenceMissing .* refers to this object/)
  const { id } = await engine.workspaces.create("acme", { name: "reader" })
  it.store.set({ ...reader, status: { id } })
  expect(await it.look()).toBe("Available")
})
