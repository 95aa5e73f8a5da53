import type { VariableView } from "@chancery/engine"
import { afterAll, beforeAll, expect, test } from "vitest"
import { configMaps, type Resource, secrets } from "../../kube/kubernetes-object.ts"
import { type SimulatedFate, openWorkspaces, type WorkspacesFixture } from "../../../testing/workspaces-fixture.ts"

let stage: WorkspacesFixture
beforeAll(async () => {
  stage = await openWorkspaces()
})
afterAll(() => stage[Symbol.asyncDispose]())

const minute = 60_000

async function opened(name: string, spec: Record<string, unknown>, fateOf?: (call: string) => SimulatedFate) {
  const it = stage.open(name, spec, fateOf)
  const reason = await it.look()
  return { it, reason, id: String(it.status["id"]) }
}
type Opened = Awaited<ReturnType<typeof opened>>["it"]

const variablesOf = (id: string) => stage.engine.variables.list({ id })
const toldOf = async (id: string) =>
  (await variablesOf(id))
    .map(({ category, key, value, sensitive }) => [category, key, sensitive ? "*" : value].join(" "))
    .toSorted()
const found = async (id: string, key: string): Promise<VariableView> =>
  (await variablesOf(id)).find((one) => one.key === key)!

const put = (resource: Resource, name: string, data: Record<string, string>) =>
  stage.cluster.apply(
    resource,
    {
      metadata: { namespace: "team", name },
      data: Object.fromEntries(
        Object.entries(data).map(([key, text]) => [
          key,
          resource === secrets ? Buffer.from(text).toString("base64") : text,
        ]),
      ),
    },
    "somebody",
  )
const fromSecret = (name: string, key: string, more: object = {}) => ({
  valueFrom: { secretKeyRef: { name, key, ...more } },
})
const fromConfigMap = (name: string, key: string, more: object = {}) => ({
  valueFrom: { configMapKeyRef: { name, key, ...more } },
})
/** Polls until each aspect was checked once, and returns all calls. */
async function pollAll(it: Opened): Promise<readonly string[]> {
  const calls: string[] = []
  for (let turn = 0; turn < 6; turn += 1) {
    it.pass(10 * minute)
    await it.poll()
    calls.push(...it.calls)
  }
  return calls
}
const changing = (calls: readonly string[]) => calls.filter((call) => /variables\.(create|update|delete)/.test(call))

test("variables of both categories are created from values, Secrets and ConfigMaps", async () => {
  await put(secrets, "made", { password: " s3cret\n" })
  await put(configMaps, "made", { region: "eu" })
  const { reason, id, it } = await opened("made", {
    variables: [
      { key: "size", value: "3", hcl: true, description: "How many" },
      { key: "TOKEN", category: "env", ...fromSecret("made", "password") },
      { key: "region", ...fromConfigMap("made", "region") },
      { key: "shown", ...fromSecret("made", "password"), sensitive: false },
      { key: "hidden", ...fromConfigMap("made", "region"), sensitive: true },
    ],
  })
  expect(reason).toBe("Available")
  expect(await toldOf(id)).toEqual([
    "env TOKEN *",
    "terraform hidden *",
    "terraform region eu",
    "terraform shown  s3cret\n",
    "terraform size 3",
  ])
  expect(await found(id, "size")).toMatchObject({ hcl: true, description: "How many" })
  expect(it.status["variables"]).toMatchObject([
    { category: "terraform", key: "size" },
    { category: "env", key: "TOKEN", versionID: (await found(id, "TOKEN")).versionId },
    { category: "terraform", key: "region" },
    { category: "terraform", key: "shown" },
    { category: "terraform", key: "hidden" },
  ])
  expect(JSON.stringify(it.status)).not.toContain("s3cret")
})

