// Run events: what happened to a run, and through whom.
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, one } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import type { RequestOptions } from "../../../testing/test-engine.ts"

async function eventEngine() {
  const clock = manualClock(Date.UTC(2026, 0, 1))
  const testEngine = await populatedEngine({ runtime: { ...systemRuntime(), clock } })
  const id = await testEngine.workspace("web")
  const { request } = testEngine
  const list = async (run: string, query = "", more: RequestOptions = {}) =>
    (await request("GET", `/runs/${run}/run-events${query}`, more)).body
  return Object.assign(testEngine, {
    id,
    clock,
    list,
    root: (await testEngine.engine.users.account()).id,
    async queue(attributes: object = {}, more: RequestOptions = {}): Promise<string> {
      clock.advance(1)
      const body = document("runs", attributes, { workspace: one("workspaces", id) })
      return (await request("POST", "/runs", { body, ...more })).body.data.id
    },
    act: (run: string, action: string, body: unknown = {}, more: RequestOptions = {}) =>
      request("POST", `/runs/${run}/actions/${action}`, { body, ...more }),
    async claimed(name = "worker-1"): Promise<string> {
      return (await made(testEngine, "POST", "/organizations/acme/run-claims", document("run-claims", { name }))).id
    },
    report: (claim: string, attributes: object) =>
      request("POST", `/run-claims/${claim}/actions/report`, { body: document("runs", attributes) }),
    /** Returns the action and the actor of each event. */
    actions: async (run: string) =>
      (await list(run)).data.map((event: Event) => [
        event.attributes.action,
        event.relationships.actor.data?.id ?? null,
      ]),
    descriptions: async (run: string) =>
      Object.fromEntries(
        (await list(run)).data.map((event: Event) => [event.attributes.action, event.attributes.description]),
      ),
  })
}

interface Event {
  readonly id: string
  readonly attributes: { readonly action: string; readonly description: string }
  readonly relationships: { readonly actor: { readonly data: { readonly id: string } | null } }
}

