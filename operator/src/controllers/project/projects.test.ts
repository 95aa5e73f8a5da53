// Projects with a real engine and objects in memory, and a Workspace that waits for its Project.
import { openTestEngine } from "@chancery/testing"
import { afterAll, beforeAll, expect, test } from "vitest"
import { objectFixture } from "../../../testing/object-fixture.ts"
import { openWorkspaces } from "../../../testing/workspaces-fixture.ts"
import { project } from "../../api/project.ts"
import { ObjectStore } from "../../kube/object-store.ts"
import { projectOf } from "./project-references.ts"
import { reconcileProjects } from "./projects.ts"

let world: Awaited<ReturnType<typeof openTestEngine>>

beforeAll(async () => {
  world = await openTestEngine({ jobs: false })
  await world.engine.organizations.create({ name: "acme", email: "acme@example.com" })
})
afterAll(() => world[Symbol.asyncDispose]())

const connectionRef = { kind: "ClusterConnection", name: "engine" }
const page = { number: 1, size: 100 }

function setting() {
  const store = new ObjectStore({ project: projectOf })
  const engines = { connect: async () => ({ engine: world.engine, organization: "acme" }) }
  const reconciler = reconcileProjects({ engines, clusterName: "test", projects: store })
  const fixture = objectFixture({ kind: project, store, reconciler })
  return {
    ...fixture,
    store,
    projects: world.engine.projects,
    make: (name: string, spec: object = {}) => fixture.make(name, { connectionRef, ...spec }),
    find: async (name: string) =>
      (await world.engine.projects.list("acme", {}, page)).items.find((one) => one.name === name),
  }
}

test("a Project is created with its settings, renamed, and kept in step", async () => {
  const { make, look, poll, edit, find, happened, statusOf, projects } = setting()
  const pool = await world.engine.agentPools.create("acme", { name: "pool" })
  const object = make("shop", {
    name: "Shop",
    description: "What the shop runs on",
    autoDestroyActivityDuration: "14d",
    defaultExecutionMode: "agent",
    defaultAgentPool: { name: "pool" },
    tagBindings: [{ key: "team", value: "shop" }],
  })
  expect(await look(object)).toMatchObject({ is: "ready", reason: "ProjectSaved", synced: "True InStep" })
  const made = await find("Shop")
  expect(made).toMatchObject({ autoDestroyActivityDuration: "14d", defaultAgentPoolId: pool.id })
  expect(await world.engine.tags.projectBindings(made?.id ?? "", {})).toMatchObject([{ key: "team", value: "shop" }])
  expect(statusOf(object)).toMatchObject({ id: made?.id, name: "Shop" })
  edit(object, { name: "Store" })
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect((await find("Store"))?.id).toBe(made?.id)
  await projects.update(made?.id ?? "", { description: "changed" })
  expect(await poll(object)).toMatchObject({ is: "ready", synced: "True InStep" })
  expect((await find("Store"))?.description).toBe("What the shop runs on")
  expect(happened).toEqual(["Created", "DriftCorrected"])
  edit(object, { driftPolicy: "Report" })
  await projects.update(made?.id ?? "", { description: "changed" })
  expect(await poll(object)).toMatchObject({ is: "ready", synced: "False DriftDetected" })
  expect((await find("Store"))?.description).toBe("changed")
})

test("a project that exists is taken over only if adoptionPolicy allows it", async () => {
  const { make, look, edit, find, happened, projects } = setting()
  const { id } = await projects.create("acme", { name: "theirs" })
  const object = make("theirs", { description: "ours" })
  expect(await look(object)).toMatchObject({ is: "stalled", reason: "NameTaken" })
  expect((await find("theirs"))?.description).toBe("")
  edit(object, { adoptionPolicy: "IfExists" })
  expect(await look(object)).toMatchObject({ is: "ready" })
  expect(await find("theirs")).toMatchObject({ id, description: "ours" })
  expect(happened).toEqual(["Adopted"])
  expect(await look(make("absent", { adoptionPolicy: "MustExist" }))).toMatchObject({ reason: "ProjectMissing" })
})

test("a project whose creation was begun before a crash is recognized", async () => {
  const { make, look, write, part, find, projects } = setting()
  await projects.create("acme", { name: "crashed" })
  const object = make("crashed", { deletionPolicy: "Delete" })
  write(object, { createPending: { at: "2026-11-27T00:00:00Z" } })
  expect(await look(object)).toMatchObject({ is: "ready" })
  await projects.create("acme", { name: "lost" })
  const lost = make("lost", { deletionPolicy: "Delete" })
  write(lost, { createPending: { at: "2026-11-27T00:00:00Z" } })
  expect(await part(lost)).toBe("gone")
  expect(await find("lost")).toBeUndefined()
})

test("a Project with Delete waits for its workspaces, and one with Retain leaves the project", async () => {
  const { make, look, part, find } = setting()
  const object = make("gone", { deletionPolicy: "Delete" })
  await look(object)
  const found = await find("gone")
  await world.engine.workspaces.create("acme", { name: "in-it", projectId: found?.id ?? "" })
  expect(await part(object)).toBe("reconciling DeletionBlocked")
  await world.engine.workspaces.forceDelete({ organization: "acme", name: "in-it" })
  expect(await part(object)).toBe("gone")
  expect(await find("gone")).toBeUndefined()
  const retained = make("retained")
  await look(retained)
  expect(await part(retained)).toBe("gone")
  expect(await find("retained")).toBeDefined()
})

test("the younger of two Projects of one name stalls", async () => {
  const { make, look } = setting()
  const [older, younger] = [make("one", { name: "Both" }), make("two", { name: "Both" })]
  expect(await look(younger)).toMatchObject({ is: "stalled", reason: "AlreadyManaged" })
  expect(await look(older)).toMatchObject({ is: "ready" })
})

test("a Workspace waits for the Project that declares its project, and stalls if there is none", async () => {
  await using fixture = await openWorkspaces()
  const spec = { connectionRef: { name: "engine" }, project: { name: "Shop" } }
  const { look } = fixture.open("web", spec)
  expect(await look()).toBe("ReferenceMissing")
  fixture.projects.set({ metadata: { name: "shop", namespace: "team" }, spec: { ...spec, name: "Shop" } })
  expect(await look()).toBe("ProjectNotReady")
  await fixture.engine.projects.create("acme", { name: "Shop" })
  expect(await look()).toBe("Available")
})
