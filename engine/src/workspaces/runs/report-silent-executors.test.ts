// Runs that wait while no executor is seen: the run, its events, its log and the feed contain the reason.
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { formatInstant, minuteMs, secondMs } from "../../core/time.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../storage/sealing/key-sealing.ts"
import { repositoriesOver } from "../../storage/repositories/repositories.ts"
import { announceExecutor } from "../../../testing/announced-executor.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, one } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { openTestEngine, type RequestOptions } from "../../../testing/test-engine.ts"
import { endRunClaims } from "./expire-run-claims.ts"
import { reportSilentExecutors } from "./report-silent-executors.ts"

const start = Date.UTC(2026, 0, 1)
const startAgent = "The run waits for one: chancery agent --token-file FILE (docs/agents.md)"
const organizationReason = (since = start) =>
  `No agent of organization acme was seen since ${formatInstant(since)}. ${startAgent}`
const poolReason = (since: string) => `No agent of the agent pool office was seen ${since}. ${startAgent}`

interface EventDocument {
  readonly attributes: { readonly action: string; readonly description: string }
  readonly relationships: { readonly actor: object }
}

/** Opens an engine whose organization was asked for runs at `start`, with a workspace of the execution mode `remote`. */
async function waitingEngine() {
  const clock = manualClock(start)
  const logged: [string, unknown][] = []
  const system = systemRuntime()
  const log = { ...system.log, warn: (event: string, members?: unknown) => void logged.push([event, members]) }
  const runtime = { ...system, clock, log }
  const keyText = newKeyText(runtime.random)
  const place = await defaultSharedKind.place()
  const testEngine = await populatedEngine({ url: place.url, runtime, sealKeys: { text: keyText }, jobs: false })
  const id = await testEngine.workspace("web")
  const pool = await made(
    testEngine,
    "POST",
    "/organizations/acme/agent-pools",
    document("agent-pools", { name: "office" }),
  )
  const newToken = document("authentication-tokens", { description: "office" })
  const tokenPath = `/agent-pools/${pool.id}/authentication-tokens`
  const agentToken = (await made(testEngine, "POST", tokenPath, newToken)).attributes.token as string
  const database = await openDatabase(place.url)
  const sealer = keySealer(parseKeyRing(keyText), runtime.random)
  const storage = repositoriesOver(database, sealer, clock, { committed() {} })
  const held = () => ({ signal: AbortSignal.timeout(10_000) })
  const attributesOf = async (run: string) => (await testEngine.request("GET", `/runs/${run}`)).body.data.attributes
  return Object.assign(testEngine, {
    id,
    clock,
    logged,
    pool: pool.id as string,
    agentToken,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]()
      await testEngine.engine[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
    inPool: (name = "inside") => testEngine.workspace(name, { executionMode: "agent", agentPoolId: pool.id }),
    queue: async (on = id, attributes: object = {}): Promise<string> =>
      (await made(testEngine, "POST", "/runs", document("runs", attributes, { workspace: one("workspaces", on) }))).id,
    async wait(ms: number): Promise<void> {
      clock.advance(ms)
      await endRunClaims({ storage, runtime }, held())
      await reportSilentExecutors({ storage, runtime }, held())
    },
    /** Counts the reads and the transactions of the job. */
    async countedJob() {
      const counts = { reads: 0, transactions: 0 }
      const counted: typeof storage = Object.assign(Object.create(storage), {
        read: (work: never) => ((counts.reads += 1), storage.read(work)),
        transact: (work: never) => ((counts.transactions += 1), storage.transact(work)),
      })
      await reportSilentExecutors({ storage: counted, runtime }, held())
      return counts
    },
    async bothReplicas(): Promise<void> {
      await Promise.all([1, 2].map(() => reportSilentExecutors({ storage, runtime }, held())))
    },
    ask: (path = "/organizations/acme", options: RequestOptions = {}) =>
      testEngine.request("POST", `${path}/run-claims`, {
        body: document("run-claims", { name: "worker", "lease-seconds": 60 }),
        ...options,
      }),
    report: (claim: string, status: string) =>
      testEngine.request("POST", `/run-claims/${claim}/actions/report`, { body: document("runs", { status }) }),
    statusOf: async (run: string): Promise<string> => (await attributesOf(run)).status,
    reasonOf: async (run: string): Promise<string | null> => (await attributesOf(run))["waiting-reason"],
    async noticesOf(run: string): Promise<readonly string[]> {
      const { data } = (await testEngine.request("GET", `/runs/${run}/run-events`)).body
      const missing = (data as EventDocument[]).filter(({ attributes }) => attributes.action === "executor_missing")
      expect(missing.every(({ relationships }) => "data" in relationships.actor && !relationships.actor.data)).toBe(
        true,
      )
      return missing.map(({ attributes }) => attributes.description)
    },
    async logOf(run: string, stage = "plan"): Promise<string> {
      const { attributes } = (await testEngine.request("GET", `/runs/${run}/${stage}`)).body.data
      return (await testEngine.request("GET", attributes["log-read-url"], { token: null })).body as string
    },
    async updatesOf(run: string): Promise<number> {
      const { data } = (await testEngine.request("GET", `/organizations/acme/events?since=${formatInstant(start)}`))
        .body
      return (data as { readonly attributes: { subject?: { id: string }; changed?: string[] } }[]).filter(
        ({ attributes }) => attributes.subject?.id === run && attributes.changed?.includes("waiting-reason"),
      ).length
    },
  })
}