test("a poll of unchanged variables takes one request and changes neither engine nor status", async () => {
  await put(secrets, "quiet", { a: "1" })
  const { it } = await opened("quiet", {
    variables: [
      { key: "a", ...fromSecret("quiet", "a") },
      { key: "b", value: "2" },
    ],
  })
  await it.look()
  expect(changing(it.calls)).toEqual([])
  const before = it.status
  const calls = await pollAll(it)
  expect(changing(calls)).toEqual([])
  expect(calls).toHaveLength(6)
  expect(calls).toContain("variables.list")
  expect(it.status).toEqual(before)
})

test("a workspace without variables sends no request for them", async () => {
  const { it } = await opened("none", {})
  expect(it.calls.filter((call) => call.startsWith("variables."))).toEqual([])
})

test.each([
  { what: "value", patch: { value: "edited" } },
  { what: "description", patch: { description: "edited" } },
  { what: "hcl", patch: { hcl: true } },
  { what: "sensitive", patch: { sensitive: true } },
])("a $what that another client changed is reverted", async ({ what, patch }) => {
  const { it, id } = await opened(`back-${what}`, { variables: [{ key: "a", value: "1" }] })
  await stage.engine.variables.update({ id }, (await found(id, "a")).id, patch)
  await pollAll(it)
  expect(await found(id, "a")).toMatchObject({ value: "1", description: "", hcl: false, sensitive: false })
  expect(it.happened).toEqual(["Created", "DriftCorrected"])
})

test("a deleted variable is created again, and a sensitive one that another client wrote is written again", async () => {
  await put(secrets, "again", { a: "1" })
  const { it, id } = await opened("again", {
    variables: [
      { key: "gone", value: "x" },
      { key: "a", ...fromSecret("again", "a") },
    ],
  })
  await stage.engine.variables.delete({ id }, (await found(id, "gone")).id)
  const { versionId } = await stage.engine.variables.update({ id }, (await found(id, "a")).id, { value: "theirs" })
  const calls = await pollAll(it)
  expect(changing(calls)).toEqual(["variables.create", "variables.update"])
  expect(await toldOf(id)).toEqual(["terraform a *", "terraform gone x"])
  expect((await found(id, "a")).versionId).not.toBe(versionId)
  expect(it.status["variables"]).toMatchObject([{ key: "gone" }, { versionID: (await found(id, "a")).versionId }])
})

test("undeclared variables stay unchanged, and an existing one that is declared is taken over", async () => {
  const { it, id } = await opened("others", { variables: [{ key: "ours", value: "1" }] })
  const theirs = { description: "", category: "terraform", hcl: false, sensitive: false } as const
  await stage.engine.variables.create({ id }, { ...theirs, key: "theirs", value: "t" })
  await stage.engine.variables.create({ id }, { ...theirs, key: "both", value: "t", sensitive: true })
  await pollAll(it)
  expect(await toldOf(id)).toEqual(["terraform both *", "terraform ours 1", "terraform theirs t"])
  it.edit({ variables: [{ key: "both", value: "b" }] })
  await it.look()
  // The value of the sensitive variable cannot be read, so the variable was replaced.
  expect(await toldOf(id)).toEqual(["terraform both b", "terraform theirs t"])
  it.edit({})
  await it.look()
  expect(await toldOf(id)).toEqual(["terraform theirs t"])
  expect(it.status).not.toHaveProperty("variables")
})

test("a variable whose category changes is replaced", async () => {
  const { it, id } = await opened("category", { variables: [{ key: "a", value: "1" }] })
  it.edit({ variables: [{ key: "a", category: "env", value: "1" }] })
  await it.look()
  expect(await toldOf(id)).toEqual(["env a 1"])
})

