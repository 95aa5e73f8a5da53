// Lifecycles of resources over a real engine, without Pulumi.
import { type Engine, EngineError } from "@chancery/engine"
import { openTestEngine, type TestEngine } from "@chancery/testing"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { explain } from "../dynamic/explain.ts"
import { lifecycles } from "./kinds.ts"
import { type Defaults, type Edition, type Lifecycle, timeoutMs, Unfinished } from "./lifecycle.ts"

const { workspace, workspaceTags, tag, remoteStateConsumers, sshKeyAssignment, workspaceLock } = lifecycles
const { dataRetentionPolicy, project } = lifecycles
const nothing = new Set<string>()
const defaults: Defaults = { organization: "acme", deletionPolicy: "safe", tagBindings: {} }
const api = { organization: "acme", name: "api", __marker: "pulumi:o/p/s/api" }

let world: TestEngine
let engine: Engine

beforeEach(async () => {
  world = await openTestEngine()
  engine = world.engine
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
})
afterEach(() => world[Symbol.asyncDispose]())

const all = async () => (await engine.workspaces.list("acme", {}, { number: 1, size: 100 })).items

/** Returns the engine with some methods of one family replaced. */
const tamperedWith = <Family extends "workspaces" | "tags" | "users">(
  family: Family,
  methods: Partial<Engine[Family]>,
): Engine =>
  new Proxy(engine, {
    get: (target, name) =>
      name === family ? { ...methodsOf(target[family]), ...methods } : Reflect.get(target, name, target),
  })

/** Binds the methods, which are on a prototype, to their object. */
const methodsOf = (family: object): object =>
  Object.fromEntries(
    Object.getOwnPropertyNames(Object.getPrototypeOf(family)).flatMap((name) => {
      const method: unknown = Reflect.get(family, name, family)
      return typeof method === "function" ? [[name, method.bind(family)]] : []
    }),
  )

describe("check", () => {
  test("fills in the organization and the bindings of the configuration", () => {
    const { inputs, failures } = workspace.check({ name: "api", tagBindings: { env: "prod" } }, nothing, {
      ...defaults,
      tagBindings: { env: "dev", team: "payments" },
    })
    expect(failures).toEqual([])
    expect(inputs).toEqual({ name: "api", organization: "acme", tagBindings: { env: "prod", team: "payments" } })
  })

  test("adds the configured bindings to declared ones, and keeps unknown values", () => {
    const withTeam = { ...defaults, tagBindings: { team: "payments" } }
    const inputsOf = (kind: Lifecycle, news: object, open = nothing) => kind.check({ ...news }, open, withTeam).inputs
    expect(inputsOf(project, { name: "p" })).toMatchObject({ tagBindings: { team: "payments" } })
    const bound = { workspaceId: "ws-1", bindings: { env: "prod", team: "own" } }
    expect(inputsOf(lifecycles.tagBindings, bound)).toMatchObject({ bindings: { env: "prod", team: "own" } })
    expect(inputsOf(lifecycles.tagBindings, { workspaceId: "ws-1", bindings: { env: "prod" } })).toMatchObject({
      bindings: { env: "prod", team: "payments" },
    })
    const unknown = { workspaceId: "ws-1", bindings: { env: "?" } }
    expect(inputsOf(lifecycles.tagBindings, unknown, new Set(["bindings"]))).toEqual(unknown)
  })

  test.each<{ edition: Edition; kind: "workspace" | "dataRetentionPolicy"; failures: readonly string[] }>([
    { edition: "selfHosted", kind: "workspace", failures: ["assessmentsEnabled"] },
    { edition: "hosted", kind: "workspace", failures: [] },
    { edition: "selfHosted", kind: "dataRetentionPolicy", failures: [] },
    { edition: "hosted", kind: "dataRetentionPolicy", failures: ["workspaceId"] },
  ])("rejects members of a $kind that the $edition edition lacks", ({ edition, kind, failures }) => {
    const news = kind === "workspace" ? { ...api, assessmentsEnabled: true } : { workspaceId: "ws-1" }
    const found = lifecycles[kind].check(news, nothing, { ...defaults, edition }).failures
    expect(found.map(({ property }) => property)).toEqual(failures)
    expect(lifecycles[kind].check(news, nothing, defaults).failures).toEqual([])
  })

  test("names the settings of a missing organization", () => {
    const { failures } = workspace.check({ name: "api" }, nothing, { deletionPolicy: "safe", tagBindings: {} })
    expect(failures).toMatchObject([
      { property: "organization", reason: expect.stringContaining("CHANCERY_ORGANIZATION") },
    ])
  })

  test.each<{ given: object; property: string }>([
    { given: { deletionPolicy: "never" }, property: "deletionPolicy" },
    { given: { timeouts: { create: "soon" } }, property: "timeouts.create" },
    { given: { timeouts: { create: "0s" } }, property: "timeouts.create" },
    { given: { timeouts: { read: "1m" } }, property: "timeouts.read" },
    { given: { timeouts: "1m" }, property: "timeouts" },
    { given: { adopt: "yes" }, property: "adopt" },
    { given: { tagBindings: { "a b": "c" } }, property: "tagBindings.a b" },
  ])("rejects $given at $property", ({ given, property }) => {
    const { failures } = workspace.check({ ...api, ...given }, nothing, defaults)
    expect(failures.map((failure) => failure.property)).toEqual([property])
  })

  test("rejects adoption of kinds without a name", () => {
    const { failures } = workspaceTags.check({ workspaceId: "ws-1", tags: [], adopt: true }, nothing, defaults)
    expect(failures.map(({ property }) => property)).toEqual(["adopt"])
  })

  test("accepts unknown values", () => {
    const news = { workspaceId: "not known", tags: ["web"] }
    expect(workspaceTags.check(news, new Set(["workspaceId"]), defaults).failures).toEqual([])
  })
})