describe("a run that waits for an executor", () => {
  test("contains the reason, once, when no executor was seen for five minutes", async () => {
    await using testEngine = await waitingEngine()
    const run = await testEngine.queue()
    await testEngine.wait(5 * minuteMs - 1)
    expect([await testEngine.reasonOf(run), await testEngine.noticesOf(run)]).toEqual([null, []])
    expect(await testEngine.logOf(run)).toBe("\u0002")
    for (const ms of [1, 15 * secondMs, 60 * minuteMs]) {
      await testEngine.wait(ms)
      expect(await testEngine.reasonOf(run)).toBe(organizationReason())
      expect(await testEngine.noticesOf(run)).toEqual([organizationReason()])
      expect(await testEngine.logOf(run)).toBe(`\u0002${organizationReason()}\n`)
    }
    expect(testEngine.logged.filter(([event]) => event === "run-executor-missing")).toEqual([
      ["run-executor-missing", { run, reason: organizationReason() }],
    ])
    expect(await testEngine.updatesOf(run)).toBe(1)
  })

  test("contains no reason before it has waited for five minutes, however long executors were silent", async () => {
    await using testEngine = await waitingEngine()
    testEngine.clock.advance(60 * minuteMs)
    const run = await testEngine.queue()
    await testEngine.wait(5 * minuteMs - 1)
    expect(await testEngine.reasonOf(run)).toBeNull()
    await testEngine.wait(1)
    expect(await testEngine.reasonOf(run)).toBe(organizationReason())
  })

  test("names its agent pool, also when no agent of it ever searched for runs", async () => {
    await using testEngine = await waitingEngine()
    const inside = await testEngine.inPool()
    const first = await testEngine.queue(inside)
    await testEngine.wait(5 * minuteMs)
    expect(await testEngine.reasonOf(first)).toBe(poolReason("yet"))
    expect((await testEngine.ask("", { token: testEngine.agentToken })).status).toBe(201)
    const second = await testEngine.queue(await testEngine.inPool("other"))
    await testEngine.wait(10 * minuteMs)
    expect(await testEngine.reasonOf(second)).toBe(poolReason(`since ${formatInstant(start + 5 * minuteMs)}`))
  })

  test("in a pool waits for its agents only, and in the mode remote for any executor", async () => {
    await using testEngine = await waitingEngine()
    const inPool = await testEngine.queue(await testEngine.inPool())
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`)
    testEngine.clock.advance(4 * minuteMs)
    // An executor of the organization searches, and finds nothing.
    expect((await testEngine.ask()).status).toBe(204)
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/unlock`)
    const remote = await testEngine.queue()
    await testEngine.wait(4 * minuteMs)
    expect([await testEngine.reasonOf(inPool), await testEngine.reasonOf(remote)]).toEqual([poolReason("yet"), null])
    await testEngine.wait(minuteMs)
    expect(await testEngine.reasonOf(remote)).toBe(organizationReason(start + 4 * minuteMs))
  })

  test("contains no reason when an agent of an admitting pool was seen, or is at work on another run", async () => {
    await using testEngine = await waitingEngine()
    const { agentToken: token } = testEngine
    await testEngine.queue()
    const { body } = await testEngine.ask("", { token })
    const remote = await testEngine.queue(await testEngine.workspace("second"))
    const inPool = await testEngine.queue(await testEngine.inPool())
    for (let minutes = 0; minutes < 20; minutes += 0.5) {
      const heartbeat = await testEngine.request("POST", `/run-claims/${body.data.id}/actions/heartbeat`, { token })
      expect(heartbeat.status).toBe(200)
      await testEngine.wait(30 * secondMs)
      expect([await testEngine.reasonOf(remote), await testEngine.reasonOf(inPool)]).toEqual([null, null])
    }
    // The lost agent was last seen 30 seconds ago.
    await testEngine.wait(4 * minuteMs)
    expect(await testEngine.reasonOf(inPool)).toBeNull()
    await testEngine.wait(minuteMs)
    expect(await testEngine.reasonOf(inPool)).toBe(
      poolReason(`since ${formatInstant(start + 19 * minuteMs + 30 * secondMs)}`),
    )
  })

  test("contains no reason while an executor with a long lease is at work on another run", async () => {
    await using testEngine = await waitingEngine()
    await testEngine.queue()
    const body = document("run-claims", { "lease-seconds": 600 })
    expect((await testEngine.request("POST", "/organizations/acme/run-claims", { body })).status).toBe(201)
    const run = await testEngine.queue(await testEngine.workspace("second"))
    await testEngine.wait(9 * minuteMs)
    expect(await testEngine.reasonOf(run)).toBeNull()
    await testEngine.wait(minuteMs)
    expect(await testEngine.reasonOf(run)).toBe(organizationReason())
  })

  test("contains no reason when the only pool does not admit its workspace but the last agent was of this pool", async () => {
    await using testEngine = await waitingEngine()
    const run = await testEngine.queue()
    const body = document("agent-pools", { "organization-scoped": false })
    await testEngine.request("PATCH", `/agent-pools/${testEngine.pool}`, { body })
    testEngine.clock.advance(4 * minuteMs)
    expect((await testEngine.ask("", { token: testEngine.agentToken })).status).toBe(204)
    await testEngine.wait(minuteMs)
    expect(await testEngine.reasonOf(run)).toBe(organizationReason())
  })

  test.each<{ behind: string; block: (testEngine: Awaited<ReturnType<typeof waitingEngine>>) => Promise<string> }>([
    {
      behind: "a lock",
      async block(testEngine) {
        const run = await testEngine.queue()
        await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`)
        return run
      },
    },
    {
      behind: "an earlier run",
      async block(testEngine) {
        await testEngine.queue()
        testEngine.clock.advance(1)
        return testEngine.queue()
      },
    },
    {
      behind: "an upload",
      async block(testEngine) {
        const path = `/workspaces/${testEngine.id}/configuration-versions`
        await made(testEngine, "POST", path, document("configuration-versions", { "auto-queue-runs": false }))
        return testEngine.queue()
      },
    },
    {
      behind: "a confirmation",
      async block(testEngine) {
        const run = await testEngine.queue()
        const claim = (await testEngine.ask()).body.data.id as string
        await testEngine.report(claim, "planning")
        await testEngine.report(claim, "planned")
        await testEngine.request("DELETE", `/run-claims/${claim}`)
        return run
      },
    },
  ])("contains no reason when it waits behind $behind", async ({ block }) => {
    await using testEngine = await waitingEngine()
    const run = await block(testEngine)
    await testEngine.wait(60 * minuteMs)
    expect([await testEngine.reasonOf(run), await testEngine.noticesOf(run)]).toEqual([null, []])
  })

  test("explains the wait for the apply in the log of the apply", async () => {
    await using testEngine = await waitingEngine()
    const run = await testEngine.queue()
    const claim = (await testEngine.ask()).body.data.id as string
    await testEngine.report(claim, "planning")
    await testEngine.report(claim, "planned")
    await testEngine.request("DELETE", `/run-claims/${claim}`)
    testEngine.clock.advance(60 * minuteMs)
    await testEngine.request("POST", `/runs/${run}/actions/apply`)
    await testEngine.wait(4 * minuteMs)
    expect(await testEngine.reasonOf(run)).toBeNull()
    await testEngine.wait(minuteMs)
    expect(await testEngine.reasonOf(run)).toBe(organizationReason())
    expect(await testEngine.logOf(run, "apply")).toBe(`\u0002${organizationReason()}\n`)
    expect(await testEngine.logOf(run)).toBe("\u0002\u0003")
  })

  test("loses its reason when it is claimed, and gets another one when it waits again", async () => {
    await using testEngine = await waitingEngine()
    const run = await testEngine.queue()
    await testEngine.wait(5 * minuteMs)
    // After the second claim the status of the run does not change.
    for (const [claims, becomes] of [
      [1, "plan_queued"],
      [2, "plan_queued"],
    ] as const) {
      const claimedAt = testEngine.clock.now()
      expect((await testEngine.ask()).status).toBe(201)
      expect([await testEngine.statusOf(run), await testEngine.reasonOf(run)]).toEqual([becomes, null])
      await testEngine.wait(minuteMs)
      expect(await testEngine.reasonOf(run)).toBeNull()
      await testEngine.wait(4 * minuteMs)
      expect(await testEngine.reasonOf(run)).toBe(organizationReason(claimedAt))
      expect(await testEngine.noticesOf(run)).toHaveLength(claims + 1)
    }
    expect((await testEngine.logOf(run)).split("\n")).toHaveLength(4)
  })

  test("loses its reason without another record when executors search again but do not take it", async () => {
    await using testEngine = await waitingEngine()
    const run = await testEngine.queue()
    const token = await testEngine.token({ on: { [testEngine.id]: "read" } })
    await testEngine.wait(5 * minuteMs)
    for (let times = 1; times <= 3; times += 1) {
      const lastSeenAt = testEngine.clock.now()
      expect((await testEngine.ask("/organizations/acme", { token })).status).toBe(204)
      await testEngine.wait(15 * secondMs)
      expect(await testEngine.reasonOf(run)).toBeNull()
      await testEngine.wait(5 * minuteMs)
      expect(await testEngine.reasonOf(run)).toBe(organizationReason(lastSeenAt))
    }
    expect(await testEngine.noticesOf(run)).toEqual([organizationReason()])
  })

  test("loses its reason when it is canceled, or its workspace executes locally", async () => {
    await using testEngine = await waitingEngine()
    const [canceled, local] = [await testEngine.queue(), await testEngine.workspace("second")]
    const other = await testEngine.queue(local)
    await testEngine.wait(5 * minuteMs)
    await testEngine.request("POST", `/runs/${canceled}/actions/cancel`)
    const body = document("workspaces", { "execution-mode": "local" })
    await testEngine.request("PATCH", `/workspaces/${local}`, { body })
    await testEngine.wait(15 * secondMs)
    expect([await testEngine.reasonOf(canceled), await testEngine.reasonOf(other)]).toEqual([null, null])
  })

  test("contains the reason once when two replicas check at the same time", async () => {
    await using testEngine = await waitingEngine()
    const run = await testEngine.queue()
    testEngine.clock.advance(5 * minuteMs)
    await testEngine.bothReplicas()
    expect(await testEngine.noticesOf(run)).toEqual([organizationReason()])
    expect(await testEngine.logOf(run)).toBe(`\u0002${organizationReason()}\n`)
  })

  test("contains the reason when a server whose clock was ahead recorded the executor", async () => {
    await using testEngine = await waitingEngine()
    testEngine.clock.advance(24 * 60 * minuteMs)
    await announceExecutor(testEngine.engine, { kind: "organization", name: "acme" })
    testEngine.clock.set(start)
    const run = await testEngine.queue()
    await testEngine.wait(5 * minuteMs)
    expect(await testEngine.reasonOf(run)).toBe(organizationReason(start + 24 * 60 * minuteMs))
  })
})

test("the check for silent executors is one query when no run waits in vain", async () => {
  await using testEngine = await waitingEngine()
  expect(await testEngine.countedJob()).toEqual({ reads: 1, transactions: 0 })
  const run = await testEngine.queue()
  await testEngine.wait(5 * minuteMs)
  // The run contains the reason already.
  expect(await testEngine.countedJob()).toEqual({ reads: 1, transactions: 0 })
  expect(await testEngine.noticesOf(run)).toHaveLength(1)
})

test("the job of the claims reports silent executors when the server runs it", async () => {
  await using place = await defaultSharedKind.place()
  const clock = manualClock(start)
  const runtime = { ...systemRuntime(), clock }
  const url = place.url
  const key = { text: newKeyText(runtime.random) }
  await using idle = await populatedEngine({ url, runtime, sealKeys: key, jobs: false })
  const workspace = await idle.workspace("web")
  const { id } = await made(idle, "POST", "/runs", document("runs", {}, { workspace: one("workspaces", workspace) }))
  clock.advance(5 * minuteMs)
  await using _first = await openTestEngine({ url, runtime, sealKeys: key })
  await using _second = await openTestEngine({ url, runtime, sealKeys: key })
  await expect
    .poll(async () => (await idle.engine.runs.get(id)).waitingReason, { timeout: 20_000 })
    .toBe(organizationReason())
  expect((await idle.engine.runs.events(id)).map(({ action }) => action)).toEqual(["queued", "executor_missing"])
})
