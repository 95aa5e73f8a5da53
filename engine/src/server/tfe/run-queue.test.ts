// Creation of runs, automatic changes of their status, and the lists of runs.
import { announceExecutor } from "../../../testing/announced-executor.ts"
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, one } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import type { Answer } from "../../../testing/test-engine.ts"

async function queueEngine() {
  const clock = manualClock(Date.UTC(2026, 0, 1))
  const testEngine = await populatedEngine({ runtime: { ...systemRuntime(), clock } })
  const id = await testEngine.workspace("web")
  const create = (attributes: object = {}, on = id): Promise<Answer> =>
    testEngine.request("POST", "/runs", { body: document("runs", attributes, { workspace: one("workspaces", on) }) })
  return Object.assign(testEngine, {
    id,
    clock,
    create,
    async queue(attributes: object = {}, on = id): Promise<string> {
      clock.advance(1)
      const { status, body } = await create(attributes, on)
      expect([status, body?.errors]).toEqual([201, undefined])
      return body.data.id
    },
    step: (run: string, attributes: object) =>
      testEngine.request("POST", `/runs/${run}/actions/transition`, { body: document("runs", attributes) }),
    statusOf: async (run: string) => (await testEngine.request("GET", `/runs/${run}`)).body.data.attributes.status,
    workspaceNow: async () => (await testEngine.request("GET", `/workspaces/${id}`)).body.data,
  })
}

const pointersOf = ({ status, body }: Answer) => [
  status,
  ...body.errors.map(({ source }: { readonly source: { pointer: string } }) => source.pointer),
]

describe("a run that is created", () => {
  test("stores and shows all members of the request", async () => {
    await using testEngine = await queueEngine()
    const asked = {
      refresh: false,
      "allow-empty-apply": true,
      "allow-config-generation": true,
      "target-addrs": ["terraform_data.a", 'module.m["x"].terraform_data.b'],
      "replace-addrs": ["terraform_data.a"],
      variables: [{ key: "region", value: '"eu"' }],
    }
    const run = await testEngine.queue(asked)
    const { attributes } = (await testEngine.request("GET", `/runs/${run}`)).body.data
    expect(attributes).toMatchObject({ ...asked, "save-plan": false, "terraform-version": null, executor: null })
    const plain = await testEngine.queue()
    expect((await testEngine.request("GET", `/runs/${plain}`)).body.data.attributes).toMatchObject({
      refresh: true,
      "allow-empty-apply": false,
      "target-addrs": [],
      "replace-addrs": [],
      variables: [],
    })
  })

  test("shows its variables only to callers who may read those of the workspace", async () => {
    await using testEngine = await queueEngine()
    const run = await testEngine.queue({ variables: [{ key: "password", value: '"secret"' }] })
    const team = await made(testEngine, "POST", "/organizations/acme/teams", document("teams", { name: "planners" }))
    await made(
      testEngine,
      "POST",
      "/team-workspaces",
      document(
        "team-workspaces",
        { access: "custom", runs: "plan", variables: "none" },
        { team: one("teams", team.id), workspace: one("workspaces", testEngine.id) },
      ),
    )
    const token = (await made(testEngine, "POST", `/teams/${team.id}/authentication-token`)).attributes.token
    const { body, status } = await testEngine.request("GET", `/runs/${run}`, { token })
    expect([status, body.data.attributes.variables]).toEqual([200, []])
  })

  test.each<{ why: string; attributes: object; pointers: readonly string[] }>([
    {
      why: "an empty address, an invalid key, and a duplicate key",
      attributes: {
        "target-addrs": [""],
        variables: [
          { key: "1st", value: "1" },
          { key: "a", value: "1" },
          { key: "a", value: "2" },
        ],
      },
      pointers: [
        "/data/attributes/target-addrs/0",
        "/data/attributes/variables/0/key",
        "/data/attributes/variables/2/key",
      ],
    },
    {
      why: "refresh-only together with is-destroy",
      attributes: { "refresh-only": true, "is-destroy": true },
      pointers: ["/data/attributes/refresh-only"],
    },
    {
      why: "refresh-only without refresh or with replace-addrs",
      attributes: { "refresh-only": true, refresh: false, "replace-addrs": ["a.b"] },
      pointers: ["/data/attributes/refresh", "/data/attributes/replace-addrs"],
    },
    {
      why: "save-plan together with plan-only",
      attributes: { "save-plan": true, "plan-only": true },
      pointers: ["/data/attributes/save-plan"],
    },
    {
      why: "save-plan together with auto-apply",
      attributes: { "save-plan": true, "auto-apply": true },
      pointers: ["/data/attributes/auto-apply"],
    },
    {
      why: "a terraform-version without plan-only",
      attributes: { "terraform-version": "1.11.4" },
      pointers: ["/data/attributes/terraform-version"],
    },
  ])("is rejected when it has $why", async ({ attributes, pointers }) => {
    await using testEngine = await queueEngine()
    expect(pointersOf(await testEngine.create(attributes))).toEqual([422, ...pointers])
    expect((await testEngine.request("GET", `/workspaces/${testEngine.id}/runs`)).body.data).toEqual([])
  })

  test("is rejected in a workspace that executes locally, which has no queue", async () => {
    await using testEngine = await queueEngine()
    const local = await testEngine.workspace("local", { executionMode: "local" })
    const answer = await testEngine.create({}, local)
    expect([answer.status, answer.body.errors[0].detail]).toEqual([
      422,
      "Runs cannot be queued in a workspace whose execution mode is local",
    ])
    expect((await testEngine.create({ "plan-only": true }, local)).status).toBe(422)
  })
})