describe.each(["workspace", "project"] as const)("a %s with only the configured bindings", (kind) => {
  const by = (tagBindings: Defaults["tagBindings"], given: object = {}) =>
    lifecycles[kind].check({ ...api, ...given }, nothing, { ...defaults, tagBindings }).inputs
  const bindings = async (id: string) => {
    const { tags } = engine
    const found = await (kind === "workspace" ? tags.bindings(id) : tags.projectBindings(id))
    return Object.fromEntries(found.map(({ key, value }) => [key, value]))
  }
  const bindToo = (id: string, key: string, value: string) =>
    kind === "workspace"
      ? engine.tags.bind(id, [{ key, value }])
      : engine.projects.update(id, {
          tagBindings: [
            { key: "team", value: "payments" },
            { key, value },
          ],
        })

  test("keeps bindings of other owners, with and without refresh", async () => {
    const lifecycle = lifecycles[kind]
    const news = by({ team: "payments" })
    const { id, state: made } = await lifecycle.create(engine, news)
    await bindToo(id, "env", "prod")
    const read = await lifecycle.read(engine, id, made)
    expect(read).toEqual({ state: made, inputs: news })
    expect(lifecycle.diff(made, news, nothing).changed).toEqual([])

    const changed = await lifecycle.update(engine, id, made, by({ owner: "ops" }))
    expect(await bindings(id)).toEqual({ owner: "ops", env: "prod" })
    expect(changed).toMatchObject({ tagBindings: { owner: "ops" } })
    expect(lifecycle.diff(changed, by({ owner: "ops" }), nothing).changed).toEqual([])

    const without = await lifecycle.update(engine, id, changed, by({}))
    expect(await bindings(id)).toEqual({ env: "prod" })
    expect(without).not.toHaveProperty("tagBindings")
    expect(lifecycle.diff(without, by({}), nothing).changed).toEqual([])
  })

  test("restores them, and removes other bindings once the program declares any", async () => {
    const lifecycle = lifecycles[kind]
    const news = by({ team: "payments" })
    const { id, state } = await lifecycle.create(engine, news)
    await bindToo(id, "env", "prod")
    const own = by({ team: "payments" }, { tagBindings: { tier: "1" } })
    expect(own).not.toHaveProperty("__defaulted")
    await lifecycle.update(engine, id, state, own)
    expect(await bindings(id)).toEqual({ team: "payments", tier: "1" })
  })
})