test.each([secrets, configMaps])(
  "a changed $kind updates the value immediately, whatever the poll reads",
  async (resource) => {
    const name = `followed-${resource.plural}`
    await put(resource, name, { a: "1" })
    const from = resource === secrets ? fromSecret : fromConfigMap
    const { it, id } = await opened(name, { variables: [{ key: "a", ...from(name, "a"), sensitive: false }] })
    for (const value of ["2", "3", "4"]) {
      await put(resource, name, { a: value })
      it.pass(7 * minute)
      await it.poll()
      expect(await toldOf(id)).toEqual([`terraform a ${value}`])
    }
  },
)

test("a sensitive value is written once after its Secret was replaced", async () => {
  await put(secrets, "rotated", { a: "1" })
  const { it, id } = await opened("rotated", { variables: [{ key: "a", ...fromSecret("rotated", "a") }] })
  const before = (await found(id, "a")).versionId
  await put(secrets, "rotated", { a: "2" })
  await it.poll()
  expect(changing(it.calls)).toEqual(["variables.update"])
  expect((await found(id, "a")).versionId).not.toBe(before)
  expect(changing(await pollAll(it))).toEqual([])
})

test.each([
  { of: "a Secret", from: fromSecret("nowhere", "a"), reason: "SecretMissing", says: "Secret nowhere" },
  { of: "a ConfigMap", from: fromConfigMap("nowhere", "a"), reason: "ConfigMapMissing", says: "ConfigMap nowhere" },
  { of: "a key of it", from: fromSecret("partial", "b"), reason: "SecretKeyMissing", says: "no value for b" },
  { of: "a key of that", from: fromConfigMap("partial", "b"), reason: "ConfigMapKeyMissing", says: "no value for b" },
  {
    of: "what no object inherits",
    from: fromConfigMap("partial", "constructor"),
    reason: "ConfigMapKeyMissing",
    says: "no value for constructor",
  },
  { of: "text", from: fromSecret("binary", "a"), reason: "InvalidSpec", says: "not valid UTF-8" },
])("nothing is changed while $of is missing, and $reason names it", async ({ from, reason, says }) => {
  await put(secrets, "partial", { a: "1" })
  await put(configMaps, "partial", { a: "1" })
  const binary = {
    metadata: { namespace: "team", name: "binary" },
    data: { a: Buffer.from([0xff]).toString("base64") },
  }
  await stage.cluster.apply(secrets, binary, "somebody")
  const { it, id } = await opened(`missing-${reason.toLowerCase()}-${says.length}`, {
    description: "before",
    variables: [{ key: "a", value: "1" }],
  })
  it.edit({
    description: "after",
    variables: [
      { key: "b", value: "2" },
      { key: "c", ...from },
    ],
  })
  expect(await it.look()).toBe(reason)
  expect(it.told).toContain(says)
  expect(it.told).toContain("terraform c")
  expect(await toldOf(id)).toEqual(["terraform a 1"])
  expect((await stage.engine.workspaces.get({ id })).description).toBe("before")
})

test("an optional variable exists while its source exists", async () => {
  const { it, id } = await opened("optional", {
    variables: [
      { key: "a", ...fromSecret("perhaps", "a", { optional: true }) },
      { key: "b", ...fromConfigMap("perhaps", "b", { optional: true }) },
    ],
  })
  expect(await toldOf(id)).toEqual([])
  await put(secrets, "perhaps", { a: "1" })
  await put(configMaps, "perhaps", { b: "2" })
  await it.poll()
  expect(await toldOf(id)).toEqual(["terraform a *", "terraform b 2"])
  await put(secrets, "perhaps", { other: "1" })
  await stage.cluster.delete(configMaps, "team/perhaps")
  await it.poll()
  expect(await toldOf(id)).toEqual([])
  expect(it.status).not.toHaveProperty("variables")
})

test("invalid variables are rejected before any change", async () => {
  await put(secrets, "long", { a: "x".repeat(262_145) })
  const { it, id } = await opened("long", { variables: [{ key: "a", value: "1" }] })
  it.edit({
    variables: [
      { key: "b", value: "1" },
      { key: "c", ...fromSecret("long", "a") },
    ],
  })
  expect(await it.look()).toBe("InvalidSpec")
  expect(it.told).toContain("spec.variables[terraform/c]: Value is too long")
  expect(await toldOf(id)).toEqual(["terraform a 1"])
})

