// A declared workspace variable: validation, differences to the observed variable, and ownership.
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { EngineError, type Fault } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { openTestEngine, type TestEngine } from "../../testing/test-engine.ts"
import type { Variables } from "../workspaces/variables/variable.ts"
import { type ObservedVariable, variableResource, type VariableSpec } from "./variable.ts"

const pathsOf = (faults: readonly Fault[]) => faults.map(({ field }) => field?.join("."))
const now = Date.parse("2026-01-01T00:00:00Z")
const region = { workspaceId: "ws-1", key: "region", category: "terraform" } as const

describe("a variable", () => {
  test.each<{ spec: object; at: string; why: string }>([
    { spec: { workspaceId: undefined }, at: "workspaceId", why: "no workspace" },
    { spec: { key: undefined }, at: "key", why: "no key" },
    { spec: { key: " " }, at: "key", why: "a blank key" },
    { spec: { key: "k".repeat(129) }, at: "key", why: "a key of 129 characters" },
    { spec: { category: "policy-set" }, at: "category", why: "an unknown category" },
    { spec: { category: undefined }, at: "category", why: "no category" },
    { spec: { value: 7 }, at: "value", why: "a value that is a number" },
    { spec: { value: "ü".repeat(131_073) }, at: "value", why: "a value above 256 KiB" },
    { spec: { description: "d".repeat(513) }, at: "description", why: "a description of 513 characters" },
    { spec: { hcl: "yes" }, at: "hcl", why: "a word in the place of a flag" },
    { spec: { secret: true }, at: "secret", why: "an unknown member" },
  ])("is rejected with $why", ({ spec, at }) => {
    expect(pathsOf(variableResource.validate({ ...region, ...spec }))).toEqual([at])
  })

  test("is accepted while values are unknown", () => {
    expect(variableResource.validate({}, new Set(["workspaceId", "key", "category", "value"]))).toEqual([])
  })

  const observed: ObservedVariable = {
    ...region,
    value: "eu",
    description: "",
    hcl: false,
    sensitive: false,
    versionId: "1",
  }
  const secret = { ...observed, sensitive: true, value: null }

  test.each<{
    spec: Partial<VariableSpec>
    of?: ObservedVariable
    dropped?: string[]
    changed: string[]
    replaced?: string[]
    why: string
  }>([
    { spec: { value: "eu", description: null, hcl: false }, changed: [], why: "all as it is" },
    { spec: {}, changed: [], why: "what is not declared is not managed" },
    { spec: { value: "us" }, changed: ["value"], why: "another value" },
    { spec: { key: "place", category: "env" }, changed: ["key", "category"], why: "another name for it" },
    { spec: {}, dropped: ["value", "description"], changed: ["value"], why: "declared no longer, it is empty again" },
    { spec: { sensitive: true }, changed: ["sensitive"], why: "it may become sensitive" },
    { spec: { value: "" }, of: secret, changed: ["value"], why: "an unreadable value is not empty" },
    {
      spec: { sensitive: false },
      of: secret,
      changed: ["sensitive"],
      replaced: ["sensitive"],
      why: "a sensitive one never becomes readable",
    },
    { spec: {}, of: secret, dropped: ["sensitive"], changed: ["sensitive"], replaced: ["sensitive"], why: "nor so" },
    {
      spec: { workspaceId: "ws-2" },
      changed: ["workspaceId"],
      replaced: ["workspaceId"],
      why: "of another workspace it is another one",
    },
  ])("changes $changed: $why", ({ spec, of = observed, dropped, changed, replaced = [] }) => {
    const found = variableResource.diff({ ...region, ...spec }, of, dropped)
    expect(found).toEqual({ changed, mustReplace: replaced, removeFirst: replaced.includes("sensitive") })
  })
})

