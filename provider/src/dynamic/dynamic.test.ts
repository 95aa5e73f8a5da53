// Resources as Pulumi's process for dynamic resources sees them.
import { EngineError } from "@chancery/engine"
import type { Values } from "@chancery/engine/declared"
import { openTestEngine, type TestEngine } from "@chancery/testing"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { ConfigurationSource } from "../configuration.ts"
import { dynamicProvider } from "./dynamic.ts"
import { createEngines } from "./engines.ts"
import { lifecycles } from "../lifecycle/kinds.ts"
import { createSession } from "./session.ts"

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
const address = 'exports.handler=()=>require("@chancery/pulumi/provider").v1.workspace;'
const declared = { organization: "acme", name: "api", __marker: "m", __provider: address }

let world: TestEngine
beforeEach(async () => {
  world = await openTestEngine()
  await world.engine.organizations.create({ name: "acme", email: "acme@example.com" })
})
afterEach(() => world[Symbol.asyncDispose]())

const sessionWith = (ending = new AbortController()) =>
  createSession(
    createEngines(ending.signal, async () => world.engine),
    ending.signal,
    { CHANCERY_ENGINE_URL: "sqlite:given" },
  )

const nothingSet: ConfigurationSource = () => undefined

/** Configuration in the form in which the SDK passes it. */
const configurationOf = (values: Readonly<Record<string, string>>) => ({
  config: { get: (key: string) => values[key], require: (key: string) => values[key] ?? "" },
})

test("calls wait for the configuration of the provider", async () => {
  const provider = dynamicProvider("workspace", async () => lifecycles.workspace, sessionWith())
  const checks = Array.from({ length: 10 }, () => provider.check({}, { name: "api" }))
  await provider.configure(configurationOf({ "chancery:organization": "acme" }))
  for (const { inputs, failures } of await Promise.all(checks))
    expect([inputs, failures]).toEqual([{ name: "api", organization: "acme" }, []])
})

test("a malformed configuration is rejected in one sentence, immediately and in every call", async () => {
  const provider = dynamicProvider("workspace", async () => lifecycles.workspace, sessionWith())
  const wrong = configurationOf({ "chancery:maxRetries": "many" })
  const sentence = "chancery:maxRetries must be an integer from 1 to 9999999"
  await expect(provider.configure(wrong)).rejects.toThrow(sentence)
  await expect(provider.check({}, declared)).rejects.toThrow(sentence)
})

describe("a configured workspace", () => {
  const configured = (ending?: AbortController) => {
    const session = sessionWith(ending)
    session.configure(nothingSet)
    return dynamicProvider("workspace", async () => lifecycles.workspace, session)
  }

  test("is accepted with unknown values at any depth", async () => {
    const news = { ...declared, executionMode: "agent", agentPoolId: unknown, tagBindings: { env: unknown } }
    const { inputs, failures } = await configured().check({}, news)
    expect(failures).toEqual([])
    expect(inputs).toMatchObject({ agentPoolId: unknown, tagBindings: { env: unknown } })
  })

  test("returns a difference of the inputs only if something changes", async () => {
    const provider = configured()
    const { id, outs } = await provider.create(declared)
    const olds = { ...outs, __provider: address }
    expect(await provider.diff(id, olds, declared)).toEqual({ changes: false })
    expect(await provider.diff(id, olds, { ...declared, __provider: "another address" })).toEqual({ changes: false })
    expect(await provider.diff(id, olds, { ...declared, organization: "globex" })).toEqual({
      replaces: ["organization"],
      deleteBeforeReplace: false,
    })
  })

  test("[F-U5] is updated in place, without a request, from a state of an earlier build", async () => {
    const provider = configured()
    const { id, outs = {} } = await provider.create(declared)
    const found = JSON.stringify([outs["createdAt"], outs["engineVersion"], outs["projectId"], "m"])
    const legacy = { organization: "acme", name: "api", __found: found, __provider: address }
    expect(await provider.diff(id, legacy, declared)).toEqual({
      changes: true,
      replaces: [],
      deleteBeforeReplace: false,
    })
    const before = await world.engine.workspaces.get({ id })
    expect(await provider.update(id, legacy, declared)).toEqual({ outs })
    expect(await world.engine.workspaces.get({ id })).toEqual(before)
    expect(await provider.diff(id, outs, declared)).toEqual({ changes: false })
    // The state stays legacy until an update, even if another member changes.
    expect(await provider.diff(id, legacy, { ...declared, organization: "globex" })).toEqual({
      replaces: ["organization"],
      deleteBeforeReplace: false,
    })
    await provider.delete(id, legacy)
    expect(await provider.read(id, legacy)).toEqual({ id: "", props: {} })
  })

  test("[F-U5] has a state without default settings, except those that are declared", async () => {
    const provider = configured()
    const { id, outs = {} } = await provider.create({ ...declared, autoApply: false, queueAllRuns: true })
    expect(outs).toMatchObject({ autoApply: false, queueAllRuns: true, createdAt: expect.any(String) })
    expect(outs).not.toHaveProperty("speculativeEnabled")
    expect((await provider.read(id, outs)).props).toEqual(outs)
    await world.engine.workspaces.update({ id }, { speculativeEnabled: false })
    expect((await provider.read(id, outs)).props).toEqual({ ...outs, speculativeEnabled: false })
    expect(await provider.diff(id, outs, { ...declared, queueAllRuns: true, speculativeEnabled: true })).toEqual({
      changes: false,
    })
    await provider.delete(id, outs)
  })

  test("is sent and received as plain JSON", async () => {
    const provider = configured()
    const { id, outs = {} } = await provider.create({ ...declared, tagBindings: { env: "prod" } })
    expect(JSON.parse(JSON.stringify(outs))).toEqual(outs)
    expect(Object.values(outs)).not.toContain(undefined)
    expect(await provider.read(id, { ...outs, __provider: address })).toEqual({ id, props: outs })
    await world.engine.workspaces.update({ id }, { autoApply: true, tagBindings: [{ key: "env", value: "dev" }] })
    const { inputs } = await provider.read(id, { ...outs, __provider: address })
    expect(inputs).toEqual({ organization: "acme", name: "api", __marker: "m", tagBindings: { env: "dev" } })
    await provider.delete(id, outs)
    expect(await provider.read(id, outs)).toEqual({ id: "", props: {} })
  })

  test("is rejected without a stack", async () => {
    const provider = configured()
    await provider.create(declared)
    const refused: unknown = await provider.create({ ...declared, __marker: "other" }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ message: expect.stringMatching(/already been taken \(422 invalid\)/), stack: "" })
  })

  test("is aborted when Pulumi is cancelled", async () => {
    const ending = new AbortController()
    const provider = configured(ending)
    ending.abort()
    await expect(provider.create(declared)).rejects.toThrow("create of the workspace was cancelled")
  })
})

