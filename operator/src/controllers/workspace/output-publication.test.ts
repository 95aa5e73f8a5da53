import { EngineError } from "@chancery/engine"
import { afterAll, beforeAll, expect, test } from "vitest"
import { ApiError } from "../../kube/cluster.ts"
import { configMaps, type KubernetesObject, type Resource, secrets } from "../../kube/kubernetes-object.ts"
import { type SimulatedFate, openWorkspaces, type WorkspacesFixture } from "../../../testing/workspaces-fixture.ts"
import { maxContentBytes } from "./output-layout.ts"

let stage: WorkspacesFixture
beforeAll(async () => {
  stage = await openWorkspaces()
})
afterAll(() => stage[Symbol.asyncDispose]())

const minute = 60_000

/** Returns an output as in a state file. */
const output = (value: unknown, sensitive = false) => ({
  value,
  type: typeof value === "number" ? "number" : "string",
  ...(sensitive ? { sensitive } : {}),
})

const objectAt = (resource: Resource, name: string) => stage.cluster.get(resource, `team/${name}`)
const textsOf = (object: KubernetesObject | undefined): Record<string, string> | undefined => {
  const data = object?.["data"] as Record<string, string> | undefined
  if (object?.kind !== "Secret") return data
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]),
  )
}
const published = async (name: string, secretName = name) => [
  textsOf(await objectAt(configMaps, name)),
  textsOf(await objectAt(secrets, secretName)),
]

async function opened(name: string, outputs: Record<string, unknown> = {}, fateOf?: (call: string) => SimulatedFate) {
  const it = stage.open(name, { outputs }, fateOf)
  await it.look()
  const id = String(it.status["id"])
  return { it, id }
}

test("a workspace publishes its outputs, or reports that it has no state", async () => {
  const { it, id } = await opened("first")
  expect(it.condition("OutputsPublished")).toBe("False StateMissing")
  expect(it.condition("Synced")).toBe("True InStep")
  expect(await published("first-outputs")).toEqual([undefined, undefined])
  await stage.putState(id, 1, { region: output("eu"), count: output(3), password: output("s3cret", true) })
  it.pass(10 * minute)
  expect(await it.poll()).toBe("Available")
  expect(it.condition("OutputsPublished")).toBe("True OutputsPublished")
  expect(await published("first-outputs")).toEqual([{ region: "eu", count: "3" }, { password: "s3cret" }])
  expect(it.status["outputs"]).toMatchObject({
    serial: 1,
    configMap: { name: "first-outputs" },
    secret: { name: "first-outputs" },
  })
  expect(JSON.stringify(it.status)).not.toContain("s3cret")
  expect(it.happened).toEqual(["Created", "OutputsPublished"])
  for (const resource of [configMaps, secrets]) {
    const { metadata } = (await objectAt(resource, "first-outputs"))!
    expect(metadata.labels).toMatchObject({ "controller.chancery.dev/managed": "true" })
    expect(metadata["ownerReferences"]).toEqual([
      {
        apiVersion: "chancery.dev/v1alpha1",
        kind: "Workspace",
        name: "first",
        uid: "uid-of-first",
        controller: true,
        blockOwnerDeletion: false,
      },
    ])
    expect(JSON.stringify(metadata)).not.toContain("s3cret")
  }
})

test("a poll reads outputs only after the state changed", async () => {
  const { it, id } = await opened("polled")
  await stage.putState(id, 1, { a: output("1") })
  it.pass(10 * minute)
  await it.poll()
  expect(it.calls).toEqual(["workspaces.get", "stateVersions.current", "stateVersions.outputs"])
  const before = it.status
  it.pass(10 * minute)
  await it.poll()
  expect(it.calls).toEqual(["workspaces.get"])
  expect(it.status).toEqual(before)
  await stage.putState(id, 2, { b: output("2") })
  it.pass(10 * minute)
  await it.poll()
  expect(await published("polled-outputs")).toEqual([{ b: "2" }, {}])
  expect(it.status["outputs"]).toMatchObject({ serial: 2 })
})

test("an output that becomes sensitive moves to the Secret", async () => {
  const { it, id } = await opened("moved")
  await stage.putState(id, 1, { key: output("x"), other: output("y") })
  await it.look()
  await stage.putState(id, 2, { key: output("x", true), other: output("y") })
  await it.look()
  expect(await published("moved-outputs")).toEqual([{ other: "y" }, { key: "x" }])
})