describe("the status after a plan", () => {
  test.each<{ asked: object; planned: object; becomes: string; why: string }>([
    { asked: {}, planned: {}, becomes: "planned", why: "a user has to confirm it" },
    { asked: { "auto-apply": true }, planned: {}, becomes: "confirmed", why: "it applies automatically" },
    { asked: {}, planned: { "has-changes": false }, becomes: "planned_and_finished", why: "there are no changes" },
    {
      asked: { "auto-apply": true },
      planned: { "resource-additions": 0 },
      becomes: "planned_and_finished",
      why: "the counts show no changes",
    },
    {
      asked: { "auto-apply": true, "allow-empty-apply": true },
      planned: { "has-changes": false },
      becomes: "confirmed",
      why: "an empty apply is allowed",
    },
    { asked: { "save-plan": true }, planned: {}, becomes: "planned_and_saved", why: "its plan is saved" },
    { asked: { "plan-only": true }, planned: {}, becomes: "planned_and_finished", why: "it is plan-only" },
    { asked: { "auto-apply": true }, planned: { "checks-follow": true }, becomes: "planned", why: "checks follow" },
  ])("$asked that is planned with $planned is $becomes: $why", async ({ asked, planned, becomes }) => {
    await using testEngine = await queueEngine()
    const run = await testEngine.queue(asked)
    await testEngine.step(run, { status: "planning" })
    const { body } = await testEngine.step(run, { status: "planned", ...planned })
    expect(body.data.attributes.status).toBe(becomes)
    expect(body.data.attributes["status-timestamps"]).toHaveProperty("planned-at")
  })

  test("waits for checks, and follows from the last of them", async () => {
    await using testEngine = await queueEngine()
    const run = await testEngine.queue({ "auto-apply": true })
    const steps = [
      { status: "planning" },
      { status: "planned", "checks-follow": true, "resource-additions": 2, "resource-imports": 1 },
      { status: "policy_checking" },
    ]
    for (const attributes of steps) expect((await testEngine.step(run, attributes)).status).toBe(200)
    const { body } = await testEngine.step(run, { status: "policy_checked" })
    expect(body.data.attributes).toMatchObject({ status: "confirmed", "has-changes": true })
    const plan = await testEngine.request("GET", `/runs/${run}/plan`)
    expect(plan.body.data.attributes).toMatchObject({
      "resource-additions": 2,
      "resource-changes": 0,
      "resource-destructions": 0,
      "resource-imports": 1,
    })
  })

  test("keeps the counts of the apply next to those of the plan", async () => {
    await using testEngine = await queueEngine()
    const run = await testEngine.queue({ "auto-apply": true })
    await testEngine.step(run, { status: "planning" })
    await testEngine.step(run, { status: "planned", "resource-additions": 2 })
    await testEngine.step(run, { status: "applying" })
    await testEngine.step(run, { status: "applied", "resource-additions": 1 })
    const counted = async (stage: string) =>
      (await testEngine.request("GET", `/runs/${run}/${stage}`)).body.data.attributes["resource-additions"]
    expect([await counted("plan"), await counted("apply")]).toEqual([2, 1])
  })

  test.each([-1, 1.5, 1e10])("is not set when counts like %d are rejected", async (count) => {
    await using testEngine = await queueEngine()
    const run = await testEngine.queue()
    await testEngine.step(run, { status: "planning" })
    const answer = await testEngine.step(run, { status: "planned", "resource-additions": count })
    expect(pointersOf(answer)).toEqual([422, "/data/attributes/resource-additions"])
    expect(await testEngine.statusOf(run)).toBe("planning")
  })
})