describe("a workspace", () => {
  test("has no difference after its creation and after a read", async () => {
    const news = { ...api, autoDestroyActivityDuration: "336h", tagBindings: { env: "prod" }, workingDirectory: "" }
    const { id, state } = await workspace.create(engine, news)
    expect(workspace.diff(state, news, nothing).changed).toEqual([])
    const read = await workspace.read(engine, id, state)
    expect(read?.state).toEqual(state)
    expect(read?.inputs).toEqual(news)
  })

  test("is read with changes of other clients to declared members", async () => {
    const news = { ...api, autoApply: true }
    const { id, state } = await workspace.create(engine, news)
    await engine.workspaces.update({ id }, { autoApply: false, queueAllRuns: true })
    const read = await workspace.read(engine, id, state)
    expect(read?.inputs).toEqual({ ...news, autoApply: false })
    expect(workspace.diff(read?.state ?? {}, news, nothing).changed).toEqual(["autoApply"])
  })

  test("is read as undefined after its deletion", async () => {
    const { id, state } = await workspace.create(engine, api)
    await engine.workspaces.forceDelete({ id })
    expect(await workspace.read(engine, id, state)).toBeUndefined()
    await workspace.delete(engine, id, state, defaults)
  })

  test("is not taken over if its name is taken", async () => {
    await engine.workspaces.create("acme", { name: "API", description: "somebody's" })
    const refused = await workspace.create(engine, { ...api, description: "ours" }).catch((error: unknown) => error)
    expect(explain(refused, "workspace", "create")).toBe(
      "name: Name has already been taken (422 invalid)\nTo manage it with this stack, set adopt: true or import it.",
    )
    expect(await all()).toMatchObject([{ description: "somebody's" }])
  })

  test("is taken over with adopt, and retained at the end", async () => {
    const { id: theirs } = await engine.workspaces.create("acme", { name: "api", description: "somebody's" })
    const news = { ...api, description: "ours", adopt: true }
    const { id, state } = await workspace.create(engine, news)
    expect([id, state["adopted"], state["description"]]).toEqual([theirs, true, "ours"])
    await workspace.delete(engine, id, state, defaults)
    expect(await all()).toHaveLength(1)
    await workspace.delete(engine, id, { ...state, deletionPolicy: "safe" }, defaults)
    expect(await all()).toEqual([])
  })

  test("is created once when the response to its creation is lost", async () => {
    const losing = tamperedWith("workspaces", {
      create: async (...args) => {
        await engine.workspaces.create(...args)
        throw new EngineError("unavailable", "sent no complete response")
      },
    })
    const { id, state } = await workspace.create(losing, { ...api, autoApply: true })
    expect((await all()).map((found) => found.id)).toEqual([id])
    expect(state["adopted"]).toBe(false)
    // The result is the same if the process ends before the answer and the next one starts over.
    expect(await workspace.create(engine, { ...api, autoApply: true })).toMatchObject({ id })
  })

  test("is absent when its creation request was lost", async () => {
    const lost = new EngineError("unavailable", "cannot be reached")
    const deaf = tamperedWith("workspaces", { create: () => Promise.reject(lost) })
    await expect(workspace.create(deaf, api)).rejects.toBe(lost)
    expect(await all()).toEqual([])
  })

  test("[F-W8] with assessments is rejected by the self-hosted edition with the name of the member", async () => {
    const news = { ...api, assessmentsEnabled: true }
    const refused = await workspace.create(engine, news).catch((error: unknown) => error)
    expect(explain(refused, "workspace", "create")).toMatch(/^assessmentsEnabled: .*\(422 invalid\)/)
    expect(await all()).toEqual([])
    const { id, state } = await workspace.create(engine, api)
    await expect(workspace.update(engine, id, state, news)).rejects.toMatchObject({ code: "invalid" })
    expect(await workspace.update(engine, id, state, api)).toMatchObject({ assessmentsEnabled: false })
  })

  test("with resources is kept, and the message has three remedies", async () => {
    const { id, state } = await workspace.create(engine, api)
    await engine.workspaces.lock({ id }, { reason: "" })
    const refused = await workspace.delete(engine, id, state, defaults).catch((error: unknown) => error)
    const text = explain(refused, "workspace", "delete")
    expect(text).toMatch(/409 conflict/)
    expect(text).toMatch(/deletionPolicy: "force".*deletionPolicy: "retain"/s)
    await workspace.delete(engine, id, { ...state, deletionPolicy: "retain" }, defaults)
    expect(await all()).toHaveLength(1)
    await workspace.delete(engine, id, { ...state, deletionPolicy: "force" }, defaults)
    expect(await all()).toEqual([])
  })

  test("sends only changed members", async () => {
    const news = { ...api, autoApply: true, description: "x" }
    const { id, state } = await workspace.create(engine, news)
    const sent: unknown[] = []
    const listening = tamperedWith("workspaces", {
      update: (ref, changes) => {
        sent.push(changes)
        return engine.workspaces.update(ref, changes)
      },
    })
    const after = await workspace.update(listening, id, state, { ...api, name: "api-2", description: "x" })
    expect(sent).toEqual([{ name: "api-2", autoApply: false }])
    expect(after).toMatchObject({ name: "api-2", autoApply: false, __managed: ["description", "name", "organization"] })
    await workspace.update(listening, id, after, { ...api, name: "api-2", description: "x", deletionPolicy: "retain" })
    expect(sent).toHaveLength(1)
  })

  test("leaves an agent pool and its execution mode in one request", async () => {
    const pool = await engine.agentPools.create("acme", { name: "pool" })
    const agents = { ...api, executionMode: "agent", agentPoolId: pool.id }
    const { id, state } = await workspace.create(engine, agents)
    const after = await workspace.update(engine, id, state, { ...api, executionMode: "remote" })
    expect(after).toMatchObject({ executionMode: "remote", agentPoolId: null })
    const back = await workspace.update(engine, id, after, agents)
    expect(workspace.diff(back, agents, nothing).changed).toEqual([])
  })

  test("is replaced in another organization, also in an unknown one", async () => {
    const { state } = await workspace.create(engine, api)
    expect(workspace.diff(state, { ...api, organization: "globex" }, nothing).replaces).toEqual(["organization"])
    expect(workspace.diff(state, { ...api, organization: "?" }, new Set(["organization"])).replaces).toEqual([
      "organization",
    ])
    expect(workspace.diff(state, { ...api, description: "?" }, new Set(["description"]))).toEqual({
      changed: ["description"],
      replaces: [],
      deleteBeforeReplace: false,
      isUnasked: false,
    })
  })

  test("is renamed in place", async () => {
    const { state } = await workspace.create(engine, api)
    expect(workspace.diff(state, { ...api, __marker: "pulumi:o/p/s/renamed" }, nothing).changed).toEqual([])
  })
})