test.each([configMaps, secrets])("a $kind that another client edited or deleted is restored", async (resource) => {
  const name = `edited-${resource.plural}`
  const { it, id } = await opened(name)
  await stage.putState(id, 1, { a: output("1"), b: output("2", true) })
  await it.look()
  const whole = [{ a: "1" }, { b: "2" }]
  const key = `team/${name}-outputs`
  await stage.cluster.apply(
    resource,
    { metadata: { namespace: "team", name: `${name}-outputs` }, data: { a: "eHg=", b: "eHg=" } },
    "somebody",
  )
  expect(await published(`${name}-outputs`)).not.toEqual(whole)
  await it.poll()
  // The other writer overwrote one key and added one. The operator restores its own key and keeps the other.
  expect((await published(`${name}-outputs`))[resource === configMaps ? 0 : 1]).toMatchObject(
    resource === configMaps ? { a: "1" } : { b: "2" },
  )
  await stage.cluster.delete(resource, key)
  await it.poll()
  expect(await published(`${name}-outputs`)).toEqual(whole)
  expect(it.condition("OutputsPublished")).toBe("True OutputsPublished")
})

test.each([
  { resource: configMaps, reason: "ConfigMapConflict" },
  { resource: secrets, reason: "SecretNameConflict" },
])("a $resource.kind of another owner stays unchanged, and nothing is published", async ({ resource, reason }) => {
  const name = `foreign-${resource.plural}`
  const theirs = { metadata: { namespace: "team", name: `${name}-outputs` }, data: { mine: "eHg=" } }
  await stage.cluster.apply(resource, theirs, "somebody")
  const { it, id } = await opened(name)
  await stage.putState(id, 1, { a: output("1"), b: output("2", true) })
  expect(await it.look()).toBe("Available")
  expect(it.condition("OutputsPublished")).toBe(`False ${reason}`)
  expect(it.message("OutputsPublished")).toContain(`The ${resource.kind} ${name}-outputs already exists`)
  expect((await objectAt(resource, `${name}-outputs`))?.["data"]).toEqual({ mine: "eHg=" })
  expect(await objectAt(resource === secrets ? configMaps : secrets, `${name}-outputs`)).toBeUndefined()
  expect(it.againAfterMs).toBe(minute)
  await stage.cluster.delete(resource, `team/${name}-outputs`)
  await it.poll()
  expect(await published(`${name}-outputs`)).toEqual([{ a: "1" }, { b: "2" }])
})

test("outputs are published under new names, and objects with the old names are deleted", async () => {
  const { it, id } = await opened("renamed", { configMapName: "one", secretName: "two" })
  await stage.putState(id, 1, { a: output("1"), b: output("2", true) })
  await it.look()
  expect(await published("one", "two")).toEqual([{ a: "1" }, { b: "2" }])
  it.edit({ outputs: { configMapName: "three", secretName: "two" } })
  await it.look()
  expect(await published("three", "two")).toEqual([{ a: "1" }, { b: "2" }])
  expect(await objectAt(configMaps, "one")).toBeUndefined()
})

test("outputs are deleted with their condition and status when the spec no longer has them", async () => {
  const { it, id } = await opened("withdrawn")
  await stage.putState(id, 1, { a: output("1") })
  await it.look()
  it.edit({})
  await it.look()
  expect(await objectAt(configMaps, "withdrawn-outputs")).toBeUndefined()
  expect(await objectAt(secrets, "withdrawn-outputs")).toBeUndefined()
  expect(it.condition("OutputsPublished")).toBe("")
  expect(it.status).not.toHaveProperty("outputs")
})

test("outputs without a valid key are listed in the message, and the others are published", async () => {
  const { it, id } = await opened("unfit")
  const long = "k".repeat(254)
  await stage.putState(id, 1, { [long]: output("1"), größe: output("2"), fine: output("3") })
  await it.look()
  expect(it.condition("OutputsPublished")).toBe("False OutputNamesUnfit")
  expect(it.message("OutputsPublished")).toContain(long)
  expect(await published("unfit-outputs")).toEqual([{ gr__e: "2", fine: "3" }, {}])
  it.pass(10 * minute)
  await it.poll()
  expect(it.condition("OutputsPublished")).toBe("False OutputNamesUnfit")
})

