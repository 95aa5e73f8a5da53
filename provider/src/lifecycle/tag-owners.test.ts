// Tags of several owners, one of which is a stack, over a real engine without Pulumi.
import type { Engine } from "@chancery/engine"
import { openTestEngine, type TestEngine } from "@chancery/testing"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { lifecycles } from "./kinds.ts"
import type { Defaults } from "./lifecycle.ts"

const { workspace, workspaceTags, tagBindings, tag, project } = lifecycles
const defaults: Defaults = { organization: "acme", deletionPolicy: "safe", tagBindings: {} }
const stack = "pulumi:site/prod"
const other = { owner: "kubernetes:acme/default/api" }

let world: TestEngine
let engine: Engine
let id: string

beforeEach(async () => {
  world = await openTestEngine()
  engine = world.engine
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  id = (await engine.workspaces.create("acme", { name: "api" })).id
})
afterEach(() => world[Symbol.asyncDispose]())

const signs: Readonly<Record<string, string>> = { [stack]: "stack", [other.owner]: "other" }
async function held(workspaceId = id): Promise<string> {
  const bindings = await engine.tags.bindings(workspaceId, { owners: true, tags: true })
  return bindings
    .map(({ key, value, owners = [] }) => {
      const binding = value === "" ? key : `${key}=${value}`
      return owners.length === 0 ? binding : `${binding}@${owners.map((owner) => signs[owner]).join(",")}`
    })
    .toSorted()
    .join(" ")
}
const add = (names: string, writer = {}) =>
  engine.tags.add(
    id,
    names.split(" ").map((name) => ({ name })),
    writer,
  )
const bind = (bindings: Readonly<Record<string, string>>, writer = {}) =>
  engine.tags.bind(
    id,
    Object.entries(bindings).map(([key, value]) => ({ key, value })),
    writer,
  )

describe("flat tags of a stack", () => {
  test("are owned by it, and tags of other owners do not concern it", async () => {
    await add("theirs both", other)
    await add("nobodys")
    const news = { workspaceId: id, tags: ["ours", "both"] }
    const { state } = await workspaceTags.create(engine, news, new Set(), stack)
    expect(await held()).toBe("both@other,stack nobodys ours@stack theirs@other")
    const alone = { ...news, tags: ["ours"], mode: "exclusive" }
    const after = await workspaceTags.update(engine, id, state, alone, stack)
    expect(await held()).toBe("both@other ours@stack theirs@other")
    const read = await workspaceTags.read(engine, id, after, defaults, stack)
    expect(read?.state).toEqual(after)
    await workspaceTags.delete(engine, id, after, defaults, stack)
    expect(await held()).toBe("both@other theirs@other")
  })

  test("that have no owner yet show no difference, and are removed like owned ones", async () => {
    const { state } = await workspaceTags.create(engine, { workspaceId: id, tags: ["a", "b"] })
    expect(await held()).toBe("a b")
    const read = await workspaceTags.read(engine, id, state, defaults, stack)
    expect(read?.state).toEqual(state)
    const after = await workspaceTags.update(engine, id, state, { workspaceId: id, tags: ["a"] }, stack)
    expect(await held()).toBe("a@stack")
    await workspaceTags.delete(engine, id, after, defaults, stack)
    expect(await held()).toBe("")
  })
})

describe("bindings of a stack", () => {
  test("are owned by it, in both modes", async () => {
    await bind({ theirs: "1", both: "1" }, other)
    await bind({ nobodys: "1" })
    const news = { workspaceId: id, bindings: { ours: "1", both: "1" } }
    const { state } = await tagBindings.create(engine, news, new Set(), stack)
    expect(await held()).toBe("both=1@other,stack nobodys=1 ours=1@stack theirs=1@other")
    const less = { ...news, bindings: { ours: "2" } }
    const after = await tagBindings.update(engine, id, state, less, stack)
    expect(await held()).toBe("both=1@other nobodys=1 ours=2@stack theirs=1@other")
    const alone = await tagBindings.update(engine, id, after, { ...less, mode: "exclusive" }, stack)
    expect(await held()).toBe("both=1@other ours=2@stack theirs=1@other")
    expect((await tagBindings.read(engine, id, alone, defaults, stack))?.state).toEqual(alone)
    await tagBindings.delete(engine, id, alone, defaults, stack)
    expect(await held()).toBe("both=1@other theirs=1@other")
  })

  test("of two resources stay unchanged by each other", async () => {
    const one = { workspaceId: id, bindings: { a: "1", b: "1" } }
    const { state } = await tagBindings.create(engine, one, new Set(), stack)
    const another = await tagBindings.create(engine, { workspaceId: id, bindings: { c: "1" } }, new Set(), stack)
    const after = await tagBindings.update(engine, id, state, { ...one, bindings: { a: "1" } }, stack)
    expect(await held()).toBe("a=1@stack c=1@stack")
    await tagBindings.delete(engine, id, after, defaults, stack)
    expect(await held()).toBe("c=1@stack")
    await tagBindings.delete(engine, id, another.state, defaults, stack)
    expect(await held()).toBe("")
  })

  test("are rejected with another value of a key of another owner, and nothing changes", async () => {
    await bind({ env: "prod" }, other)
    const news = { workspaceId: id, bindings: { env: "dev", ours: "1" } }
    await expect(tagBindings.create(engine, news, new Set(), stack)).rejects.toMatchObject({
      code: "conflict",
      message: "Tag env=prod is owned by kubernetes:acme/default/api; pulumi:site/prod cannot change it to env=dev",
    })
    expect(await held()).toBe("env=prod@other")
  })

  test("that have no owner yet show no difference, and are removed like owned ones", async () => {
    const news = { workspaceId: id, bindings: { a: "1", b: "1", c: "1" } }
    const { state } = await tagBindings.create(engine, news)
    await bind({ c: "1" }, other)
    expect((await tagBindings.read(engine, id, state, defaults, stack))?.state).toEqual(state)
    const after = await tagBindings.update(engine, id, state, { ...news, bindings: { b: "1" } }, stack)
    expect(await held()).toBe("b=1@stack c=1@other")
    await tagBindings.delete(engine, id, after, defaults, stack)
    expect(await held()).toBe("c=1@other")
  })
})