test("with driftPolicy Report nothing is changed, and no secret value is shown", async () => {
  await put(secrets, "reported", { a: "s3cret" })
  const variables = [
    { key: "a", ...fromSecret("reported", "a") },
    { key: "b", value: "1" },
    { key: "c", value: "2" },
  ]
  const { it, id } = await opened("reported", { variables })
  const hidden = await stage.engine.variables.update({ id }, (await found(id, "a")).id, { value: "0ther" })
  await stage.engine.variables.update({ id }, (await found(id, "b")).id, { value: "theirs" })
  await stage.engine.variables.delete({ id }, (await found(id, "c")).id)
  it.edit({ driftPolicy: "Report", variables: variables.slice(0, 3) })
  await it.look()
  expect(it.status["drift"]).toEqual([
    { field: "variables[terraform/a]", desired: '{"value":"(sensitive)"}', observed: '{"value":"(sensitive)"}' },
    { field: "variables[terraform/b]", desired: '{"value":"1"}', observed: '{"value":"theirs"}' },
    {
      field: "variables[terraform/c]",
      desired: '{"value":"2","description":"","hcl":false,"sensitive":false}',
      observed: "null",
    },
  ])
  expect(it.condition("Synced")).toBe("False DriftDetected")
  it.edit({ driftPolicy: "Report", variables: [] })
  await it.look()
  expect(it.status["drift"]).toMatchObject([
    { field: "variables[terraform/a]", desired: "null", observed: expect.stringContaining("(sensitive)") as string },
    { field: "variables[terraform/b]", desired: "null" },
  ])
  expect((await found(id, "a")).versionId).toBe(hidden.versionId)
  expect(await toldOf(id)).toEqual(["terraform a *", "terraform b theirs"])
  expect(JSON.stringify(it.status)).not.toMatch(/s3cret|0ther/)
  it.edit({ variables })
  await it.look()
  expect(await toldOf(id)).toEqual(["terraform a *", "terraform b 1", "terraform c 2"])
  expect(it.status).not.toHaveProperty("drift")
})

test.each<SimulatedFate>(["lost", "answer lost"])("comes to the same whatever single call is %s", async (fate) => {
  await put(secrets, "lossy", { a: "1", b: "2" })
  const before = [
    { key: "gone", value: "1" },
    { key: "a", ...fromSecret("lossy", "a") },
    { key: "b", value: "1" },
  ]
  const after = [
    { key: "a", ...fromSecret("lossy", "b") },
    { key: "b", value: "2" },
    { key: "new", ...fromSecret("lossy", "a") },
  ]
  for (let lost = 0; ; lost += 1) {
    let counted = -1
    let active = false
    const { it, id } = await opened(`lossy-${fate === "lost" ? "l" : "a"}${lost}`, { variables: before }, (call) => {
      if (!active || !call.startsWith("variables.")) return "done"
      counted += 1
      return counted === lost ? fate : "done"
    })
    const versionBefore = (await found(id, "a")).versionId
    active = true
    it.edit({ variables: after })
    await it.look()
    const wasLost = counted >= lost
    active = false
    expect(await it.look()).toBe("Available")
    expect(await toldOf(id)).toEqual(["terraform a *", "terraform b 2", "terraform new *"])
    expect((await found(id, "a")).versionId).not.toBe(versionBefore)
    expect(it.status["variables"]).toMatchObject([
      { key: "a", versionID: (await found(id, "a")).versionId },
      { key: "b" },
      { key: "new", versionID: (await found(id, "new")).versionId },
    ])
    await it.look()
    expect(changing(it.calls)).toEqual([])
    if (!wasLost) return
  }
})