test.each([
  { sensitive: false, kind: "ConfigMap" },
  { sensitive: true, kind: "Secret" },
])(
  "outputs that exceed the size of a $kind are not published, and the previous ones stay",
  async ({ sensitive, kind }) => {
    const name = `large-${kind.toLowerCase()}`
    const { it, id } = await opened(name)
    await stage.putState(id, 1, { a: output("1") })
    await it.look()
    const half = maxContentBytes / 2
    await stage.putState(id, 2, { a: output("x".repeat(half), sensitive), b: output("y".repeat(half + 1), sensitive) })
    await it.look()
    expect(it.condition("OutputsPublished")).toBe("False OutputsTooLarge")
    expect(it.message("OutputsPublished")).toContain(`for the ${kind} have ${maxContentBytes + 1} bytes`)
    expect(await published(`${name}-outputs`)).toEqual([{ a: "1" }, {}])
    expect(it.status["outputs"]).toMatchObject({ serial: 1 })
    await stage.putState(id, 3, { a: output("x".repeat(half), sensitive), b: output("y".repeat(half), sensitive) })
    await it.look()
    expect(it.condition("OutputsPublished")).toBe("True OutputsPublished")
  },
)

test.each([
  { code: "pending", retryAfterMs: undefined, againAfterMs: 5_000 },
  { code: "busy", retryAfterMs: 20_000, againAfterMs: 20_000 },
] as const)("outputs that are not read yet ($code) are asked for again soon", async (given) => {
  let fate: SimulatedFate = "done"
  const { it, id } = await opened(`slow-${given.code}`, {}, (call) =>
    call === "stateVersions.outputs" ? fate : "done",
  )
  await stage.putState(id, 1, { a: output("1") })
  fate = new EngineError(given.code, "later", {
    ...(given.retryAfterMs === undefined ? {} : { retryAfterMs: given.retryAfterMs }),
  })
  expect(await it.look()).toBe("Available")
  expect(it.condition("OutputsPublished")).toBe("False OutputsPending")
  expect(it.againAfterMs).toBe(given.againAfterMs)
  fate = "done"
  await it.poll()
  expect(it.condition("OutputsPublished")).toBe("True OutputsPublished")
})

test("a token that may not read the state is reported, and the workspace is still reconciled", async () => {
  const fate = new EngineError("not-found", "The resource does not exist, or you are not authorized.")
  const { it, id } = await opened("withheld", {}, (call) => (call === "stateVersions.current" ? fate : "done"))
  await stage.putState(id, 1, { a: output("1") })
  expect(await it.look()).toBe("Available")
  expect(it.condition("OutputsPublished")).toBe("False EngineRefused")
})

test("outputs are retried when the engine does not respond", async () => {
  let fate: SimulatedFate = "done"
  const { it, id } = await opened("unanswered", {}, (call) => (call === "stateVersions.outputs" ? fate : "done"))
  await stage.putState(id, 1, { a: output("1") })
  await it.look()
  await stage.putState(id, 2, { a: output("2") })
  fate = "lost"
  expect(await it.look()).toBe("EngineUnavailable")
  expect(it.condition("OutputsPublished")).toBe("True OutputsPublished")
  fate = "done"
  expect(await it.look()).toBe("Available")
  expect(await published("unanswered-outputs")).toEqual([{ a: "2" }, {}])
})

test.each([
  { resource: configMaps, reason: "ConfigMapRejected" },
  { resource: secrets, reason: "SecretRejected" },
])(
  "[F-K1] outputs whose $resource.kind the API server rejects are reported with its message and an event",
  async (row) => {
    const name = `rejected-${row.resource.plural}`
    const { it, id } = await opened(name)
    await stage.putState(id, 1, { region: output("eu"), password: output("s3cret", true) })
    stage.reject((resource, object) =>
      resource === row.resource && object.metadata.name === `${name}-outputs`
        ? new ApiError(403, "Forbidden", "exceeded quota: few")
        : undefined,
    )
    expect(await it.look()).toBe("Available")
    expect(it.condition("OutputsPublished")).toBe(`False ${row.reason}`)
    expect(it.message("OutputsPublished")).toContain("exceeded quota: few")
    expect(it.happened).toContain(row.reason)
    stage.reject(() => undefined)
    await it.look()
    expect(it.condition("OutputsPublished")).toBe("True OutputsPublished")
  },
)