describe("a workspace of a stack", () => {
  const api = { organization: "acme", name: "web", __marker: "prod" }

  test("has exactly the declared bindings and those of other owners", async () => {
    const news = { ...api, tagBindings: { a: "1", b: "1" } }
    const made = await workspace.create(engine, news, new Set(), stack)
    id = made.id
    await bind({ theirs: "1" }, other)
    const read = await workspace.read(engine, id, made.state, defaults, stack)
    expect(read?.state).toEqual(made.state)
    await bind({ nobodys: "1" })
    const found = await workspace.read(engine, id, made.state, defaults, stack)
    expect(found?.state).toMatchObject({ tagBindings: { a: "1", b: "1", nobodys: "1" } })
    const after = await workspace.update(engine, id, found?.state ?? {}, { ...api, tagBindings: { a: "2" } }, stack)
    expect(await held()).toBe("a=2@stack theirs=1@other")
    await workspace.update(engine, id, after, api, stack)
    expect(await held()).toBe("theirs=1@other")
  })

  test("with only configured bindings keeps all others, also of its own stack", async () => {
    const withTeam = { ...api, tagBindings: { team: "one", cost: "1" }, __defaulted: true }
    const made = await workspace.create(engine, withTeam, new Set(), stack)
    id = made.id
    await tagBindings.create(engine, { workspaceId: id, bindings: { ours: "1" } }, new Set(), stack)
    await bind({ theirs: "1" }, other)
    await bind({ nobodys: "1" })
    const next = { ...withTeam, tagBindings: { team: "two" } }
    const after = await workspace.update(engine, id, made.state, next, stack)
    expect(after).toMatchObject({ tagBindings: { team: "two" } })
    expect(await held()).toBe("nobodys=1 ours=1@stack team=two@stack theirs=1@other")
    await workspace.update(engine, id, after, api, stack)
    expect(await held()).toBe("nobodys=1 ours=1@stack theirs=1@other")
  })

  test("without owned tags shows no difference, and owns them after its next change", async () => {
    const news = { ...api, tagBindings: { a: "1", b: "1" } }
    const made = await workspace.create(engine, news)
    id = made.id
    expect((await workspace.read(engine, id, made.state, defaults, stack))?.state).toEqual(made.state)
    await workspace.update(engine, id, made.state, { ...api, tagBindings: { b: "1", c: "1" } }, stack)
    expect(await held()).toBe("b=1@stack c=1@stack")
  })
})

test("a project of a stack has exactly the declared bindings and those of other owners", async () => {
  const news = { organization: "acme", name: "payments", tagBindings: { a: "1", b: "1" }, __marker: "prod" }
  const made = await project.create(engine, news, new Set(), stack)
  await engine.tags.bindProject(made.id, [{ key: "theirs", value: "1" }], other)
  await engine.tags.bindProject(made.id, [{ key: "nobodys", value: "1" }])
  const read = await project.read(engine, made.id, made.state, defaults, stack)
  expect(read?.state).toMatchObject({ tagBindings: { a: "1", b: "1", nobodys: "1" } })
  await project.update(engine, made.id, read?.state ?? {}, { ...news, tagBindings: { b: "2" } }, stack)
  expect(await engine.tags.projectBindings(made.id, { owners: true })).toMatchObject([
    { key: "b", value: "2", owners: [stack] },
    { key: "theirs", value: "1", owners: [other.owner] },
  ])
})

test("a tag of a stack that has other owners is deleted only by force", async () => {
  const news = { organization: "acme", name: "prod", workspaceIds: [id], __marker: "prod" }
  const made = await tag.create(engine, news, new Set(), stack)
  await add("prod", other)
  expect(await held()).toBe("prod@other,stack")
  await expect(tag.delete(engine, made.id, made.state, defaults, stack)).rejects.toMatchObject({ code: "conflict" })
  await tag.update(engine, made.id, made.state, { ...news, workspaceIds: [] }, stack)
  expect(await held()).toBe("prod@other")
  await tag.delete(engine, made.id, { ...made.state, deletionPolicy: "force" }, defaults, stack)
  expect(await held()).toBe("")
})