describe("flat tags", () => {
  test("keep tags of other clients, unless they are exclusive", async () => {
    const { id } = await engine.workspaces.create("acme", { name: "api", tags: [{ name: "theirs" }] })
    const news = { workspaceId: id, tags: ["web", "blue"] }
    const { state } = await workspaceTags.create(engine, news)
    const names = async () => (await engine.tags.bindings(id, { tags: true })).map(({ key }) => key).toSorted()
    expect(await names()).toEqual(["blue", "theirs", "web"])
    const less = { ...news, tags: ["web"] }
    const after = await workspaceTags.update(engine, id, state, less)
    expect(await names()).toEqual(["theirs", "web"])
    await workspaceTags.update(engine, id, after, { ...less, mode: "exclusive" })
    expect(await names()).toEqual(["web"])
    await workspaceTags.delete(engine, id, after, defaults)
    expect(await names()).toEqual([])
  })

  test("are deleted with their workspace", async () => {
    const { id } = await engine.workspaces.create("acme", { name: "api" })
    const { state } = await workspaceTags.create(engine, { workspaceId: id, tags: ["web"] })
    await engine.workspaces.forceDelete({ id })
    expect(await workspaceTags.read(engine, id, state)).toBeUndefined()
    await workspaceTags.delete(engine, id, state, defaults)
  })
})

