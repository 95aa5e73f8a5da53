import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { secondMs } from "../../core/time.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import type { Answer, RequestOptions } from "../../../testing/test-engine.ts"
import type { RunStatus } from "../../workspaces/runs/run-status.ts"

async function runEngine() {
  const clock = manualClock(Date.UTC(2026, 0, 1))
  const testEngine = await populatedEngine({ runtime: { ...systemRuntime(), clock } })
  const id = await testEngine.workspace("web")
  const { request } = testEngine
  const advance = (run: string, status: RunStatus, more: RequestOptions = {}) =>
    request("POST", `/runs/${run}/actions/transition`, { body: { status }, ...more })
  return Object.assign(testEngine, {
    id,
    clock,
    advance,
    create: (attributes: Record<string, unknown> = {}, { on = id, ...more }: RequestOptions & { on?: string } = {}) =>
      request("POST", "/runs", { body: runDocument(on, attributes), ...more }),
    async queue(attributes: Record<string, unknown> = {}): Promise<string> {
      return (await request("POST", "/runs", { body: runDocument(id, attributes) })).body.data.id
    },
    /** Moves the run through these statuses, spending the given milliseconds in each. */
    async walk(run: string, ...steps: readonly (readonly [RunStatus, number])[]) {
      for (const [status, durationMs] of steps) {
        const answer = await advance(run, status)
        expect([status, answer.status]).toEqual([status, 200])
        clock.advance(durationMs)
      }
    },
    show: async () => (await request("GET", `/workspaces/${id}`)).body.data,
    run: async (run: string) => (await request("GET", `/runs/${run}`)).body.data,
    act: (run: string, action: string, more: RequestOptions = {}) =>
      request("POST", `/runs/${run}/actions/${action}`, more),
  })
}

const runDocument = (workspace: string, attributes: Record<string, unknown>, relationships = {}) => ({
  data: {
    type: "runs",
    attributes,
    relationships: { workspace: { data: { type: "workspaces", id: workspace } }, ...relationships },
  },
})

const detailOf = ({ status, body }: Answer) => [status, body?.errors?.[0]?.detail]
const applying: readonly RunStatus[] = ["planning", "planned", "confirmed", "applying", "applied"]
const inNoTime = (...statuses: readonly RunStatus[]) => statuses.map((status) => [status, 0] as const)