describe("a saved plan", () => {
  test("is created without the lock, and becomes the current run when it is confirmed", async () => {
    await using testEngine = await queueEngine()
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`)
    const run = await testEngine.queue({ "save-plan": true })
    await testEngine.step(run, { status: "planning" })
    await testEngine.step(run, { status: "planned" })
    expect((await testEngine.workspaceNow()).relationships["current-run"].data).toBeNull()
    expect((await testEngine.request("POST", `/runs/${run}/actions/apply`)).status).toBe(409)
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/unlock`)
    expect((await testEngine.request("POST", `/runs/${run}/actions/apply`)).status).toBe(202)
    const { attributes, relationships } = await testEngine.workspaceNow()
    expect([attributes.locked, relationships["current-run"].data.id]).toEqual([true, run])
    await testEngine.step(run, { status: "applying" })
    await testEngine.step(run, { status: "applied" })
    expect((await testEngine.workspaceNow()).attributes.locked).toBe(false)
  })

  test("is stale after the state it was created from has changed", async () => {
    await using testEngine = await queueEngine()
    const run = await testEngine.queue({ "save-plan": true })
    await testEngine.step(run, { status: "planning" })
    await testEngine.step(run, { status: "planned" })
    testEngine.clock.advance(1)
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`)
    await testEngine.request("POST", `/workspaces/${testEngine.id}/state-versions`, {
      body: stateVersionDocument(stateFile(), { inline: true }),
    })
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/unlock`)
    const answer = await testEngine.request("POST", `/runs/${run}/actions/apply`)
    expect([answer.status, answer.body.errors[0].detail]).toEqual([409, expect.stringContaining("stale")])
    expect((await testEngine.request("POST", `/runs/${run}/actions/discard`)).status).toBe(202)
  })
})

describe("lists of runs", () => {
  test("are filtered by source, operation, group and search", async () => {
    await using testEngine = await queueEngine()
    const configuration = document("configuration-versions", {
      "ingress-attributes": { "commit-sha": "c0ffee", "sender-username": "octo" },
    })
    await made(testEngine, "POST", `/workspaces/${testEngine.id}/configuration-versions`, configuration)
    const runs = {
      plain: await testEngine.queue({ message: "Widen the Network" }),
      speculative: await testEngine.queue({ "plan-only": true }),
      saved: await testEngine.queue({ "save-plan": true }),
      destroying: await testEngine.queue({ "is-destroy": true }),
      refreshing: await testEngine.queue({ "refresh-only": true }),
      empty: await testEngine.queue({ "allow-empty-apply": true }),
    }
    await testEngine.request("POST", `/runs/${runs.plain}/actions/discard`)
    const found = async (query: string) => {
      const { body } = await testEngine.request("GET", `/workspaces/${testEngine.id}/runs?${query}`)
      return body.data.map(({ id }: { readonly id: string }) => id).toReversed()
    }
    const all = Object.values(runs)
    expect(await found("filter[operation]=destroy,refresh_only")).toEqual([runs.destroying, runs.refreshing])
    expect(await found("filter[operation]=plan_only,save_plan,empty_apply")).toEqual([
      runs.speculative,
      runs.saved,
      runs.empty,
    ])
    expect(await found("filter[source]=tfe-api")).toEqual(all)
    expect(await found("filter[source]=tfe-ui")).toEqual([])
    expect(await found("filter[status_group]=final")).toEqual([runs.plain])
    expect(await found("filter[status_group]=non_final")).toEqual(all.slice(1))
    expect(await found("filter[status_group]=discardable")).toEqual(all.slice(1))
    expect(await found("search[basic]=network")).toEqual([runs.plain])
    expect(await found(`search[basic]=${runs.saved}`)).toEqual([runs.saved])
    expect(await found("search[basic]=octo")).toEqual(all)
    expect(await found("search[user]=octo")).toEqual(all)
    expect(await found("search[user]=nobody&search[basic]=network")).toEqual([])
    expect(await found("search[commit]=c0ffee")).toEqual(all)
    expect(await found("search[commit]=c0ffe")).toEqual([])
    for (const query of ["filter[operation]=all", "filter[status_group]=mine"])
      expect((await testEngine.request("GET", `/workspaces/${testEngine.id}/runs?${query}`)).status).toBe(400)
  })

  test("of an organization contain those of the workspaces that the caller sees", async () => {
    await using testEngine = await queueEngine()
    const pool = await testEngine.engine.agentPools.create("acme", { name: "edge" })
    await announceExecutor(testEngine.engine, { kind: "agent-pool", id: pool.id })
    const other = await testEngine.workspace("Other", { executionMode: "agent", agentPoolId: pool.id })
    const [here, there] = [await testEngine.queue(), await testEngine.queue({}, other)]
    const found = async (query: string, token = testEngine.rootToken) => {
      const { body } = await testEngine.request("GET", `/organizations/acme/runs?${query}`, { token })
      return body.data.map(({ id }: { readonly id: string }) => id)
    }
    expect(await found("")).toEqual([there, here])
    expect(await found("filter[workspace_names]=other")).toEqual([there])
    expect(await found("filter[agent_pool_names]=edge")).toEqual([there])
    expect(await found("", await testEngine.token({ on: { [testEngine.id]: "read" } }))).toEqual([here])
    const stranger = await testEngine.engine.organizations.create({ name: "elsewhere", email: "e@example.com" })
    expect((await testEngine.request("GET", `/organizations/${stranger.name}/runs`)).body.data).toEqual([])
    expect((await testEngine.request("GET", "/organizations/nowhere/runs")).status).toBe(404)
  })
})