describe("a tag", () => {
  test("that could not be added to its workspaces is recorded, and completed by the next update", async () => {
    const { id: workspaceId } = await engine.workspaces.create("acme", { name: "api" })
    const refusing = tamperedWith("tags", { apply: () => Promise.reject(new EngineError("busy", "later")) })
    const news = { organization: "acme", name: "prod", workspaceIds: [workspaceId], __marker: "m" }
    const unfinished = await tag.create(refusing, news).catch((error: unknown) => error)
    if (!(unfinished instanceof Unfinished)) throw new Error("it was finished")
    const { id, state } = unfinished.kept
    expect(state).toMatchObject({ name: "prod", workspaceIds: [], __managed: ["name", "organization", "workspaceIds"] })
    expect(await tag.update(engine, id, state, news)).toMatchObject({ workspaceIds: [workspaceId] })
    expect((await engine.workspaces.get({ id: workspaceId })).tagNames).toEqual(["prod"])
  })

  test("on other workspaces is neither taken over nor deleted by default", async () => {
    await engine.workspaces.create("acme", { name: "api", tags: [{ name: "prod" }] })
    const news = { organization: "acme", name: "prod", __marker: "m" }
    await expect(tag.create(engine, news)).rejects.toMatchObject({ code: "conflict" })
    const { id, state } = await tag.create(engine, { ...news, adopt: true })
    await expect(tag.delete(engine, id, { ...state, deletionPolicy: "safe" }, defaults)).rejects.toMatchObject({
      code: "conflict",
    })
    await tag.delete(engine, id, { ...state, deletionPolicy: "force" }, defaults)
    expect((await engine.tags.list("acme", {}, { number: 1, size: 10 })).items).toEqual([])
  })
})

describe("remote state consumers", () => {
  test("are added and removed, additively or exclusively", async () => {
    const [producer, web, batch, theirs] = await Promise.all(
      ["api", "web", "batch", "theirs"].map((name) =>
        engine.workspaces.create("acme", { name, globalRemoteState: false }),
      ),
    )
    const [workspaceId, first, second, other] = [producer, web, batch, theirs].map((one) => one?.id ?? "") as [
      string,
      string,
      string,
      string,
    ]
    const listed = async () =>
      (await engine.remoteStateConsumers.list(workspaceId, { number: 1, size: 10 })).items
        .map(({ id }) => id)
        .toSorted()
    await engine.remoteStateConsumers.add(workspaceId, [other])
    const news = { workspaceId, consumerIds: [first, second] }
    const { id, state } = await remoteStateConsumers.create(engine, news)
    expect(await listed()).toEqual([first, second, other].toSorted())
    expect(remoteStateConsumers.diff(state, { workspaceId, consumerIds: [second, first] }, nothing).changed).toEqual([])
    await engine.remoteStateConsumers.remove(workspaceId, [first])
    const read = await remoteStateConsumers.read(engine, id, state)
    expect(read?.inputs).toEqual({ workspaceId, consumerIds: [second] })
    const alone = { ...news, mode: "exclusive" }
    const after = await remoteStateConsumers.update(engine, id, read?.state ?? {}, alone)
    expect(await listed()).toEqual([first, second].toSorted())
    await remoteStateConsumers.delete(engine, id, after, defaults)
    expect(await listed()).toEqual([])
  })

  test("reject the workspace itself and duplicates", () => {
    const news = { workspaceId: "ws-1", consumerIds: ["ws-2", "ws-1", "ws-2"] }
    const { failures } = remoteStateConsumers.check(news, nothing, defaults)
    expect(failures.map(({ property }) => property)).toEqual(["consumerIds[1]", "consumerIds[2]"])
  })
})

describe("an assigned SSH key", () => {
  test("is changed and removed, unless another key replaced it", async () => {
    const { id: workspaceId } = await engine.workspaces.create("acme", { name: "api" })
    const value = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----"
    const [first, second] = await Promise.all(
      ["one", "two"].map((name) => engine.sshKeys.create("acme", { name, value })),
    )
    const assigned = async () => (await engine.workspaces.get({ id: workspaceId })).sshKeyId
    const { id, state } = await sshKeyAssignment.create(engine, { workspaceId, sshKeyId: first?.id })
    expect(await assigned()).toBe(first?.id)
    const after = await sshKeyAssignment.update(engine, id, state, { workspaceId, sshKeyId: second?.id })
    await sshKeyAssignment.delete(engine, id, state, defaults)
    expect(await assigned()).toBe(second?.id)
    await sshKeyAssignment.delete(engine, id, after, defaults)
    expect(await assigned()).toBeNull()
    expect(await sshKeyAssignment.read(engine, id, after)).toBeUndefined()
  })
})