describe("a variable in a workspace", () => {
  let world: TestEngine
  let engine: Engine
  let spec: VariableSpec
  beforeEach(async () => {
    world = await openTestEngine()
    engine = world.engine
    await engine.organizations.create({ name: "acme", email: "acme@example.com" })
    const { id } = await engine.workspaces.create("acme", { name: "api" })
    spec = { ...region, workspaceId: id, value: "eu" }
  })
  afterEach(() => world[Symbol.asyncDispose]())

  const origin = () => ({ marker: "m", adopt: false, now: Date.now() })
  const all = async () =>
    (await engine.variables.list({ id: spec.workspaceId })).map(({ key, value, description }) => ({
      key,
      value,
      description,
    }))
  const tampered = (methods: Partial<Variables>): Engine => {
    const { variables } = engine
    const create: Variables["create"] = (ref, input) => variables.create(ref, input)
    const list: Variables["list"] = (ref) => variables.list(ref)
    const get: Variables["get"] = (ref, id) => variables.get(ref, id)
    const update: Variables["update"] = (ref, id, patch) => variables.update(ref, id, patch)
    const own = { create, list, get, update, ...methods }
    return new Proxy(engine, {
      get: (target, name) => (name === "variables" ? own : Reflect.get(target, name, target)),
    })
  }

  test("is created, updated by differing members, and deleted", async () => {
    const { id, observed } = await variableResource.create(engine, spec, origin())
    expect(id).toMatch(/^ws-\w+\/var-\w+$/)
    const changed = await variableResource.update(engine, id, { ...spec, value: "us", hcl: true }, observed)
    expect(changed).toMatchObject({ key: "region", value: "us", hcl: true })
    expect(changed.versionId).not.toBe(observed.versionId)
    expect(await variableResource.observe(engine, id, spec, { before: changed, now })).toEqual(changed)
    await variableResource.delete(engine, id, spec, "safe", { before: changed, now })
    await variableResource.delete(engine, id, spec, "safe", { before: changed, now })
    expect(await variableResource.observe(engine, id, spec, { before: changed, now })).toBeUndefined()
  })

  test("keeps its sensitive value in the state until another client changes it", async () => {
    const secret = { ...spec, sensitive: true }
    const { id, observed } = await variableResource.create(engine, secret, origin())
    const known = { before: observed, now }
    expect((await variableResource.observe(engine, id, secret, known))?.value).toBe("eu")
    const [, variableId = ""] = id.split("/")
    await engine.variables.update({ id: spec.workspaceId }, variableId, { value: "theirs" })
    const found = await variableResource.observe(engine, id, secret, known)
    expect(found?.value).toBeNull()
    expect(found && variableResource.diff(secret, found).changed).toEqual(["value"])
    const mended = found && (await variableResource.update(engine, id, secret, found))
    expect(mended?.value).toBe("eu")
    expect((await variableResource.observe(engine, id, secret, { before: mended ?? {}, now }))?.value).toBe("eu")
  })

  test.each<{ what: string; there: Partial<VariableSpec>; wanted: Partial<VariableSpec>; isOurs: boolean }>([
    { what: "one as declared", there: {}, wanted: {}, isOurs: true },
    { what: "another value", there: { value: "us" }, wanted: {}, isOurs: false },
    { what: "another description", there: { description: "x" }, wanted: {}, isOurs: false },
    { what: "a new sensitive one", there: { sensitive: true }, wanted: { sensitive: true }, isOurs: true },
    { what: "one that is not sensitive", there: {}, wanted: { sensitive: true }, isOurs: false },
  ])("is adopted from a lost response if it exists as $what: $isOurs", async ({ there, wanted, isOurs }) => {
    const { id } = await variableResource.create(engine, { ...spec, ...there }, origin())
    const again = variableResource.create(engine, { ...spec, ...wanted }, origin()).then(
      (created) => created.id,
      (error: Error) => error.message,
    )
    expect(await again).toMatch(isOurs ? id : /taken/)
    expect(await all()).toHaveLength(1)
  })

  test("is not adopted if it is recorded or old", async () => {
    const secret = { ...spec, sensitive: true }
    const { id } = await variableResource.create(engine, secret, origin())
    const later = { ...origin(), now: Date.now() + 3_600_000 }
    await expect(variableResource.create(engine, secret, later)).rejects.toThrow(/taken/)
    await expect(variableResource.create(engine, secret, { ...origin(), recorded: new Set([id]) })).rejects.toThrow(
      /taken/,
    )
  })

  test("of another client is taken over with adopt", async () => {
    const { id } = await variableResource.create(engine, { ...spec, value: "us", description: "theirs" }, origin())
    const taken = await variableResource.create(engine, spec, { ...origin(), adopt: true })
    expect(taken).toMatchObject({ id, adopted: true, observed: { value: "eu", description: "theirs" } })
    expect(await all()).toEqual([{ key: "region", value: "eu", description: "theirs" }])
  })

  test("is found again after its response was lost", async () => {
    const lossy = tampered({
      create: async (ref, input) => {
        await engine.variables.create(ref, input)
        throw new EngineError("unavailable", "the answer was lost")
      },
    })
    const created = await variableResource.create(lossy, { ...spec, sensitive: true }, origin())
    expect(created).toMatchObject({ adopted: false, observed: { value: "eu", sensitive: true } })
    expect(await all()).toHaveLength(1)
  })

  test("is not dropped if it cannot be read", async () => {
    const { id, observed } = await variableResource.create(engine, spec, origin())
    const hidden = async () => {
      throw new EngineError("not-found", "nothing is here")
    }
    const blind = tampered({ get: hidden, list: hidden })
    const seen = variableResource.observe(blind, id, spec, { before: observed, now })
    await expect(seen).rejects.toMatchObject({ code: "forbidden" })
    await engine.workspaces.forceDelete({ id: spec.workspaceId })
    expect(await variableResource.observe(engine, id, spec, { before: observed, now })).toBeUndefined()
  })

  test.each(["var-1", "ws-1/", "a/b/c"])("rejects the id %j", async (id) => {
    await expect(variableResource.observe(engine, id, spec, { before: {}, now })).rejects.toThrow(/WORKSPACE_ID/)
  })
})
