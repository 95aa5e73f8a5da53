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

test("a creation is written down before it is begun, and forgotten when it is done", async () => {
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
])("a creation of which the request or the answer was lost ($fate) happens once", async ({ fate, made }) => {
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

test("a creation that is refused is not pending, and is tried anew when the spec is another", async () => {
  const it = open("refused", { executionMode: "agent", agentPool: { id: "apool-none" } })
  expect(await it.look()).toBe("EngineRefused")
  expect(it.status).toEqual({})
  it.edit({})
  expect(await it.look()).toBe("Available")
})

test("what was begun and never heard of is deleted with its object; what carries another's mark is not", async () => {
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

test("an object that never made anything asks nobody when it goes", async () => {
  const it = open("never", {})
  expect(await it.part()).toBe("gone")
  expect(it.calls).toEqual([])
})

test("a poll that finds nothing new asks the engine once and changes no word of the status", async () => {
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

test("a poll changes back what differs, and tells of it", async () => {
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
])("a workspace that somebody has deleted is $reason with $driftPolicy", async ({ driftPolicy, reason, count }) => {
  const name = `deleted-${driftPolicy.toLowerCase()}`
  const it = open(name, { driftPolicy })
  await it.look()
  const id = String(it.status["id"])
  await engine.workspaces.forceDelete({ id })
  it.pass(10 * minute)
  expect(await it.poll()).toBe(reason)
  expect(await named(name)).toHaveLength(count)
  expect(it.status["id"] === id).toBe(count === 0)
})

test("what was brought is remembered though the rest was refused, so that it can be taken back", async () => {
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

test("a name is looked up once for many objects, and again when one was edited later", async () => {
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