describe("a run", () => {
  test("is pending when it is created, and shows the members of the request", async () => {
    await using testEngine = await runEngine()
    const { status, body } = await testEngine.create({ message: "Try", "is-destroy": true, "auto-apply": true })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^run-\w{16}$/),
      type: "runs",
      attributes: {
        status: "pending",
        message: "Try",
        "is-destroy": true,
        "auto-apply": true,
        "plan-only": false,
        "created-at": "2026-01-01T00:00:00.000Z",
        "status-timestamps": { "pending-at": "2026-01-01T00:00:00.000Z" },
        actions: {
          "is-cancelable": true,
          "is-confirmable": false,
          "is-discardable": true,
          "is-force-cancelable": false,
        },
      },
      relationships: {
        workspace: { data: { id: testEngine.id } },
        plan: { data: { id: expect.stringMatching(/^plan-\w{16}$/), type: "plans" } },
        apply: { data: { id: expect.stringMatching(/^apply-\w{16}$/), type: "applies" } },
      },
    })
    expect(await testEngine.run(body.data.id)).toEqual(body.data)
  })

  test("moves through the public statuses, but not backwards", async () => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    await testEngine.walk(run, ["planning", 3 * secondMs], ["planned", secondMs], ["confirmed", 0], ["applying", 0])
    expect(detailOf(await testEngine.advance(run, "planned"))).toEqual([
      409,
      "The run is applying and cannot become planned.",
    ])
    expect((await testEngine.advance(run, "nonsense" as RunStatus)).status).toBe(422)
    expect((await testEngine.run(run)).attributes["status-timestamps"]).toEqual({
      "pending-at": "2026-01-01T00:00:00.000Z",
      "planning-at": "2026-01-01T00:00:00.000Z",
      "planned-at": "2026-01-01T00:00:03.000Z",
      "confirmed-at": "2026-01-01T00:00:04.000Z",
      "plan-queueable-at": "2026-01-01T00:00:00.000Z",
      "applying-at": "2026-01-01T00:00:04.000Z",
    })
  })

  test("has a plan and an apply with their own ids and statuses", async () => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    await testEngine.walk(run, ["planning", 1], ["planned", 1], ["confirmed", 1], ["applying", 1])
    const plan = await testEngine.request("GET", `/runs/${run}/plan`)
    expect(plan.body.data).toMatchObject({
      type: "plans",
      attributes: { status: "finished", "has-changes": true },
      relationships: { run: { data: { id: run } } },
    })
    expect((await testEngine.request("GET", `/plans/${plan.body.data.id}`)).body).toEqual(plan.body)
    const apply = await testEngine.request("GET", `/runs/${run}/apply`)
    expect(apply.body.data).toMatchObject({ type: "applies", attributes: { status: "running" } })
    expect((await testEngine.request("GET", `/applies/${apply.body.data.id}`)).body).toEqual(apply.body)
    expect((await testEngine.request("GET", "/plans/plan-1111111111111111")).status).toBe(404)
  })

  test.each<{ action: string; at: readonly RunStatus[]; becomes: RunStatus | 409 }>([
    { action: "apply", at: ["planning", "planned"], becomes: "confirmed" },
    { action: "apply", at: ["planning"], becomes: 409 },
    { action: "apply", at: applying, becomes: 409 },
    { action: "discard", at: [], becomes: "discarded" },
    { action: "discard", at: ["planning", "planned"], becomes: "discarded" },
    { action: "discard", at: ["planning"], becomes: 409 },
    { action: "cancel", at: [], becomes: "canceled" },
    { action: "cancel", at: ["planning"], becomes: "canceled" },
    { action: "cancel", at: ["planning", "planned"], becomes: 409 },
    { action: "cancel", at: applying, becomes: 409 },
    { action: "force-cancel", at: ["planning", "planned", "confirmed", "applying"], becomes: "force_canceled" },
    { action: "force-cancel", at: [], becomes: 409 },
  ])("becomes $becomes when $action is sent at $at", async ({ action, at, becomes }) => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    await testEngine.walk(run, ...inNoTime(...at))
    const { status } = await testEngine.act(run, action)
    const { attributes } = await testEngine.run(run)
    expect([status, attributes.status]).toEqual(becomes === 409 ? [409, at.at(-1) ?? "pending"] : [202, becomes])
  })

  test.each<{ how: string; at: readonly RunStatus[]; action: string }>([
    { how: "while it waits", at: [], action: "cancel" },
    { how: "while it executes without an executor", at: ["planning"], action: "cancel" },
    { how: "by force", at: ["planning"], action: "force-cancel" },
  ])("[F-W12] shows when it was canceled $how, during the cancellation and afterwards", async ({ at, action }) => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    await testEngine.walk(run, ...inNoTime(...at))
    testEngine.clock.advance(7 * secondMs)
    expect((await testEngine.run(run)).attributes).not.toHaveProperty("canceled-at")
    expect((await testEngine.act(run, action)).status).toBe(202)
    const { attributes } = await testEngine.run(run)
    expect(attributes["canceled-at"]).toBe("2026-01-01T00:00:07.000Z")
    expect(attributes["force-cancel-available-at"]).toBe("2026-01-01T00:01:07.000Z")
    expect(attributes.actions).toMatchObject({ "is-cancelable": false, "is-force-cancelable": false })
  })

  test("[F-W12] shows when its plan became queueable", async () => {
    await using testEngine = await runEngine()
    const { body } = await testEngine.create()
    expect(body.data.attributes["status-timestamps"]).toEqual({
      "pending-at": "2026-01-01T00:00:00.000Z",
      "plan-queueable-at": "2026-01-01T00:00:00.000Z",
    })
  })

  test("[F-W12] shows the state version that it plans from", async () => {
    await using testEngine = await runEngine()
    const before = await testEngine.queue()
    expect((await testEngine.run(before)).relationships["input-state-version"]).toEqual({ data: null })
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`)
    const state = await testEngine.request("POST", `/workspaces/${testEngine.id}/state-versions`, {
      body: stateVersionDocument(stateFile({}), { inline: true }),
    })
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/unlock`)
    const linkage = { data: { type: "state-versions", id: state.body.data.id } }
    await testEngine.walk(before, ["planning", 1])
    expect((await testEngine.run(before)).relationships["input-state-version"]).toEqual(linkage)
    const after = await testEngine.queue()
    expect((await testEngine.run(after)).relationships["input-state-version"]).toEqual(linkage)
  })

  test.each([
    { action: "apply", at: ["planning", "planned"] },
    { action: "discard", at: [] },
    { action: "cancel", at: [] },
    { action: "force-cancel", at: ["planning"] },
  ] as const)("[F-W12] stores the comment of $action", async ({ action, at }) => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    await testEngine.walk(run, ...inNoTime(...at))
    const comment = "Hello, Earl"
    expect((await testEngine.act(run, action, { body: { comment } })).status).toBe(202)
    const { relationships } = await testEngine.run(run)
    const [{ id }] = relationships.comments.data
    expect(relationships.comments).toEqual({
      data: [{ type: "comments", id }],
      links: { related: `/api/v2/runs/${run}/comments` },
    })
    expect((await testEngine.request("GET", `/comments/${id}`)).body.data).toMatchObject({
      id: expect.stringMatching(/^wsc-\w{16}$/),
      type: "comments",
      attributes: { body: comment },
      relationships: { run: { data: { type: "runs", id: run } }, "created-by": { data: { type: "users" } } },
    })
  })

  test("[F-W12] is unchanged when the comment of an action is rejected", async () => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    for (const comment of ["x".repeat(10_001), 7]) {
      const answer = await testEngine.act(run, "cancel", { body: { comment } })
      expect([answer.status, answer.body.errors[0].source]).toEqual([422, { pointer: "/comment" }])
    }
    expect((await testEngine.run(run)).attributes.status).toBe("pending")
    expect((await testEngine.act(run, "cancel", { body: { comment: "" } })).status).toBe(202)
    expect((await testEngine.run(run)).relationships.comments.data).toEqual([])
  })

  test("[F-W12] accepts comments at any time, and lists them in pages, oldest first", async () => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    const comment = (body: unknown, more: RequestOptions = {}) => {
      testEngine.clock.advance(1)
      const sent = { data: { type: "comments", attributes: { body } } }
      return testEngine.request("POST", `/runs/${run}/comments`, { body: sent, ...more })
    }
    expect([(await comment("first")).status, (await comment("second")).status]).toEqual([201, 201])
    await testEngine.act(run, "cancel")
    expect((await comment("third")).body.data.attributes.body).toBe("third")
    const list = await testEngine.request("GET", `/runs/${run}/comments?page[size]=2`)
    expect(list.body.data.map(({ attributes }: { attributes: { body: string } }) => attributes.body)).toEqual([
      "first",
      "second",
    ])
    expect(list.body.meta.pagination["total-count"]).toBe(3)
    expect((await comment(" ")).body.errors[0]).toMatchObject({
      detail: "body can't be blank",
      source: { pointer: "/data/attributes/body" },
    })
    const [{ id }] = list.body.data
    const statuses = async (token: string) => [
      (await comment("theirs", { token })).status,
      (await testEngine.request("GET", `/runs/${run}/comments`, { token })).status,
      (await testEngine.request("GET", `/comments/${id}`, { token })).status,
    ]
    expect(await statuses(await testEngine.token())).toEqual([404, 404, 404])
    expect(await statuses(await testEngine.token({ on: { [testEngine.id]: "read" } }))).toEqual([404, 200, 200])
    expect(await statuses(await testEngine.token({ on: { [testEngine.id]: "plan" } }))).toEqual([201, 200, 200])
  })

  test("[F-W12] is forced to execute: earlier runs are discarded, or canceled if they are executing", async () => {
    await using testEngine = await runEngine()
    const queue = () => {
      testEngine.clock.advance(1)
      return testEngine.queue()
    }
    const [planned, pending, forced, later] = [await queue(), await queue(), await queue(), await queue()]
    const statuses = async () =>
      Promise.all([planned, pending, forced, later].map(async (run) => (await testEngine.run(run)).attributes.status))
    await testEngine.walk(planned, ...inNoTime("planning", "planned"))
    expect((await testEngine.run(forced)).attributes.permissions["can-force-execute"]).toBe(true)
    expect((await testEngine.act(forced, "force-execute")).status).toBe(202)
    expect(await statuses()).toEqual(["discarded", "discarded", "pending", "pending"])
    // No other run blocks it now.
    expect((await testEngine.act(forced, "force-execute")).status).toBe(403)
    await testEngine.walk(forced, ["planning", 1])
    expect(detailOf(await testEngine.act(forced, "force-execute"))).toEqual([
      403,
      "The run is planning; only a pending run can be forced to execute.",
    ])
    expect((await testEngine.act(later, "force-execute")).status).toBe(202)
    expect(await statuses()).toEqual(["discarded", "discarded", "canceled", "pending"])
    const token = await testEngine.token({ on: { [testEngine.id]: "plan" } })
    expect((await testEngine.act(later, "force-execute", { token })).status).toBe(404)
  })

  test("[F-W12] cannot be forced to execute while a user holds the lock", async () => {
    await using testEngine = await runEngine()
    const first = await testEngine.queue()
    const second = await testEngine.queue()
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`)
    expect(detailOf(await testEngine.act(second, "force-execute"))).toEqual([
      409,
      expect.stringContaining("is locked by User"),
    ])
    expect((await testEngine.run(first)).attributes.status).toBe("pending")
  })

  test.each<{ how: string; attributes: Record<string, unknown>; confirm: readonly [string, object?] | undefined }>([
    { how: "by the apply action", attributes: {}, confirm: ["apply"] },
    { how: "by a transition", attributes: {}, confirm: ["transition", { status: "confirmed" }] },
    { how: "by auto-apply", attributes: { "auto-apply": true }, confirm: undefined },
  ])("names the user who confirmed it: $how", async ({ attributes, confirm }) => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue(attributes)
    expect((await testEngine.run(run)).relationships["confirmed-by"]).toEqual({ data: null })
    await testEngine.walk(run, ...inNoTime("planning", "planned"))
    const { id: teamId } = await testEngine.engine.teams.create("acme", { name: "writers" })
    await testEngine.engine.teamWorkspaces.create({ teamId, workspaceId: testEngine.id, access: "write" })
    const { secret: token } = await testEngine.engine.tokens.createForTeam(teamId, {})
    if (confirm !== undefined) {
      const [action, body] = confirm
      await testEngine.request("POST", `/runs/${run}/actions/${action}`, { token, ...(body && { body }) })
    }
    const shown = await testEngine.run(run)
    expect(shown.attributes.status).toBe("confirmed")
    expect(shown.relationships["confirmed-by"].data).toEqual(
      confirm === undefined ? null : { type: "users", id: teamId },
    )
  })

  test("that is plan-only cannot be applied, takes no lock and never becomes the current run", async () => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue({ "plan-only": true })
    await testEngine.walk(run, ["planning", 0], ["planned", 0])
    expect((await testEngine.act(run, "apply")).status).toBe(409)
    const { attributes, relationships } = await testEngine.show()
    expect([attributes.locked, relationships["current-run"].data]).toEqual([false, null])
  })

  test("is rejected with all faults of its document at once", async () => {
    await using testEngine = await runEngine()
    const body = { data: { type: "run", attributes: { message: 3, "is-destroy": "yes" }, relationships: {} } }
    const answer = await testEngine.request("POST", "/runs", { body })
    expect(answer.status).toBe(422)
    expect(answer.body.errors.map(({ source }: { readonly source: { pointer: string } }) => source.pointer)).toEqual([
      "/data/type",
      "/data/attributes/message",
      "/data/attributes/is-destroy",
      "/data/relationships/workspace",
    ])
  })

  test("includes only the resources in include", async () => {
    await using testEngine = await runEngine()
    const attributes = { "ingress-attributes": { branch: "main" } }
    await testEngine.request("POST", `/workspaces/${testEngine.id}/configuration-versions`, {
      body: { data: { type: "configuration-versions", attributes } },
    })
    const run = await testEngine.queue()
    const types = async (parts: string) =>
      (await testEngine.request("GET", `/runs/${run}?include=${parts}`)).body.included?.map(
        ({ type }: { readonly type: string }) => type,
      )
    expect(await types("plan,apply,created_by,workspace")).toEqual(["plans", "applies", "users", "workspaces"])
    expect(await types("configuration_version")).toEqual(["configuration-versions"])
    expect(await types("configuration_version.ingress_attributes")).toEqual([
      "configuration-versions",
      "ingress-attributes",
    ])
    expect(await types("")).toBeUndefined()
    expect((await testEngine.request("GET", `/runs/${run}?include=logs`)).status).toBe(400)
  })

  test("uses only configuration versions of its own workspace", async () => {
    await using testEngine = await runEngine()
    const other = await testEngine.workspace("other")
    const made = await testEngine.request("POST", `/workspaces/${other}/configuration-versions`, {
      body: { data: { type: "configuration-versions" } },
    })
    const named = { "configuration-version": { data: { type: "configuration-versions", id: made.body.data.id } } }
    const answer = await testEngine.request("POST", "/runs", { body: runDocument(testEngine.id, {}, named) })
    expect([answer.status, answer.body.errors[0].source]).toEqual([
      422,
      { pointer: "/data/relationships/configuration-version/data/id" },
    ])
    expect((await testEngine.request("POST", "/runs", { body: runDocument(other, {}, named) })).status).toBe(201)
  })

  test("is listed newest first, in pages, by status", async () => {
    await using testEngine = await runEngine()
    const runs = []
    for (let index = 0; index < 3; index += 1) {
      runs.push(await testEngine.queue())
      testEngine.clock.advance(1)
    }
    await testEngine.act(runs[0] as string, "discard")
    const path = `/workspaces/${testEngine.id}/runs`
    const listed = async (query: string) =>
      (await testEngine.request("GET", `${path}${query}`)).body.data.map(({ id }: { readonly id: string }) => id)
    expect(await listed("")).toEqual(runs.toReversed())
    expect(await listed("?filter[status]=discarded,applied")).toEqual([runs[0]])
    expect(await listed("?page[size]=1&page[number]=2")).toEqual([runs[1]])
    expect((await testEngine.request("GET", `${path}?filter[status]=gone`)).status).toBe(400)
  })
})

describe("the workspace", () => {
  test("[W-2.5-r3] [W-2.5-r4] [W-9-n2] links to its newest run that may apply, with both names", async () => {
    await using testEngine = await runEngine()
    expect((await testEngine.show()).relationships["current-run"].data).toBeNull()
    await testEngine.queue()
    const newest = await testEngine.queue()
    await testEngine.queue({ "plan-only": true })
    const { relationships } = await testEngine.show()
    expect(relationships["current-run"]).toEqual({
      data: { type: "runs", id: newest },
      links: { related: `/api/v2/runs/${newest}` },
    })
    expect(relationships["latest-run"]).toEqual(relationships["current-run"])
  })

  test("[W-2.5-r15] is locked by an executing run until the run ends", async () => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    expect((await testEngine.show()).relationships["locked-by"].data).toBeNull()
    await testEngine.walk(run, ["planning", 0])
    const { attributes, relationships } = await testEngine.show()
    expect(attributes.locked).toBe(true)
    expect(relationships["locked-by"]).toEqual({
      data: { type: "runs", id: run },
      links: { related: `/api/v2/runs/${run}` },
    })
    expect(detailOf(await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`))).toEqual([
      409,
      expect.stringContaining(`locked by Run ${run}`),
    ])
    expect(detailOf(await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/unlock`))).toEqual([
      409,
      `Unable to unlock workspace. The workspace is locked by Run ${run} and may not be unlocked except by them.`,
    ])
    await testEngine.walk(run, ["errored", 0])
    expect((await testEngine.show()).attributes.locked).toBe(false)
  })

  test("keeps a run waiting while a user holds its lock", async () => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`)
    expect(detailOf(await testEngine.advance(run, "planning"))).toEqual([
      409,
      expect.stringContaining("The run has to wait in pending. The workspace is locked by User user-"),
    ])
    expect((await testEngine.run(run)).attributes.status).toBe("pending")
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/unlock`)
    expect((await testEngine.advance(run, "planning")).status).toBe(200)
  })

  test("gets the states of a run when the run ends, without pending ones", async () => {
    await using testEngine = await runEngine()
    const run = await testEngine.queue()
    await testEngine.walk(run, ["planning", 0], ["planned", 0], ["confirmed", 0], ["applying", 0])
    const put = (serial: number, inline: boolean, named: Record<string, unknown>) => {
      const document = stateVersionDocument(stateFile({ serial, instances: serial }), { inline, intermediate: true })
      const body = { data: { ...document.data, relationships: named } }
      return testEngine.request("POST", `/workspaces/${testEngine.id}/state-versions`, { body })
    }
    const ofRun = { run: { data: { type: "runs", id: run } } }
    expect((await put(1, true, {})).status).toBe(409)
    expect((await put(2, true, ofRun)).status).toBe(201)
    const lost = await put(3, false, ofRun)
    await testEngine.walk(run, ["applied", 0])
    expect((await testEngine.show()).attributes["resource-count"]).toBe(2)
    const { data } = (await testEngine.request("GET", `/state-versions/${lost.body.data.id}`)).body
    expect([data.attributes.status, data.relationships.run.data.id]).toEqual(["discarded", run])
  })

  test("[W-2.3-p3] [W-2.3-r24] [W-2.3-r25] [W-2.3-r26] [W-2.3-r27] [W-2.3-r28] computes its metrics over runs that errored or were applied", async () => {
    await using testEngine = await runEngine()
    const metrics = async () => {
      const { attributes } = await testEngine.show()
      return [
        attributes["apply-duration-average"],
        attributes["plan-duration-average"],
        attributes["policy-check-failures"],
        attributes["run-failures"],
        attributes["workspace-kpis-runs-count"],
        attributes["workspace-kpis-run-count"],
      ]
    }
    expect(await metrics()).toEqual([null, null, null, null, null, null])
    await testEngine.walk(await testEngine.queue(), ["planning", 100], ["planned", 5], ["discarded", 0])
    expect(await metrics()).toEqual([null, null, null, null, null, null])
    await testEngine.walk(
      await testEngine.queue(),
      ["planning", 100],
      ["planned", 5],
      ["policy_checking", 5],
      ["policy_override", 5],
      ["policy_checked", 5],
      ["confirmed", 5],
      ["applying", 3_000],
      ["applied", 0],
    )
    expect(await metrics()).toEqual([3_000, 100, 1, 0, 1, 1])
    await testEngine.walk(await testEngine.queue(), ["planning", 300], ["errored", 0])
    expect(await metrics()).toEqual([3_000, 200, 1, 1, 2, 2])
  })

  test("[W-8-r4] computes its metrics over the newest 30 finished runs", async () => {
    await using testEngine = await runEngine()
    for (let index = 0; index < 31; index += 1) {
      const planMs = index === 0 ? 1_000_000 : 10
      await testEngine.walk(await testEngine.queue(), ["planning", planMs], ["errored", 1])
    }
    const { attributes } = await testEngine.show()
    expect([attributes["workspace-kpis-runs-count"], attributes["plan-duration-average"]]).toEqual([30, 10])
  })

  test("is found by the status of its current run", async () => {
    await using testEngine = await runEngine()
    await testEngine.workspace("idle")
    const run = await testEngine.queue()
    const found = async (status: string) =>
      (
        await testEngine.request("GET", `/organizations/acme/workspaces?filter[current-run][status]=${status}`)
      ).body.data.map(({ attributes }: { readonly attributes: { name: string } }) => attributes.name)
    expect([await found("pending"), await found("planning")]).toEqual([["web"], []])
    await testEngine.walk(run, ["planning", 0])
    expect([await found("pending"), await found("planning")]).toEqual([[], ["web"]])
  })
})

describe("permissions on runs", () => {
  test.each<{ who: "stranger" | "read" | "plan" | "write" | "admin"; statuses: readonly number[] }>([
    { who: "stranger", statuses: [404, 404, 404, 404, 404, 404] },
    { who: "read", statuses: [200, 404, 404, 404, 404, 404] },
    { who: "plan", statuses: [200, 201, 404, 201, 200, 404] },
    { who: "write", statuses: [200, 201, 404, 201, 200, 202] },
    { who: "admin", statuses: [200, 201, 201, 201, 200, 202] },
  ])(
    "let $who show, queue, queue a destroy, plan only, advance that, discard: $statuses",
    async ({ who, statuses }) => {
      await using testEngine = await runEngine()
      const [run, speculative] = [await testEngine.queue(), await testEngine.queue({ "plan-only": true })]
      const token = await testEngine.token(who === "stranger" ? {} : { on: { [testEngine.id]: who } })
      const answers = [
        await testEngine.request("GET", `/runs/${run}`, { token }),
        await testEngine.create({}, { token }),
        await testEngine.create({ "is-destroy": true }, { token }),
        await testEngine.create({ "plan-only": true }, { token }),
        await testEngine.advance(speculative, "planning", { token }),
        await testEngine.act(run, "discard", { token }),
      ]
      expect(answers.map(({ status }) => status)).toEqual(statuses)
    },
  )

  test("let no caller queue a destroy run when the workspace forbids destroy plans", async () => {
    await using testEngine = await runEngine()
    await testEngine.request("PATCH", `/workspaces/${testEngine.id}`, {
      body: { data: { type: "workspaces", attributes: { "allow-destroy-plan": false } } },
    })
    const answer = await testEngine.create({ "is-destroy": true })
    expect([answer.status, answer.body.errors[0].source]).toEqual([422, { pointer: "/data/attributes/is-destroy" }])
  })
})
