// Runs from the view of executors: claims, reports, and the end of claims whose executors stop sending heartbeats.
import { describe, expect, test } from "vitest"
import { systemRuntime } from "../../core/runtime.ts"
import { secondMs } from "../../core/time.ts"
import { openDatabase } from "../../storage/sql/database.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../storage/sealing/key-sealing.ts"
import { repositoriesOver } from "../../storage/repositories/repositories.ts"
import { defaultSharedKind } from "../../../testing/temporary-database.ts"
import { manualClock } from "../../../testing/manual-clock.ts"
import { document, made, one } from "../../../testing/users.ts"
import { populatedEngine } from "../../../testing/populated-engine.ts"
import { stateFile, stateVersionDocument } from "../../../testing/state-file.ts"
import { tarball } from "../../../testing/tar-archive.ts"
import { openTestEngine, type Answer, type RequestOptions, type TestEngine } from "../../../testing/test-engine.ts"
import { endRunClaims } from "../../workspaces/runs/expire-run-claims.ts"

const start = Date.UTC(2026, 0, 1)

async function claimEngine() {
  const clock = manualClock(start)
  const runtime = { ...systemRuntime(), clock }
  const keyText = newKeyText(runtime.random)
  const place = await defaultSharedKind.place()
  const testEngine = await populatedEngine({ url: place.url, runtime, sealKeys: { text: keyText }, jobs: false })
  const id = await testEngine.workspace("web")
  const claim = (path: string, attributes: object = {}, options: RequestOptions = {}): Promise<Answer> =>
    testEngine.request("POST", `${path}/run-claims`, { body: document("run-claims", attributes), ...options })
  return Object.assign(testEngine, {
    id,
    clock,
    claim,
    /** Runs the job that ends expired claims once. */
    async endClaims(): Promise<void> {
      await using database = await openDatabase(place.url)
      const storage = repositoriesOver(database, keySealer(parseKeyRing(keyText), runtime.random), runtime.clock)
      await endRunClaims({ storage, runtime }, { signal: AbortSignal.timeout(10_000) })
    },
    async [Symbol.asyncDispose]() {
      await testEngine.engine[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
    async queue(attributes: object = {}, on = id): Promise<string> {
      clock.advance(1)
      const body = document("runs", attributes, { workspace: one("workspaces", on) })
      return (await made(testEngine, "POST", "/runs", body)).id
    },
    /** Claims a run, and returns the ids of the claim and the run. */
    async claimed(path = "/organizations/acme", attributes: object = {}, options: RequestOptions = {}) {
      const { status, body } = await claim(path, attributes, options)
      expect([status, body?.errors]).toEqual([201, undefined])
      return { claim: body.data.id as string, run: body.data.relationships.run.data.id as string, body }
    },
    report: (claimId: string, attributes: object, options: RequestOptions = {}) =>
      testEngine.request("POST", `/run-claims/${claimId}/actions/report`, {
        body: document("runs", attributes),
        ...options,
      }),
    heartbeat: (claimId: string, options: RequestOptions = {}) =>
      testEngine.request("POST", `/run-claims/${claimId}/actions/heartbeat`, options),
    log: (claimId: string, stage: string, offset: number | string, text: string) =>
      testEngine.request("POST", `/run-claims/${claimId}/logs/${stage}?offset=${offset}`, { body: Buffer.from(text) }),
    statusOf: async (run: string) => (await testEngine.request("GET", `/runs/${run}`)).body.data.attributes.status,
    locked: async () => (await testEngine.request("GET", `/workspaces/${id}`)).body.data.attributes.locked,
  })
}

const detailOf = ({ status, body }: Answer) => [status, body?.errors?.[0]?.detail]
const runIn = (answer: Answer) => answer.body.included[0]

async function newAgent(
  testEngine: TestEngine,
  name: string,
): Promise<{ readonly pool: string; readonly token: string }> {
  const pool = await made(testEngine, "POST", "/organizations/acme/agent-pools", document("agent-pools", { name }))
  const path = `/agent-pools/${pool.id}/authentication-tokens`
  const token = await made(testEngine, "POST", path, document("authentication-tokens", { description: name }))
  return { pool: pool.id, token: token.attributes.token }
}

describe("an executor", () => {
  test("claims the run that has waited longest, with all its data", async () => {
    await using testEngine = await claimEngine()
    const other = await testEngine.workspace("other")
    const first = await testEngine.queue({ variables: [{ key: "region", value: '"eu"' }] })
    const second = await testEngine.queue({}, other)
    const { run, body } = await testEngine.claimed("/organizations/acme", { name: "worker-1", "lease-seconds": 30 })
    expect(run).toBe(first)
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^claim-\w{16}$/),
      type: "run-claims",
      attributes: { name: "worker-1", "expires-at": new Date(testEngine.clock.now() + 30 * secondMs).toISOString() },
      relationships: { workspace: { data: { id: testEngine.id } } },
    })
    expect(body.included[0]).toMatchObject({
      id: first,
      attributes: {
        status: "plan_queued",
        variables: [{ key: "region", value: '"eu"' }],
        executor: { name: "worker-1" },
      },
    })
    expect(await testEngine.locked()).toBe(true)
    expect((await testEngine.claimed()).run).toBe(second)
    expect((await testEngine.claim("/organizations/acme")).status).toBe(204)
  })

  test("executes a run to its end, and receives decisions in the meantime", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const { claim } = await testEngine.claimed()
    expect((await testEngine.report(claim, { status: "planning" })).status).toBe(200)
    const planned = await testEngine.report(claim, { status: "planned", "resource-additions": 3 })
    expect(runIn(planned).attributes).toMatchObject({ status: "planned", "has-changes": true })
    expect(runIn(await testEngine.heartbeat(claim)).attributes.status).toBe("planned")
    await testEngine.request("POST", `/runs/${run}/actions/apply`)
    expect(runIn(await testEngine.heartbeat(claim)).attributes.status).toBe("confirmed")
    await testEngine.report(claim, { status: "applying" })
    const applied = await testEngine.report(claim, { status: "applied", "resource-additions": 3 })
    expect(runIn(applied).attributes).toMatchObject({ status: "applied", executor: null })
    expect(await testEngine.locked()).toBe(false)
  })

  test("may repeat the last step after a lost response, but no other step", async () => {
    await using testEngine = await claimEngine()
    await testEngine.queue({ "auto-apply": true })
    const { claim } = await testEngine.claimed()
    await testEngine.report(claim, { status: "planning" })
    testEngine.clock.advance(1)
    for (let again = 0; again < 2; again += 1)
      expect(runIn(await testEngine.report(claim, { status: "planned" })).attributes.status).toBe("confirmed")
    testEngine.clock.advance(1)
    expect(detailOf(await testEngine.report(claim, { status: "planning" }))).toEqual([
      409,
      "The run is confirmed and cannot become planning.",
    ])
    await testEngine.report(claim, { status: "applying" })
    testEngine.clock.advance(1)
    for (let again = 0; again < 2; again += 1)
      expect((await testEngine.report(claim, { status: "applied" })).status).toBe(200)
    expect((await testEngine.report(claim, { status: "errored" })).status).toBe(409)
  })

  test("waits while the workspace is locked, and behind earlier runs", async () => {
    await using testEngine = await claimEngine()
    const [first, second] = [await testEngine.queue(), await testEngine.queue()]
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/lock`)
    const speculative = await testEngine.queue({ "plan-only": true })
    expect((await testEngine.claimed()).run).toBe(speculative)
    expect((await testEngine.claim("/organizations/acme")).status).toBe(204)
    await testEngine.request("POST", `/workspaces/${testEngine.id}/actions/unlock`)
    const { claim, run } = await testEngine.claimed()
    expect(run).toBe(first)
    expect((await testEngine.claim("/organizations/acme")).status).toBe(204)
    await testEngine.report(claim, { status: "errored" })
    expect((await testEngine.claimed()).run).toBe(second)
  })

  test("waits until the configuration of a run is uploaded", async () => {
    await using testEngine = await claimEngine()
    const path = `/workspaces/${testEngine.id}/configuration-versions`
    const { id } = await made(
      testEngine,
      "POST",
      path,
      document("configuration-versions", { "auto-queue-runs": false }),
    )
    const related = {
      workspace: one("workspaces", testEngine.id),
      "configuration-version": one("configuration-versions", id),
    }
    await made(testEngine, "POST", "/runs", document("runs", {}, related))
    expect((await testEngine.claim("/organizations/acme")).status).toBe(204)
  })

  test("receives a run at once when it is queued during the wait", async () => {
    await using testEngine = await claimEngine()
    const waiting = testEngine.claimed("/organizations/acme", { "wait-seconds": 30 })
    const run = await testEngine.queue()
    expect((await waiting).run).toBe(run)
  })

  test("releases a confirmed run to another executor", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const planner = await testEngine.claimed()
    await testEngine.report(planner.claim, { status: "planning" })
    const plan = Buffer.from([0, 1, 2, 255])
    const documents = `/run-claims/${planner.claim}/documents`
    expect((await testEngine.request("PUT", `${documents}/plan-file`, { body: plan })).status).toBe(204)
    await testEngine.report(planner.claim, { status: "planned" })
    expect((await testEngine.request("DELETE", `/run-claims/${planner.claim}`)).status).toBe(204)
    expect((await testEngine.heartbeat(planner.claim)).status).toBe(404)
    expect((await testEngine.claim("/organizations/acme")).status).toBe(204)
    await testEngine.request("POST", `/runs/${run}/actions/apply`)
    const applier = await testEngine.claimed()
    expect([applier.run, applier.body.included[0].attributes.status]).toEqual([run, "apply_queued"])
    const read = await testEngine.request("GET", `/run-claims/${applier.claim}/documents/plan-file`)
    expect(Buffer.from(read.bytes)).toEqual(plan)
    expect((await testEngine.request("GET", `/run-claims/${applier.claim}/documents/json-output`)).status).toBe(404)
    const late = await testEngine.request("PUT", `/run-claims/${applier.claim}/documents/plan-file`, { body: plan })
    expect(detailOf(late)).toEqual([409, "The plan has ended; its log is closed."])
  })

  test.each([{ reports: "planned" }, { reports: "planned_and_saved" }])(
    "[F-W3] loses its claim when its plan is saved ($reports), and any executor may apply the plan",
    async ({ reports }) => {
      await using testEngine = await claimEngine()
      const run = await testEngine.queue({ "save-plan": true })
      const planner = await testEngine.claimed()
      await testEngine.report(planner.claim, { status: "planning" })
      const saved = await testEngine.report(planner.claim, { status: reports, "resource-additions": 1 })
      expect([saved.status, runIn(saved).attributes.status]).toEqual([200, "planned_and_saved"])
      expect((await testEngine.request("GET", `/runs/${run}`)).body.data.attributes.executor).toBeNull()
      expect((await testEngine.heartbeat(planner.claim)).status).toBe(404)
      expect((await testEngine.request("GET", `/run-claims/${planner.claim}/variables`)).status).toBe(404)
      expect((await testEngine.claim("/organizations/acme")).status).toBe(204)
      expect((await testEngine.request("POST", `/runs/${run}/actions/apply`)).status).toBe(202)
      const applier = await testEngine.claimed()
      expect([applier.run, applier.body.included[0].attributes.status]).toEqual([run, "apply_queued"])
      await testEngine.report(applier.claim, { status: "applying" })
      expect(runIn(await testEngine.report(applier.claim, { status: "applied" })).attributes.status).toBe("applied")
    },
  )

  test("uploads its plan as JSON, which workspace administrators read after the plan has ended", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const { claim } = await testEngine.claimed()
    const { plan } = (await testEngine.request("GET", `/runs/${run}`)).body.data.relationships
    const addresses = [`/plans/${plan.data.id}/json-output`, `/runs/${run}/plan/json-output`]
    const read = async (token: string) => {
      const answers = await Promise.all(addresses.map((path) => testEngine.request("GET", path, { token })))
      expect(new Set(answers.map(({ status }) => status)).size).toBe(1)
      return { status: answers[0]?.status, body: answers[0]?.body }
    }
    const rendered = { format_version: "1.2", resource_changes: [] }
    await testEngine.report(claim, { status: "planning" })
    const path = `/run-claims/${claim}/documents/json-output`
    await testEngine.request("PUT", path, { body: Buffer.from(JSON.stringify(rendered)) })
    expect(await read(testEngine.rootToken)).toEqual({ status: 204, body: undefined })
    await testEngine.report(claim, { status: "planned" })
    expect(await read(testEngine.rootToken)).toEqual({ status: 200, body: rendered })
    const organizationToken = (await testEngine.engine.tokens.createForOrganization("acme", {})).secret
    const statusFor = async (level: "read" | "plan" | "write" | "admin") =>
      (await read(await testEngine.token({ on: { [testEngine.id]: level } }))).status
    expect(await statusFor("admin")).toBe(200)
    for (const level of ["read", "plan", "write"] as const) expect(await statusFor(level)).toBe(404)
    expect((await read(organizationToken)).status).toBe(404)
    // A run has no JSON plan if its plan failed or the executor did not upload one.
    await testEngine.request("POST", `/runs/${run}/actions/discard`)
    const bare = await testEngine.queue()
    const again = await testEngine.claimed()
    await testEngine.report(again.claim, { status: "planning" })
    await testEngine.report(again.claim, { status: "errored" })
    expect((await testEngine.request("GET", `/runs/${bare}/plan/json-output`)).status).toBe(404)
  })

  test("[F-W3] uploads its redacted plan, which callers that may read the run read after the plan has ended", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const { claim } = await testEngine.claimed()
    const { plan } = (await testEngine.request("GET", `/runs/${run}`)).body.data.relationships
    const read = async (token: string) => {
      const { status, body } = await testEngine.request("GET", `/plans/${plan.data.id}/json-output-redacted`, { token })
      return { status, body: status === 200 ? body : undefined }
    }
    const redacted = { plan_format_version: "1.2", resource_changes: [], provider_schemas: {} }
    await testEngine.report(claim, { status: "planning" })
    const upload = (body: string) =>
      testEngine.request("PUT", `/run-claims/${claim}/documents/json-output-redacted`, { body: Buffer.from(body) })
    expect(detailOf(await upload("{"))).toEqual([422, "json-output-redacted is not valid JSON"])
    expect((await upload(JSON.stringify(redacted))).status).toBe(204)
    expect(await read(testEngine.rootToken)).toEqual({ status: 204, body: undefined })
    await testEngine.report(claim, { status: "planned" })
    const tokens = [
      testEngine.rootToken,
      await testEngine.token({ on: { [testEngine.id]: "read" } }),
      (await testEngine.engine.tokens.createForOrganization("acme", {})).secret,
    ]
    for (const token of tokens) expect(await read(token)).toEqual({ status: 200, body: redacted })
    expect((await read(await testEngine.token())).status).toBe(404)
    // The whole plan is another document, which the executor did not upload.
    expect((await testEngine.request("GET", `/plans/${plan.data.id}/json-output`)).status).toBe(404)
    await testEngine.request("POST", `/runs/${run}/actions/discard`)
    await testEngine.queue()
    const again = await testEngine.claimed()
    await testEngine.report(again.claim, { status: "planning" })
    await testEngine.report(again.claim, { status: "errored" })
    const other = again.body.included[0].relationships.plan.data.id
    expect((await testEngine.request("GET", `/plans/${other}/json-output-redacted`)).status).toBe(404)
  })

  test("cannot release a run whose stage has started", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const { claim } = await testEngine.claimed()
    await testEngine.report(claim, { status: "planning" })
    expect(detailOf(await testEngine.request("DELETE", `/run-claims/${claim}`))).toEqual([
      409,
      "The run is planning and cannot be released; report its result.",
    ])
    expect(await testEngine.statusOf(run)).toBe("planning")
  })

  test("reads the values of variables, which users cannot, while its run continues", async () => {
    await using testEngine = await claimEngine()
    const variable = { key: "password", value: "s3cret", category: "terraform", sensitive: true }
    await made(testEngine, "POST", `/workspaces/${testEngine.id}/vars`, document("vars", variable))
    await testEngine.queue()
    const { claim } = await testEngine.claimed()
    const { body } = await testEngine.request("GET", `/run-claims/${claim}/variables`)
    const { attributes } = body.data.find(({ id }: { readonly id: string }) => id === "terraform/password")
    expect(attributes).toEqual({ ...variable, hcl: false })
    // As HCP Terraform, with the names of the run.
    expect(body.data.map(({ id }: { readonly id: string }) => id)).toContain("env/TFC_RUN_ID")
    await testEngine.report(claim, { status: "errored" })
    expect((await testEngine.request("GET", `/run-claims/${claim}/variables`)).status).toBe(409)
  })

  test("reads the SSH key of the workspace, which users cannot, while its run continues", async () => {
    await using testEngine = await claimEngine()
    const none = await testEngine.queue()
    const first = await testEngine.claimed()
    expect(first.run).toBe(none)
    expect(first.body.data.attributes["has-ssh-key"]).toBe(false)
    expect((await testEngine.request("GET", `/run-claims/${first.claim}/ssh-key`)).status).toBe(404)
    await testEngine.report(first.claim, { status: "errored" })
    const key = await testEngine.engine.sshKeys.create("acme", { name: "git", value: "-----BEGIN A KEY-----" })
    await testEngine.engine.workspaces.assignSshKey({ id: testEngine.id }, key.id)
    await testEngine.queue()
    const { claim, body } = await testEngine.claimed()
    expect(body.data.attributes["has-ssh-key"]).toBe(true)
    const answer = await testEngine.request("GET", `/run-claims/${claim}/ssh-key`)
    expect([answer.status, answer.body.data.attributes]).toEqual([200, { value: "-----BEGIN A KEY-----" }])
    expect(answer.headers.get("cache-control")).toBe("no-store")
    await testEngine.report(claim, { status: "errored" })
    expect((await testEngine.request("GET", `/run-claims/${claim}/ssh-key`)).status).toBe(409)
  })

  test("is the only one that can report on its run", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const { claim } = await testEngine.claimed("/organizations/acme", { name: "worker-1" })
    const token = await testEngine.token({ on: { [testEngine.id]: "admin" } })
    expect((await testEngine.heartbeat(claim, { token })).status).toBe(404)
    expect((await testEngine.report(claim, { status: "planning" }, { token })).status).toBe(404)
    const body = document("runs", { status: "planning" })
    expect(detailOf(await testEngine.request("POST", `/runs/${run}/actions/transition`, { body }))).toEqual([
      409,
      'The run is claimed by the executor "worker-1"; only that executor can report on it.',
    ])
    expect((await testEngine.request("POST", `/runs/${run}/actions/cancel`)).status).toBe(202)
    expect(runIn(await testEngine.heartbeat(claim)).attributes.status).toBe("canceled")
    expect((await testEngine.report(claim, { status: "planning" })).status).toBe(409)
  })

  test("is rejected with all faults of its claim", async () => {
    await using testEngine = await claimEngine()
    const answer = await testEngine.claim("/organizations/acme", { name: "", "lease-seconds": 5, "wait-seconds": 31 })
    expect([
      answer.status,
      ...answer.body.errors.map(({ source }: { readonly source: { pointer: string } }) => source.pointer),
    ]).toEqual([422, "/data/attributes/name", "/data/attributes/lease-seconds", "/data/attributes/wait-seconds"])
  })
})

describe("claiming runs", () => {
  test.each<{ access: "read" | "plan" | "write"; statuses: readonly number[] }>([
    { access: "read", statuses: [204, 404] },
    { access: "plan", statuses: [201, 204] },
    { access: "write", statuses: [201, 201] },
  ])("with the access $access, of the organization and of the workspace: $statuses", async ({ access, statuses }) => {
    await using testEngine = await claimEngine()
    const token = await testEngine.token({ on: { [testEngine.id]: access } })
    await testEngine.queue()
    await testEngine.queue({ "plan-only": true })
    const answers = [
      await testEngine.claim("/organizations/acme", {}, { token }),
      await testEngine.claim(`/workspaces/${testEngine.id}`, {}, { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(statuses)
  })

  test("is not possible with an organization token", async () => {
    await using testEngine = await claimEngine()
    await testEngine.queue()
    const path = "/organizations/acme/authentication-token"
    const { token } = (await made(testEngine, "POST", path, document("authentication-token", {}))).attributes
    expect((await testEngine.claim("/organizations/acme", {}, { token })).status).toBe(404)
  })

  test("with an agent token returns runs of its pool, and the agent sees nothing else", async () => {
    await using testEngine = await claimEngine()
    const [edge, core] = [await newAgent(testEngine, "edge"), await newAgent(testEngine, "core")]
    const inPool = await testEngine.workspace("inside", { executionMode: "agent", agentPoolId: edge.pool })
    const run = await testEngine.queue({}, inPool)
    const poolPath = `/agent-pools/${edge.pool}`
    expect((await testEngine.claim(poolPath, {}, { token: core.token })).status).toBe(404)
    expect((await testEngine.claim(`/agent-pools/${core.pool}`, {}, { token: core.token })).status).toBe(204)
    expect((await testEngine.claim(`/workspaces/${inPool}`, {}, { token: core.token })).status).toBe(404)
    const member = await testEngine.token({ on: { [inPool]: "write" } })
    expect((await testEngine.claim(poolPath, {}, { token: member })).status).toBe(404)
    expect((await testEngine.claim(`/workspaces/${inPool}`)).status).toBe(409)
    expect((await testEngine.claim("/organizations/acme", {}, { token: edge.token })).status).toBe(404)
    // The workspace has no run that waits.
    expect((await testEngine.claim(`/workspaces/${testEngine.id}`, {}, { token: edge.token })).status).toBe(204)
    const { claim, run: got } = await testEngine.claimed(poolPath, {}, { token: edge.token })
    expect(got).toBe(run)
    expect((await testEngine.heartbeat(claim, { token: core.token })).status).toBe(404)
    expect((await testEngine.report(claim, { status: "planning" }, { token: edge.token })).status).toBe(200)
    for (const path of [`/runs/${run}`, `/workspaces/${inPool}`, "/organizations/acme", poolPath, "/account/details"])
      expect([path, (await testEngine.request("GET", path, { token: edge.token })).status]).toEqual([path, 404])
    expect((await testEngine.request("GET", "/organizations", { token: edge.token })).body.data).toEqual([])
    await testEngine.engine.mounts.create({ path: "pki" })
    expect((await testEngine.pki("GET", "/pki/roles/any", { token: edge.token })).status).toBe(403)
    // A workspace that leaves the pool ends the claim of its run.
    await testEngine.request("PATCH", `/workspaces/${inPool}`, {
      body: document("workspaces", { "execution-mode": "agent", "agent-pool-id": core.pool }),
    })
    expect((await testEngine.heartbeat(claim, { token: edge.token })).status).toBe(404)
  })

  test("[F-W1] with an agent token returns runs of the execution mode remote if the pool admits their workspace", async () => {
    await using testEngine = await claimEngine()
    const [edge, core] = [await newAgent(testEngine, "edge"), await newAgent(testEngine, "core")]
    const scope = { organizationScoped: false, allowedWorkspaceIds: [await testEngine.workspace("elsewhere")] }
    await testEngine.engine.agentPools.update(core.pool, scope)
    const run = await testEngine.queue()
    expect((await testEngine.claim("", {}, { token: core.token })).status).toBe(204)
    expect((await testEngine.claim(`/workspaces/${testEngine.id}`, {}, { token: core.token })).status).toBe(404)
    const { claim, run: got } = await testEngine.claimed("", {}, { token: edge.token })
    expect(got).toBe(run)
    expect((await testEngine.report(claim, { status: "planning" }, { token: edge.token })).status).toBe(200)
    // Only agents have a pool of their own.
    expect((await testEngine.claim("")).status).toBe(404)
  })

  test("[F-W7] with an agent token skips workspaces outside the scope of the pool, and an agent loses the claim when the scope changes", async () => {
    await using testEngine = await claimEngine()
    const edge = await newAgent(testEngine, "edge")
    const execution = { executionMode: "agent", agentPoolId: edge.pool } as const
    const [inside, outside] = [
      await testEngine.workspace("in", execution),
      await testEngine.workspace("out", execution),
    ]
    const path = `/agent-pools/${edge.pool}`
    const allow = (lists: Readonly<Record<string, readonly string[]>>) =>
      testEngine.request("PATCH", path, {
        body: {
          data: {
            type: "agent-pools",
            relationships: Object.fromEntries(
              Object.entries(lists).map(([name, ids]) => [
                name,
                { data: ids.map((id) => ({ type: "workspaces", id })) },
              ]),
            ),
          },
        },
      })
    await testEngine.queue({}, outside)
    expect((await allow({ "allowed-workspaces": [inside] })).status).toBe(200)
    expect((await testEngine.claim(path, {}, { token: edge.token })).status).toBe(204)
    expect((await testEngine.claim(path)).status).toBe(204)
    expect((await testEngine.claim(`/workspaces/${outside}`, {}, { token: edge.token })).status).toBe(404)
    const run = await testEngine.queue({}, inside)
    const { claim, run: got } = await testEngine.claimed(path, {}, { token: edge.token })
    expect(got).toBe(run)
    expect((await testEngine.heartbeat(claim, { token: edge.token })).status).toBe(200)
    await allow({ "excluded-workspaces": [inside] })
    expect((await testEngine.heartbeat(claim, { token: edge.token })).status).toBe(404)
  })

  test("with an agent token fails after the token is revoked or the pool is deleted", async () => {
    await using testEngine = await claimEngine()
    const { pool, token } = await newAgent(testEngine, "edge")
    const tokens = (await testEngine.request("GET", `/agent-pools/${pool}/authentication-tokens`)).body.data
    expect(tokens).toMatchObject([
      { attributes: { description: "edge", token: null }, relationships: { "agent-pool": { data: { id: pool } } } },
    ])
    const path = `/agent-pools/${pool}/authentication-tokens`
    const second = await made(testEngine, "POST", path, document("agent-tokens", { description: "second" }))
    const claim = (of: string) => testEngine.claim(`/agent-pools/${pool}`, {}, { token: of })
    expect((await claim(token)).status).toBe(204)
    await testEngine.request("DELETE", `/authentication-tokens/${tokens[0].id}`)
    expect((await claim(token)).status).toBe(401)
    expect((await claim(second.attributes.token)).status).toBe(204)
    await testEngine.request("DELETE", `/agent-pools/${pool}`)
    expect((await claim(second.attributes.token)).status).toBe(401)
  })
})

describe("a token of a claim", () => {
  /** Claims two runs of one pool, and returns a token of the first claim. */
  async function delegated() {
    const testEngine = await claimEngine()
    const agent = await newAgent(testEngine, "edge")
    await testEngine.queue()
    await testEngine.queue({}, await testEngine.workspace("other"))
    const { claim, run } = await testEngine.claimed("", {}, { token: agent.token })
    const other = await testEngine.claimed("", {}, { token: agent.token })
    const path = `/run-claims/${claim}/authentication-token`
    const created = await testEngine.request("POST", path, { token: agent.token })
    const token = created.body.data.attributes.token as string
    const status = async (method: string, address: string, of = token) =>
      (await testEngine.request(method, address, { token: of })).status
    return { testEngine, agent, claim, run, other, created, token, path, status }
  }

  test("continues the claim until its end", async () => {
    const { testEngine, claim, created, token, status } = await delegated()
    await using _engine = testEngine
    expect(created).toMatchObject({
      status: 201,
      body: {
        data: {
          type: "run-claim-tokens",
          attributes: { "expired-at": new Date(testEngine.clock.now() + 7 * 24 * 60 * 60 * secondMs).toISOString() },
        },
      },
    })
    expect((await testEngine.heartbeat(claim, { token })).status).toBe(200)
    expect(await status("GET", `/run-claims/${claim}/variables`)).toBe(200)
    expect((await testEngine.report(claim, { status: "planning" }, { token })).status).toBe(200)
    expect((await testEngine.report(claim, { status: "errored" }, { token })).status).toBe(200)
    expect(await status("GET", `/run-claims/${claim}/variables`)).toBe(409)
  })

  test("does nothing else", async () => {
    const { testEngine, agent, claim, run, other, path, status } = await delegated()
    await using _engine = testEngine
    expect(await status("GET", `/run-claims/${claim}`)).toBe(200)
    for (const [method, address] of [
      ["GET", `/run-claims/${other.claim}`],
      ["POST", `/run-claims/${other.claim}/actions/heartbeat`],
      ["GET", `/run-claims/${other.claim}/variables`],
      ["POST", "/run-claims"],
      ["POST", `/agent-pools/${agent.pool}/run-claims`],
      ["POST", `/workspaces/${testEngine.id}/run-claims`],
      ["POST", path],
      ["GET", `/runs/${run}`],
      ["GET", `/workspaces/${testEngine.id}`],
      ["GET", "/account/details"],
    ] as const)
      expect([method, address, await status(method, address)]).toEqual([method, address, 404])
  })

  test("does not reach the token of its agent", async () => {
    const { testEngine, agent, token, claim } = await delegated()
    await using _engine = testEngine
    for (const action of ["revoke-self", "renew-self", "revoke-orphan"])
      await testEngine.pki("POST", `/auth/token/${action}`, { token })
    expect((await testEngine.heartbeat(claim, { token: agent.token })).status).toBe(200)
  })

  test.each<{ when: string; ends: (stage: Awaited<ReturnType<typeof delegated>>) => Promise<unknown> }>([
    {
      when: "the agent's token is revoked",
      async ends({ testEngine, agent }) {
        const [{ id }] = (await testEngine.request("GET", `/agent-pools/${agent.pool}/authentication-tokens`)).body.data
        return testEngine.request("DELETE", `/authentication-tokens/${id}`)
      },
    },
    {
      when: "the pool is deleted",
      ends: ({ testEngine, agent }) => testEngine.request("DELETE", `/agent-pools/${agent.pool}`),
    },
    { when: "it has expired", ends: async ({ testEngine }) => testEngine.clock.advance(7 * 24 * 60 * 60 * secondMs) },
  ])("is refused when $when", async ({ ends }) => {
    const stage = await delegated()
    await using testEngine = stage.testEngine
    expect((await testEngine.heartbeat(stage.claim, { token: stage.token })).status).toBe(200)
    await ends(stage)
    expect((await testEngine.heartbeat(stage.claim, { token: stage.token })).status).toBe(401)
  })

  test("is refused when it is changed", async () => {
    const { testEngine, claim, other, token } = await delegated()
    await using _engine = testEngine
    const another = token.at(-2) === "A" ? "B" : "A"
    for (const changed of [
      token.replace(claim, other.claim),
      `${token.slice(0, -2)}${another}${token.at(-1)}`,
      `${token}A`,
    ])
      expect((await testEngine.heartbeat(claim, { token: changed })).status).toBe(401)
  })

  test("is not created for a claim of another pool or a user, or for a claim that has ended", async () => {
    const { testEngine, agent, claim, path, status } = await delegated()
    await using _engine = testEngine
    const stranger = await newAgent(testEngine, "core")
    expect(await status("POST", path, stranger.token)).toBe(404)
    await testEngine.queue({}, await testEngine.workspace("third"))
    const own = await testEngine.claimed()
    expect(await status("POST", `/run-claims/${own.claim}/authentication-token`, testEngine.rootToken)).toBe(404)
    await testEngine.report(claim, { status: "errored" }, { token: agent.token })
    expect(await status("POST", path, agent.token)).toBe(409)
  })
})

describe("the state and the configuration of a run are returned only to its executor", () => {
  const configuration = tarball({ "main.tf": "# nothing" })
  const before = stateFile({ serial: 1 })
  const after = stateFile({ serial: 2, outputs: { done: { value: true, type: "bool" } } })

  /** Creates an agent of a pool that has claimed a run of a workspace with a state and a configuration. */
  async function workingAgent() {
    const testEngine = await claimEngine()
    const [edge, core] = [await newAgent(testEngine, "edge"), await newAgent(testEngine, "core")]
    const input = { executionMode: "agent", agentPoolId: edge.pool, workingDirectory: "stacks/web" } as const
    const workspace = await testEngine.workspace("inside", input)
    const path = `/workspaces/${workspace}`
    await testEngine.request("POST", `${path}/actions/lock`)
    const current = await made(
      testEngine,
      "POST",
      `${path}/state-versions`,
      stateVersionDocument(before, { inline: true }),
    )
    await testEngine.request("POST", `${path}/actions/unlock`)
    const uploaded = document("configuration-versions", { "auto-queue-runs": false })
    const version = await made(testEngine, "POST", `${path}/configuration-versions`, uploaded)
    await made(testEngine, "PUT", `/configuration-versions/${version.id}/upload`, configuration)
    const run = await testEngine.queue({ "auto-apply": true }, workspace)
    const { claim, body } = await testEngine.claimed(`/agent-pools/${edge.pool}`, {}, { token: edge.token })
    const report = async (status: string) => {
      const answer = await testEngine.report(claim, { status }, { token: edge.token })
      expect(answer.status).toBe(200)
    }
    /** Calls the three endpoints with this token, and returns their answers and statuses. */
    const ask = async (token: string | null) => {
      const read = (name: string) => testEngine.request("GET", `/run-claims/${claim}/${name}`, { token })
      const state = await read("state")
      const archive = await read("configuration")
      const sent = stateVersionDocument(after, { inline: true })
      const made = await testEngine.request("POST", `/run-claims/${claim}/state-versions`, { token, body: sent })
      return { state, archive, made, statuses: [state.status, archive.status, made.status] }
    }
    return Object.assign(testEngine, {
      edge,
      core,
      workspace,
      current,
      version,
      run,
      claimId: claim,
      claimBody: body,
      reaches: report,
      ask,
    })
  }
  type Stage = Awaited<ReturnType<typeof workingAgent>>

  test("an agent reads both, and saves the applied state as the run", async () => {
    await using testEngine = await workingAgent()
    const { token } = testEngine.edge
    expect(testEngine.claimBody.data.attributes).toMatchObject({
      "workspace-name": "inside",
      "organization-name": "acme",
      "working-directory": "stacks/web",
      "terraform-version": expect.any(String),
    })
    const planning = await testEngine.ask(token)
    expect(planning.statuses).toEqual([200, 200, 409])
    expect(Buffer.from(planning.state.bytes).toString()).toBe(before.text)
    expect(Buffer.from(planning.archive.bytes)).toEqual(Buffer.from(configuration))
    expect(detailOf(planning.made)).toEqual([
      409,
      "The run is plan_queued; only an applying run can create state versions.",
    ])
    for (const status of ["planning", "planned", "applying"]) await testEngine.reaches(status)
    const announced = await testEngine.request("POST", `/run-claims/${testEngine.claimId}/state-versions`, {
      token,
      body: stateVersionDocument(after, {}),
    })
    expect(announced.body.data).toMatchObject({
      attributes: { status: "pending" },
      relationships: {
        run: { data: { id: testEngine.run } },
        "created-by": { data: { type: "runs", id: testEngine.run } },
      },
    })
    const upload = announced.body.data.attributes["hosted-state-upload-url"]
    expect((await testEngine.request("PUT", upload, { token: null, body: Buffer.from(after.text) })).status).toBe(204)
    await testEngine.reaches("applied")
    const current = await testEngine.request("GET", `/workspaces/${testEngine.workspace}/current-state-version`)
    expect(current.body.data).toMatchObject({ id: announced.body.data.id, attributes: { serial: 2 } })
  })

  test.each<{
    who: string
    token: (testEngine: Stage) => string | null | Promise<string>
    statuses: readonly number[]
  }>([
    { who: "the agent", token: ({ edge }) => edge.token, statuses: [200, 200, 201] },
    { who: "an agent of another pool", token: ({ core }) => core.token, statuses: [404, 404, 404] },
    { who: "the site administrator", token: ({ rootToken }) => rootToken, statuses: [404, 404, 404] },
    {
      who: "an administrator of the workspace",
      token: (testEngine) => testEngine.token({ on: { [testEngine.workspace]: "admin" } }),
      statuses: [404, 404, 404],
    },
    { who: "a request without a token", token: () => null, statuses: [401, 401, 401] },
  ])("$who is answered $statuses while the run applies", async ({ token, statuses }) => {
    await using testEngine = await workingAgent()
    for (const status of ["planning", "planned", "applying"]) await testEngine.reaches(status)
    expect((await testEngine.ask(await token(testEngine))).statuses).toEqual(statuses)
  })

  test.each<{ when: string; acts: (testEngine: Stage) => Promise<unknown>; statuses: readonly number[] }>([
    { when: "the start of its plan", acts: (testEngine) => testEngine.reaches("planning"), statuses: [200, 200, 409] },
    { when: "the failure of the run", acts: (testEngine) => testEngine.reaches("errored"), statuses: [409, 409, 409] },
    {
      when: "the cancellation of the run",
      acts: (testEngine) => testEngine.request("POST", `/runs/${testEngine.run}/actions/cancel`),
      statuses: [409, 409, 409],
    },
    {
      when: "the release of the run",
      acts: (testEngine) =>
        testEngine.request("DELETE", `/run-claims/${testEngine.claimId}`, { token: testEngine.edge.token }),
      statuses: [404, 404, 404],
    },
    {
      when: "the expiry of its claim",
      acts: async (testEngine) => testEngine.clock.advance(61 * secondMs),
      statuses: [409, 409, 409],
    },
    {
      when: "the removal of the workspace from its pool",
      acts: (testEngine) => {
        const attributes = { "execution-mode": "agent", "agent-pool-id": testEngine.core.pool }
        return testEngine.request("PATCH", `/workspaces/${testEngine.workspace}`, {
          body: document("workspaces", attributes),
        })
      },
      statuses: [404, 404, 404],
    },
    {
      when: "the revocation of its token",
      acts: async (testEngine) => {
        const [token] = (await testEngine.request("GET", `/agent-pools/${testEngine.edge.pool}/authentication-tokens`))
          .body.data
        return testEngine.request("DELETE", `/authentication-tokens/${token.id}`)
      },
      statuses: [401, 401, 401],
    },
  ])("the agent is answered $statuses after $when", async ({ acts, statuses }) => {
    await using testEngine = await workingAgent()
    await acts(testEngine)
    expect((await testEngine.ask(testEngine.edge.token)).statuses).toEqual(statuses)
  })

  test("an agent reads neither through other endpoints", async () => {
    await using testEngine = await workingAgent()
    const { token } = testEngine.edge
    const reads = [
      `/workspaces/${testEngine.workspace}/current-state-version`,
      `/workspaces/${testEngine.workspace}/state-versions`,
      `/state-versions/${testEngine.current.id}`,
      `/state-versions/${testEngine.current.id}/download`,
      `/configuration-versions/${testEngine.version.id}`,
      `/configuration-versions/${testEngine.version.id}/download`,
      `/runs/${testEngine.run}/configuration-version/download`,
      `/runs/${testEngine.run}/plan/json-output`,
    ]
    for (const path of reads)
      expect([path, (await testEngine.request("GET", path, { token })).status]).toEqual([path, 404])
    const body = stateVersionDocument(after, { inline: true })
    const created = await testEngine.request("POST", `/workspaces/${testEngine.workspace}/state-versions`, {
      token,
      body,
    })
    expect(created.status).toBe(404)
  })

  test("neither is found when the workspace has no state and no configuration", async () => {
    await using testEngine = await claimEngine()
    await testEngine.queue()
    const { claim } = await testEngine.claimed()
    for (const name of ["state", "configuration"])
      expect((await testEngine.request("GET", `/run-claims/${claim}/${name}`)).status).toBe(404)
  })
})

describe("a run that is canceled while an executor executes it", () => {
  const minute = 60 * secondMs
  const untilApplying = ["planning", "planned", "applying"]

  async function canceledAt(steps: readonly string[]) {
    const testEngine = await claimEngine()
    const run = await testEngine.queue({ "auto-apply": true })
    const { claim } = await testEngine.claimed("/organizations/acme", { name: "worker-1", "lease-seconds": 90 })
    for (const status of steps) expect((await testEngine.report(claim, { status })).status).toBe(200)
    const acts = (action: string) => testEngine.request("POST", `/runs/${run}/actions/${action}`)
    return Object.assign(testEngine, { run, claim, acts, answer: await acts("cancel") })
  }

  test("keeps its status and its lock until the executor reports that it has stopped", async () => {
    await using testEngine = await canceledAt(untilApplying)
    const { run, claim, answer } = testEngine
    expect(answer.status).toBe(202)
    const now = testEngine.clock.now()
    const shown = (await testEngine.request("GET", `/runs/${run}`)).body.data
    expect(shown.attributes).toMatchObject({
      status: "applying",
      "canceled-at": new Date(now).toISOString(),
      "force-cancel-available-at": new Date(now + minute).toISOString(),
      actions: { "is-cancelable": false, "is-force-cancelable": true },
    })
    expect(runIn(await testEngine.heartbeat(claim)).attributes).toMatchObject({
      status: "applying",
      "canceled-at": expect.any(String),
    })
    expect(await testEngine.locked()).toBe(true)
    expect(detailOf(await testEngine.acts("cancel"))).toEqual([409, "The run is already being canceled."])
    const state = stateVersionDocument(stateFile({ serial: 1, lineage: "stopped" }), { inline: true })
    const saved = await testEngine.request("POST", `/run-claims/${claim}/state-versions`, { body: state })
    expect(saved.status).toBe(201)
    expect(runIn(await testEngine.report(claim, { status: "canceled" })).attributes).toMatchObject({
      status: "canceled",
      executor: null,
    })
    expect(await testEngine.locked()).toBe(false)
    const current = await testEngine.request("GET", `/workspaces/${testEngine.id}/current-state-version`)
    expect(current.body.data.id).toBe(saved.body.data.id)
  })

  test.each<{ steps: readonly string[]; told: object; becomes: string }>([
    { steps: untilApplying, told: { status: "applied" }, becomes: "applied" },
    { steps: untilApplying, told: { status: "errored" }, becomes: "errored" },
    {
      steps: [...untilApplying.slice(0, 2), "pre_apply_running"],
      told: { status: "pre_apply_completed" },
      becomes: "canceled",
    },
    { steps: ["planning"], told: { status: "planned", "has-changes": true }, becomes: "canceled" },
    { steps: ["planning"], told: { status: "planned", "checks-follow": true }, becomes: "canceled" },
    { steps: ["planning"], told: { status: "planned_and_finished" }, becomes: "planned_and_finished" },
  ])("during $steps becomes $becomes after $told", async ({ steps, told, becomes }) => {
    await using testEngine = await canceledAt(steps)
    expect(await testEngine.statusOf(testEngine.run)).toBe(steps.at(-1))
    testEngine.clock.advance(1)
    for (const _again of [1, 2])
      expect(runIn(await testEngine.report(testEngine.claim, told)).attributes.status).toBe(becomes)
    expect(await testEngine.locked()).toBe(false)
    expect((await testEngine.report(testEngine.claim, { status: "applying" })).status).toBe(409)
  })

  test("can be force-canceled one minute after the cancel request", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const { claim } = await testEngine.claimed("/organizations/acme", { name: "worker-1", "lease-seconds": 90 })
    await testEngine.report(claim, { status: "planning" })
    const acts = (action: string) => testEngine.request("POST", `/runs/${run}/actions/${action}`)
    const actions = async () => (await testEngine.request("GET", `/runs/${run}`)).body.data.attributes.actions
    expect(await actions()).toMatchObject({ "is-cancelable": true, "is-force-cancelable": false })
    expect(detailOf(await acts("force-cancel"))).toEqual([
      409,
      'The run is being executed by "worker-1"; cancel it first.',
    ])
    expect((await acts("cancel")).status).toBe(202)
    const available = new Date(testEngine.clock.now() + minute).toISOString()
    testEngine.clock.advance(minute - 1)
    expect(detailOf(await acts("force-cancel"))).toEqual([
      409,
      `The run is being canceled; it can be canceled by force from ${available}.`,
    ])
    expect([await testEngine.statusOf(run), await testEngine.locked()]).toEqual(["planning", true])
    testEngine.clock.advance(1)
    expect((await acts("force-cancel")).status).toBe(202)
    expect([await testEngine.statusOf(run), await testEngine.locked()]).toEqual(["force_canceled", false])
    expect((await testEngine.report(claim, { status: "planned" })).status).toBe(409)
  })

  test("is canceled when the claim of its executor expires, which its log shows", async () => {
    await using testEngine = await canceledAt(["planning"])
    testEngine.clock.advance(90 * secondMs)
    await testEngine.endClaims()
    expect([await testEngine.statusOf(testEngine.run), await testEngine.locked()]).toEqual(["canceled", false])
    const { attributes } = (await testEngine.request("GET", `/runs/${testEngine.run}/plan`)).body.data
    const log = await testEngine.request("GET", attributes["log-read-url"], { token: null })
    expect(log.body).toContain('The executor "worker-1" did not report')
  })

  test("[F-W12] is asked to stop when another run is forced to execute, which starts afterwards", async () => {
    await using testEngine = await claimEngine()
    const first = await testEngine.queue()
    const second = await testEngine.queue()
    const { claim } = await testEngine.claimed()
    await testEngine.report(claim, { status: "planning" })
    expect((await testEngine.request("POST", `/runs/${second}/actions/force-execute`)).status).toBe(202)
    expect(await testEngine.statusOf(first)).toBe("planning")
    expect(runIn(await testEngine.heartbeat(claim)).attributes).toHaveProperty("canceled-at")
    expect((await testEngine.claim("/organizations/acme")).status).toBe(204)
    expect((await testEngine.report(claim, { status: "canceled" })).status).toBe(200)
    expect((await testEngine.claimed()).run).toBe(second)
  })

  test("ends at once when its executor's claim has already expired", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const { claim } = await testEngine.claimed("/organizations/acme", { "lease-seconds": 10 })
    await testEngine.report(claim, { status: "planning" })
    testEngine.clock.advance(10 * secondMs)
    expect((await testEngine.request("POST", `/runs/${run}/actions/cancel`)).status).toBe(202)
    expect([await testEngine.statusOf(run), await testEngine.locked()]).toEqual(["canceled", false])
  })
})

describe("an executor whose claim expires", () => {
  test.each<{ why: string; steps: readonly string[]; auto?: boolean; becomes: string; claimable: boolean }>([
    { why: "its plan has not started", steps: [], becomes: "plan_queued", claimable: true },
    { why: "its plan is unfinished", steps: ["planning"], becomes: "plan_queued", claimable: true },
    {
      why: "checks of its plan are unfinished",
      steps: ["planning", "planned", "policy_checking"],
      becomes: "errored",
      claimable: false,
    },
    { why: "it waits for confirmation", steps: ["planning", "planned"], becomes: "planned", claimable: false },
    {
      why: "its apply has not started",
      steps: ["planning", "planned"],
      auto: true,
      becomes: "confirmed",
      claimable: true,
    },
    {
      why: "its apply is unfinished",
      steps: ["planning", "planned", "applying"],
      auto: true,
      becomes: "errored",
      claimable: false,
    },
  ])("leaves the run $becomes when $why", async ({ steps, auto = false, becomes, claimable }) => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue({ "auto-apply": auto })
    const { claim } = await testEngine.claimed("/organizations/acme", { name: "worker-1", "lease-seconds": 10 })
    for (const status of steps)
      expect(
        (await testEngine.report(claim, { status, "checks-follow": steps.includes("policy_checking") })).status,
      ).toBe(200)
    testEngine.clock.advance(10 * secondMs - 1)
    await testEngine.endClaims()
    expect((await testEngine.heartbeat(claim)).status).toBe(200)
    testEngine.clock.advance(10 * secondMs)
    expect(detailOf(await testEngine.heartbeat(claim))).toEqual([409, expect.stringContaining("The claim has expired")])
    await testEngine.endClaims()
    expect(await testEngine.statusOf(run)).toBe(becomes)
    const next = await testEngine.claim("/organizations/acme")
    expect([next.status, next.body?.data.relationships.run.data.id]).toEqual(claimable ? [201, run] : [204, undefined])
    expect(await testEngine.locked()).toBe(becomes !== "errored")
  })

  /** Begins a plan with a log and a document, and loses its executor. Returns its claim, and the log of the plan afterwards. */
  async function losesPlan(testEngine: Awaited<ReturnType<typeof claimEngine>>, name: string) {
    const { claim, run } = await testEngine.claimed("/organizations/acme", { name, "lease-seconds": 10 })
    await testEngine.report(claim, { status: "planning" })
    const { size } = (await testEngine.log(claim, "plan", 0, "")).body.data.attributes
    expect((await testEngine.log(claim, "plan", size, `${name} plans\n`)).status).toBe(200)
    await testEngine.request("PUT", `/run-claims/${claim}/documents/plan-file`, { body: Buffer.from(name) })
    testEngine.clock.advance(10 * secondMs)
    await testEngine.endClaims()
    const { attributes } = (await testEngine.request("GET", `/runs/${run}/plan`)).body.data
    const log = await testEngine.request("GET", attributes["log-read-url"], { token: null })
    return { claim, log: log.body as string }
  }

  test("gives its plan to another executor, which begins again and continues the log", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    const { claim: lost, log } = await losesPlan(testEngine, "first")
    expect(log).toBe(
      '\u0002first plans\n\nThe executor "first" did not report for more than 10 seconds while the run was planning. Another executor starts the plan again.\n',
    )
    const { attributes } = (await testEngine.request("GET", `/runs/${run}`)).body.data
    expect(attributes).toMatchObject({ status: "plan_queued", executor: null })
    expect(Object.keys(attributes["status-timestamps"]).toSorted()).toEqual([
      "pending-at",
      "plan-queueable-at",
      "plan-queued-at",
    ])
    expect((await testEngine.request("GET", `/runs/${run}/plan`)).body.data.attributes.status).toBe("queued")
    const { data: events } = (await testEngine.request("GET", `/runs/${run}/run-events`)).body
    expect(events.at(-1)).toMatchObject({
      attributes: { action: "executor_lost", description: expect.stringContaining('"first" did not report') },
      relationships: { actor: { data: null } },
    })
    const { claim, run: again } = await testEngine.claimed("/organizations/acme", { name: "second" })
    expect(again).toBe(run)
    expect((await testEngine.heartbeat(lost)).status).toBe(404)
    expect((await testEngine.request("GET", `/run-claims/${claim}/documents/plan-file`)).status).toBe(404)
    await testEngine.report(claim, { status: "planning" })
    expect(detailOf(await testEngine.log(claim, "plan", 0, "second plans"))).toEqual([
      409,
      "The log has different content at offset 0.",
    ])
    const { size } = (await testEngine.log(claim, "plan", 0, "")).body.data.attributes
    expect(size).toBe(Buffer.byteLength(log) - 1)
    expect((await testEngine.log(claim, "plan", size, "second plans")).status).toBe(200)
    expect(runIn(await testEngine.report(claim, { status: "planned" })).attributes.status).toBe("planned")
  })

  test("ends the run when it is the third one that is lost during its plan", async () => {
    await using testEngine = await claimEngine()
    const run = await testEngine.queue()
    for (const name of ["first", "second"]) {
      await losesPlan(testEngine, name)
      expect([await testEngine.statusOf(run), await testEngine.locked()]).toEqual(["plan_queued", true])
    }
    const { log } = await losesPlan(testEngine, "third")
    expect([await testEngine.statusOf(run), await testEngine.locked()]).toEqual(["errored", false])
    expect(log).toContain('The executor "third" did not report')
    expect(log.endsWith("The run ends, because 3 executors were lost during its plan.\n\u0003")).toBe(true)
    const { data: events } = (await testEngine.request("GET", `/runs/${run}/run-events`)).body
    expect(events.map((event: { attributes: { action: string } }) => event.attributes.action)).toEqual([
      "queued",
      "plan_queued",
      "planning",
      "executor_lost",
      "planning",
      "executor_lost",
      "planning",
      "errored",
    ])
    expect((await testEngine.claim("/organizations/acme")).status).toBe(204)
  })
})

test("[F-P15] ends one lease after the clock is corrected when it was set ahead before", async () => {
  await using testEngine = await claimEngine()
  const run = await testEngine.queue()
  const now = testEngine.clock.now()
  testEngine.clock.advance(400 * 24 * 60 * 60 * secondMs)
  const { claim } = await testEngine.claimed("/organizations/acme", { name: "worker-1", "lease-seconds": 10 })
  testEngine.clock.set(now)
  await testEngine.endClaims()
  // An executor that sends heartbeats keeps its run.
  expect((await testEngine.heartbeat(claim)).status).toBe(200)
  testEngine.clock.advance(10 * secondMs)
  await testEngine.endClaims()
  expect((await testEngine.heartbeat(claim)).status).toBe(404)
  const next = await testEngine.claim("/organizations/acme")
  expect([next.status, next.body?.data.relationships.run.data.id]).toEqual([201, run])
})

describe("many executors", () => {
  test("each claim a different run from any server", { timeout: 60_000 }, async () => {
    await using place = await defaultSharedKind.place()
    await using first = await populatedEngine({ url: place.url, jobs: false })
    await using second = await openTestEngine({ url: place.url, jobs: false })
    const queued: string[] = []
    for (let count = 0; count < 6; count += 1) {
      const workspace = await first.workspace(`web-${count}`)
      for (const attributes of [{}, { "plan-only": true }]) {
        const body = document("runs", attributes, { workspace: one("workspaces", workspace) })
        queued.push((await made(first, "POST", "/runs", body)).id)
      }
    }
    const claimed: string[] = []
    const executor = async (testEngine: TestEngine) => {
      for (let tries = 0; tries < 100; tries += 1) {
        const { status, body } = await testEngine.request("POST", "/organizations/acme/run-claims")
        if (status === 204) return
        if (status === 201) claimed.push(body.data.relationships.run.data.id)
        // Under contention the database reports busy, and the executor retries.
        else if (status !== 503) throw new Error(`the claim was answered ${status}`)
      }
    }
    await Promise.all([first, second, first, second, first, second].map(executor))
    expect(claimed.toSorted()).toEqual(queued.toSorted())
  })
})