test("a partly created resource is recorded with a remedy", async () => {
  const session = sessionWith()
  session.configure(nothingSet)
  const provider = dynamicProvider("tag", async () => lifecycles.tag, session)
  const news = { organization: "acme", name: "prod", workspaceIds: ["ws-none"], __marker: "m", __provider: address }
  const half: unknown = await provider.create(news).catch((error: unknown) => error)
  const [found] = (await world.engine.tags.list("acme", {}, { number: 1, size: 10 })).items
  const properties = { name: "prod", workspaceIds: [], __provider: address }
  expect(half).toMatchObject({ id: found?.id, properties, reasons: [expect.stringContaining("404 not-found")] })
  // The resource never matched its inputs, so a refresh must return the actual inputs.
  const recorded = (half as { readonly properties: Values }).properties
  const refreshed = await provider.read(found?.id ?? "", { ...recorded })
  expect(refreshed.inputs).toMatchObject({ workspaceIds: [] })
  const again = await provider.read(found?.id ?? "", { ...refreshed.props, __provider: address })
  expect(again).toEqual({ id: found?.id, props: refreshed.props })
})

test("a session counts running operations, also failed ones", async () => {
  const session = sessionWith()
  session.configure(nothingSet)
  const gate = Promise.withResolvers<void>()
  const used = session.use(() => gate.promise)
  await expect.poll(() => session.isBusy()).toBe(true)
  gate.reject(new Error("refused"))
  await expect(used).rejects.toThrow("refused")
  expect(session.isBusy()).toBe(false)
})

test("an operation ends at its timeout", async () => {
  const slow = createSession(
    { use: (_configuration, work) => work(world.engine), close: async () => undefined },
    new AbortController().signal,
    { CHANCERY_ENGINE_URL: "sqlite:given" },
  )
  slow.configure(nothingSet)
  const stuck = { ...lifecycles.workspace, create: () => new Promise<never>(() => undefined) }
  const provider = dynamicProvider("workspace", async () => stuck, slow)
  await expect(provider.create({ ...declared, timeouts: { create: "20ms" } })).rejects.toThrow(
    "create of the workspace took longer than 0.02 s",
  )
})

test("an expired token is reported with the settings for a new one", async () => {
  const session = createSession(
    {
      use: () => Promise.reject(new EngineError("unauthenticated", "A valid API token is required.")),
      close: async () => undefined,
    },
    new AbortController().signal,
    { CHANCERY_ENGINE_URL: "https://chancery.test", CHANCERY_TOKEN: "secret-token" },
  )
  session.configure(nothingSet)
  const provider = dynamicProvider("workspace", async () => lifecycles.workspace, session)
  const refused = await provider.delete("ws-1", declared).then(
    () => "",
    (error: Error) => error.message,
  )
  expect(refused).toMatch(/401 unauthenticated.*CHANCERY_TOKEN/s)
  expect(refused).not.toContain("secret-token")
})

test("a certificate that is due is replaced without a changed input", async () => {
  const session = sessionWith()
  session.configure(nothingSet)
  const provider = dynamicProvider("pkiCertificate", async () => lifecycles.pkiCertificate, session)
  const news = { mount: "pki", role: "web", commonName: "www.test" }
  const olds = { ...news, revokedAt: "2026-01-01T00:00:00.000Z", __managed: ["mount", "role", "commonName"] }
  expect(await provider.diff("pki/01", olds, news)).toEqual({
    changes: true,
    replaces: ["revokedAt"],
    deleteBeforeReplace: false,
  })
  expect(await provider.diff("pki/01", { ...olds, revokedAt: null }, news)).toEqual({ changes: false })
})