describe("a lock", () => {
  const locked = async () => (await engine.workspaces.get({ organization: "acme", name: "api" })).lock

  test("is locked, unlocked, and replaced for another reason", async () => {
    const { id: workspaceId } = await engine.workspaces.create("acme", { name: "api" })
    const news = { workspaceId, reason: "moving" }
    const { id, state } = await workspaceLock.create(engine, news)
    expect(await locked()).toMatchObject({ held: true, reason: "moving" })
    expect(workspaceLock.diff(state, news, nothing).changed).toEqual([])
    expect(workspaceLock.diff(state, { workspaceId, reason: "moved" }, nothing)).toEqual({
      changed: ["reason"],
      replaces: ["reason"],
      deleteBeforeReplace: true,
      isUnasked: false,
    })
    await expect(workspaceLock.create(engine, { workspaceId })).rejects.toMatchObject({ code: "conflict" })
    await workspaceLock.delete(engine, id, state, defaults)
    expect(await locked()).toEqual({ held: false })
    expect(await workspaceLock.read(engine, id, state)).toBeUndefined()
    await workspaceLock.delete(engine, id, state, defaults)
  })

  test("of another user stays locked, unless the deletion is forced", async () => {
    const { id: workspaceId } = await engine.workspaces.create("acme", { name: "api" })
    const { id, state } = await workspaceLock.create(engine, { workspaceId })
    const refusing = tamperedWith("workspaces", {
      unlock: () => Promise.reject(new EngineError("conflict", "locked by User user-other")),
    })
    await expect(workspaceLock.delete(refusing, id, state, defaults)).rejects.toThrow("user-other")
    const forced = await workspaceLock.update(refusing, id, state, { workspaceId, forceUnlock: true })
    await workspaceLock.delete(refusing, id, forced, defaults)
    expect(await locked()).toEqual({ held: false })
  })

  test("is locked once when the response is lost", async () => {
    const { id: workspaceId } = await engine.workspaces.create("acme", { name: "api" })
    const losing = tamperedWith("workspaces", {
      lock: async (...args) => {
        await engine.workspaces.lock(...args)
        throw new EngineError("unavailable", "sent no complete response")
      },
    })
    expect(await workspaceLock.create(losing, { workspaceId, reason: "moving" })).toMatchObject({ id: workspaceId })
    // The result is the same if the process ends before the answer and the next one starts over.
    expect(await workspaceLock.create(engine, { workspaceId, reason: "moving" })).toMatchObject({ id: workspaceId })
  })

  test("of another user is not adopted, for any reason", async () => {
    const { id: workspaceId } = await engine.workspaces.create("acme", { name: "api" })
    await workspaceLock.create(engine, { workspaceId, reason: "moving" })
    const account = Object.assign(await engine.users.account(), { id: "user-other" })
    const others = tamperedWith("users", { account: async () => account })
    await expect(workspaceLock.create(others, { workspaceId, reason: "moving" })).rejects.toMatchObject({
      code: "conflict",
    })
  })
})

describe("a data retention policy", () => {
  test("is set on the workspace, in days or without limit", async () => {
    const { id: workspaceId } = await engine.workspaces.create("acme", { name: "api" })
    const organization = { kind: "organization", name: "acme" } as const
    await engine.retentionPolicies.set(organization, { kind: "delete-older", days: 7 })
    const rule = async () => (await engine.retentionPolicies.get({ kind: "workspace", id: workspaceId })).rule
    const { id, state } = await dataRetentionPolicy.create(engine, { workspaceId, deleteOlderThanDays: 30 })
    expect(await rule()).toEqual({ kind: "delete-older", days: 30 })
    expect(dataRetentionPolicy.diff(state, { workspaceId }, nothing).changed).toEqual(["deleteOlderThanDays"])
    const after = await dataRetentionPolicy.update(engine, id, state, { workspaceId })
    expect(await rule()).toEqual({ kind: "dont-delete" })
    await dataRetentionPolicy.delete(engine, id, after, defaults)
    expect(await rule()).toEqual({ kind: "delete-older", days: 7 })
    expect(await dataRetentionPolicy.read(engine, id, after)).toBeUndefined()
    await dataRetentionPolicy.delete(engine, id, after, defaults)
  })

  test.each([0, -1, 1.5, "30"])("rejects %j days", (deleteOlderThanDays) => {
    const { failures } = dataRetentionPolicy.check({ workspaceId: "ws-1", deleteOlderThanDays }, nothing, defaults)
    expect(failures.map(({ property }) => property)).toEqual(["deleteOlderThanDays"])
  })
})