describe("[F-W12] the events of a run", () => {
  test("name each step and its actor, in their order, when a user confirms the run", async () => {
    await using testEngine = await eventEngine()
    const run = await testEngine.queue()
    const claim = await testEngine.claimed()
    for (const status of ["planning", "planned"]) await testEngine.report(claim, { status })
    await testEngine.act(run, "apply")
    for (const status of ["applying", "applied"]) await testEngine.report(claim, { status })
    const { root } = testEngine
    expect(await testEngine.actions(run)).toEqual([
      ["queued", root],
      ["plan_queued", root],
      ["planning", root],
      ["planned", root],
      ["confirmed", root],
      ["applying", root],
      ["applied", root],
    ])
    expect(await testEngine.descriptions(run)).toMatchObject({
      queued: "",
      plan_queued: 'Claimed by the executor "worker-1".',
      planned: 'Reported by the executor "worker-1".',
      confirmed: "",
    })
  })

  test("have no actor when the server decides", async () => {
    await using testEngine = await eventEngine()
    const run = await testEngine.queue({ "auto-apply": true })
    const claim = await testEngine.claimed()
    for (const status of ["planning", "planned"]) await testEngine.report(claim, { status })
    expect((await testEngine.actions(run)).slice(-2)).toEqual([
      ["planned", testEngine.root],
      ["confirmed", null],
    ])
  })

  test("name no actor when an agent executes the run", async () => {
    await using testEngine = await eventEngine()
    const pool = await made(
      testEngine,
      "POST",
      "/organizations/acme/agent-pools",
      document("agent-pools", { name: "a" }),
    )
    const path = `/agent-pools/${pool.id}/authentication-tokens`
    const agent = await made(testEngine, "POST", path, document("authentication-tokens", { description: "a" }))
    const mode = { "execution-mode": "agent", "agent-pool-id": pool.id }
    await testEngine.request("PATCH", `/workspaces/${testEngine.id}`, { body: document("workspaces", mode) })
    const run = await testEngine.queue()
    const claim = await testEngine.request("POST", `/agent-pools/${pool.id}/run-claims`, {
      token: agent.attributes.token,
    })
    expect(claim.status).toBe(201)
    expect(await testEngine.actions(run)).toEqual([
      ["queued", testEngine.root],
      ["plan_queued", null],
    ])
  })

  test.each([
    { action: "discard", at: ["planning", "planned"], recorded: "discarded" },
    { action: "cancel", at: [], recorded: "canceled" },
    { action: "force-cancel", at: ["planning"], recorded: "force_canceled" },
    { action: "apply", at: ["planning", "planned"], recorded: "confirmed" },
  ])("name the user of $action, and the comment", async ({ action, at, recorded }) => {
    await using testEngine = await eventEngine()
    const run = await testEngine.queue()
    for (const status of at) await testEngine.act(run, "transition", { status })
    const user = await testEngine.engine.users.create({ username: "ada", email: "ada@example.com" })
    await testEngine.engine.users.setSiteAdmin(user.id, true)
    const { secret } = await testEngine.engine.tokens.createForUser(user.id, { description: "ada" })
    expect((await testEngine.act(run, action, { comment: "Why not" }, { token: secret })).status).toBe(202)
    expect((await testEngine.actions(run)).slice(-2)).toEqual([
      ["commented", user.id],
      [recorded, user.id],
    ])
  })

  test("name the user who requested the end of a run that is executing", async () => {
    await using testEngine = await eventEngine()
    const run = await testEngine.queue()
    const claim = await testEngine.claimed()
    await testEngine.report(claim, { status: "planning" })
    await testEngine.act(run, "cancel")
    await testEngine.report(claim, { status: "planned" })
    const { root } = testEngine
    expect((await testEngine.actions(run)).slice(-3)).toEqual([
      ["cancel_requested", root],
      ["planned", root],
      ["canceled", null],
    ])
  })

  test("name the run that was forced to execute, and the user who forced it", async () => {
    await using testEngine = await eventEngine()
    const [first, second, forced] = [await testEngine.queue(), await testEngine.queue(), await testEngine.queue()]
    const claim = await testEngine.claimed()
    await testEngine.report(claim, { status: "planning" })
    for (const _twice of [1, 2]) expect((await testEngine.act(forced, "force-execute")).status).toBe(202)
    const { root } = testEngine
    expect((await testEngine.actions(first)).at(-1)).toEqual(["cancel_requested", root])
    expect((await testEngine.actions(second)).at(-1)).toEqual(["discarded", root])
    expect((await testEngine.descriptions(second)).discarded).toBe(`The run ${forced} was forced to execute.`)
    // The second request changed nothing: the run that executes is being canceled already.
    expect(await testEngine.actions(forced)).toEqual([
      ["queued", root],
      ["force_executed", root],
    ])
  })

  test("are resources of their own, with actor and comment on request", async () => {
    await using testEngine = await eventEngine()
    const run = await testEngine.queue()
    const comment = await made(
      testEngine,
      "POST",
      `/runs/${run}/comments`,
      document("comments", { body: "Looks good" }),
    )
    const plain = await testEngine.list(run)
    expect([Object.keys(plain), plain.data.length]).toEqual([["data"], 2])
    const [, event] = plain.data
    expect(event).toEqual({
      id: expect.stringMatching(/^re-\w{16}$/),
      type: "run-events",
      attributes: { action: "commented", description: "", "created-at": expect.any(String) },
      relationships: {
        run: { data: { type: "runs", id: run } },
        actor: { data: { type: "users", id: testEngine.root } },
        comment: { data: { type: "comments", id: comment.id } },
      },
      links: { self: `/api/v2/run-events/${event.id}` },
    })
    const typesIn = (body: { included?: readonly { type: string; id: string }[] }) =>
      body.included?.map(({ type, id }) => [type, id])
    const both = [
      ["users", testEngine.root],
      ["comments", comment.id],
    ]
    expect(typesIn(await testEngine.list(run, "?include=actor,comment"))).toEqual(both)
    const read = (query = "") => testEngine.request("GET", `/run-events/${event.id}${query}`)
    expect((await read()).body).toEqual({ data: event })
    expect(typesIn((await read("?include=actor,comment")).body)).toEqual(both)
    expect((await read("?include=target")).status).toBe(400)
    const { body } = await testEngine.request("GET", `/runs/${run}?include=run_events`)
    expect(body.included).toEqual(plain.data)
    expect(body.data.relationships["run-events"]).toEqual({
      data: plain.data.map(({ id }: Event) => ({ type: "run-events", id })),
      links: { related: `/api/v2/runs/${run}/run-events` },
    })
  })

  test("can be read by callers that may read the run, and no others", async () => {
    await using testEngine = await eventEngine()
    const run = await testEngine.queue()
    const [event] = (await testEngine.list(run)).data
    const statuses = async (token: string) =>
      Promise.all(
        [`/runs/${run}/run-events`, `/run-events/${event.id}`].map(
          async (path) => (await testEngine.request("GET", path, { token })).status,
        ),
      )
    expect(await statuses(await testEngine.token())).toEqual([404, 404])
    expect(await statuses(await testEngine.token({ on: { [testEngine.id]: "read" } }))).toEqual([200, 200])
    expect((await testEngine.request("GET", "/run-events/re-1111111111111111")).status).toBe(404)
  })

  test("are deleted with the workspace", async () => {
    await using testEngine = await eventEngine()
    const run = await testEngine.queue()
    const [event] = (await testEngine.list(run)).data
    await testEngine.request("DELETE", `/workspaces/${testEngine.id}`)
    expect((await testEngine.request("GET", `/run-events/${event.id}`)).status).toBe(404)
  })
})