describe("the queue of an organization", () => {
  const queueOf = async (testEngine: Awaited<ReturnType<typeof queueEngine>>, token = testEngine.rootToken) => {
    const { status, body } = await testEngine.request("GET", "/organizations/acme/runs/queue", { token })
    const capacity = await testEngine.request("GET", "/organizations/acme/capacity", { token })
    expect([status, capacity.status]).toEqual([200, 200])
    expect(capacity.body.data).toMatchObject({ id: "acme", type: "organization-capacity" })
    return {
      runs: body.data.map(
        ({ id, attributes }: { readonly id: string; readonly attributes: Record<string, unknown> }) => [
          id,
          attributes["position-in-queue"],
        ],
      ),
      capacity: capacity.body.data.attributes,
    }
  }

  test("contains executing and waiting runs, the longest waiting first", async () => {
    await using testEngine = await queueEngine()
    expect(await queueOf(testEngine)).toEqual({ runs: [], capacity: { pending: 0, running: 0 } })
    const others = [
      await testEngine.workspace("second"),
      await testEngine.workspace("third"),
      await testEngine.workspace("fourth"),
    ]
    const [atWork, waits, forWord, ended] = [
      await testEngine.queue(),
      await testEngine.queue({}, others[0]),
      await testEngine.queue({}, others[1]),
      await testEngine.queue({}, others[2]),
    ]
    await testEngine.step(atWork, { status: "planning" })
    for (const status of ["planning", "planned"]) await testEngine.step(forWord, { status })
    await testEngine.step(ended, { status: "errored" })
    expect(await queueOf(testEngine)).toEqual({
      runs: [
        [atWork, 0],
        [waits, 1],
      ],
      capacity: { pending: 1, running: 1 },
    })
    // After its confirmation the run waits for an executor again.
    await testEngine.request("POST", `/runs/${forWord}/actions/apply`)
    expect((await queueOf(testEngine)).capacity).toEqual({ pending: 2, running: 1 })
    expect((await testEngine.request("GET", `/runs/${waits}`)).body.data.attributes).not.toHaveProperty(
      "position-in-queue",
    )
  })

  test("shows each caller the runs of the workspaces that they see", async () => {
    await using testEngine = await queueEngine()
    const other = await testEngine.workspace("other")
    await testEngine.queue()
    const seen = await testEngine.queue({}, other)
    const token = await testEngine.token({ on: { [other]: "read" } })
    expect(await queueOf(testEngine, token)).toEqual({ runs: [[seen, 0]], capacity: { pending: 1, running: 0 } })
  })
})