describe("a project", () => {
  const payments = { organization: "acme", name: "payments", __marker: "m" }

  test("is created, renamed, reset to defaults, and not deleted while it has workspaces", async () => {
    const pool = await engine.agentPools.create("acme", { name: "pool" })
    const news = {
      ...payments,
      description: "money",
      autoDestroyActivityDuration: "336h",
      defaultExecutionMode: "agent",
      defaultAgentPoolId: pool.id,
      tagBindings: { team: "payments" },
    }
    const { id, state } = await project.create(engine, news)
    expect(project.diff(state, { ...news, autoDestroyActivityDuration: "14d" }, nothing).changed).toEqual([])
    expect((await project.read(engine, id, state))?.state).toEqual(state)
    const after = await project.update(engine, id, state, { ...payments, name: "treasury" })
    expect(after).toMatchObject({
      name: "treasury",
      description: "",
      autoDestroyActivityDuration: null,
      defaultExecutionMode: null,
      defaultAgentPoolId: null,
    })
    expect(await engine.tags.projectBindings(id)).toEqual([])
    const { id: workspaceId } = await engine.workspaces.create("acme", { name: "api", projectId: id })
    await expect(project.delete(engine, id, after, defaults)).rejects.toMatchObject({ code: "conflict" })
    await engine.workspaces.forceDelete({ id: workspaceId })
    await project.delete(engine, id, after, defaults)
    expect(await project.read(engine, id, after)).toBeUndefined()
    await project.delete(engine, id, after, defaults)
  })

  test("of the same name is taken over only with adopt", async () => {
    const { id: theirs } = await engine.projects.create("acme", { name: "payments", description: "theirs" })
    await expect(project.create(engine, payments)).rejects.toMatchObject({ code: "invalid" })
    const { id, state } = await project.create(engine, { ...payments, description: "ours", adopt: true })
    expect([id, state["adopted"], state["description"]]).toEqual([theirs, true, "ours"])
    await project.delete(engine, id, state, defaults)
    expect(await engine.projects.get(id)).toMatchObject({ description: "ours" })
  })

  test("that is empty and as declared is adopted as a lost creation; one with workspaces is not", async () => {
    const { id } = await project.create(engine, { ...payments, tagBindings: { env: "prod" } })
    await expect(project.create(engine, payments)).rejects.toMatchObject({ code: "invalid" })
    const again = await project.create(engine, { ...payments, tagBindings: { env: "prod" } })
    expect([again.id, again.state["adopted"]]).toEqual([id, false])
    await engine.workspaces.create("acme", { name: "api", projectId: again.id })
    await expect(project.create(engine, { ...payments, tagBindings: { env: "prod" } })).rejects.toMatchObject({
      code: "invalid",
    })
  })

  test.each<{ given: object; property: string }>([
    { given: { name: " x" }, property: "name" },
    { given: { autoDestroyActivityDuration: "0d" }, property: "autoDestroyActivityDuration" },
    { given: { description: "x".repeat(257) }, property: "description" },
    { given: { defaultExecutionMode: "local", defaultAgentPoolId: "apool-1" }, property: "defaultAgentPoolId" },
    { given: { tagBindings: { env: "" } }, property: "tagBindings.env" },
  ])("is rejected with $given", ({ given, property }) => {
    const { failures } = project.check({ ...payments, ...given }, nothing, defaults)
    expect(failures.map((failure) => failure.property)).toEqual([property])
  })
})

test("the time limit of a phase is its timeout, or five minutes", () => {
  expect(timeoutMs({ timeouts: { create: "1h30m" } }, "create", 300_000)).toBe(5_400_000)
  expect(timeoutMs({ timeouts: { create: "1h30m" } }, "delete", 300_000)).toBe(300_000)
})
