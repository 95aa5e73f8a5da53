// Runs as executors see them.
import { announceExecutor } from "../../engine/testing/announced-executor.ts"
import { beforeAll, describe, expect, test } from "vitest"
import { firstPage } from "../../engine/src/core/page.ts"
import { bytesOf } from "../../engine/testing/state-file.ts"
import type { ClaimInput } from "../../engine/src/workspaces/runs/run-claim.ts"
import { type Users, newUsers } from "./users.ts"
import type { OpenedEngine } from "./engines.ts"
import { newArchive, newConfiguration, newVariable } from "./new-records.ts"
import { notFound, refused } from "./refusals.ts"
import { newRunInput, newStateInput } from "./state-cases.ts"

export const newClaimInput: ClaimInput = { name: "contract", leaseMs: 60_000, waitMs: 0 }

const line = (text: string) => new TextEncoder().encode(`${text}\n`)

export function runCases(engine: () => OpenedEngine): void {
  let testUsers: Users
  beforeAll(async () => {
    testUsers = await newUsers(engine())
  })

  async function newClaim() {
    const { runs, runClaims } = testUsers.owner.engine
    const { id: workspaceId } = await testUsers.newWorkspace()
    const run = await runs.create({ id: workspaceId }, newRunInput())
    const claim = await runClaims.claim({ kind: "workspace", ref: { id: workspaceId } }, newClaimInput)
    if (claim === undefined) throw new Error("there was no run to claim")
    return { runs, runClaims, workspaceId, run, claim }
  }

  describe("an executor", () => {
    test("claims a run and reports its progress to the end", async () => {
      const { runClaims, runs, run, claim } = await newClaim()
      expect(claim).toMatchObject({ name: "contract", run: { id: run.id, status: "plan_queued" } })
      expect(await runClaims.get(claim.id)).toEqual(claim)
      const renewed = await runClaims.heartbeat(claim.id)
      expect(renewed.expiresAt).toBeGreaterThanOrEqual(claim.expiresAt)
      expect(renewed.run.executor).toEqual({ name: "contract", expiresAt: renewed.expiresAt })
      await runClaims.report(claim.id, { status: "planning", hasChanges: null })
      const counts = { additions: 1, changes: 0, destructions: 0, imports: 0 }
      const planned = await runClaims.report(claim.id, { status: "planned", hasChanges: null, counts })
      expect(planned.run).toMatchObject({ status: "planned", planCounts: counts, hasChanges: true })
      await expect(runClaims.report(claim.id, { status: "applied", hasChanges: null })).rejects.toMatchObject(
        refused("conflict"),
      )
      await runs.apply(run.id)
      await runClaims.report(claim.id, { status: "applying", hasChanges: null })
      const { run: ended } = await runClaims.report(claim.id, { status: "applied", hasChanges: null })
      expect(ended).toMatchObject({ status: "applied", executor: null })
    })

    test("is told to stop when its run is canceled, and ends it", async () => {
      const { runClaims, runs, run, claim, workspaceId } = await newClaim()
      await runClaims.report(claim.id, { status: "planning", hasChanges: null })
      await expect(runs.forceCancel(run.id)).rejects.toMatchObject(refused("conflict"))
      await runs.cancel(run.id)
      const { run: canceled } = await runClaims.heartbeat(claim.id)
      expect(canceled).toMatchObject({ status: "planning", cancelRequestedAt: expect.any(Number) })
      expect(await runs.get(run.id)).toMatchObject({ cancelRequestedAt: canceled.cancelRequestedAt })
      const { workspaces } = testUsers.owner.engine
      expect((await workspaces.get({ id: workspaceId })).lock).toMatchObject({ by: { kind: "runs", id: run.id } })
      await expect(runs.cancel(run.id)).rejects.toMatchObject(refused("conflict"))
      await expect(runs.forceCancel(run.id)).rejects.toMatchObject(refused("conflict"))
      const { run: ended } = await runClaims.report(claim.id, { status: "canceled", hasChanges: null })
      expect(ended).toMatchObject({ status: "canceled", executor: null })
      expect((await workspaces.get({ id: workspaceId })).lock).toEqual({ held: false })
    })

    test("uploads a log in chunks, and none of them twice", async () => {
      const { runClaims, claim } = await newClaim()
      const { id } = claim
      await runClaims.report(id, { status: "planning", hasChanges: null })
      expect(await runClaims.appendLog(id, "plan", 0, line("one"))).toBe(4)
      // An executor that continues a log learns its size.
      expect(await runClaims.appendLog(id, "plan", 0, new Uint8Array())).toBe(4)
      expect(await runClaims.appendLog(id, "apply", 0, new Uint8Array())).toBe(0)
      expect(await runClaims.appendLog(id, "plan", 4, line("two"))).toBe(8)
      expect(await runClaims.appendLog(id, "plan", 4, line("two"))).toBe(8)
      expect(await runClaims.appendLog(id, "plan", 4, line("two\nthree"))).toBe(14)
      await expect(runClaims.appendLog(id, "plan", 20, line("gap"))).rejects.toMatchObject(refused("conflict"))
      await expect(runClaims.appendLog(id, "plan", 0, line("other"))).rejects.toMatchObject(refused("conflict"))
      await expect(runClaims.appendLog(id, "apply", 0, line("early"))).rejects.toMatchObject(refused("conflict"))
      await expect(runClaims.appendLog(id, "plan", 0, new Uint8Array(512 * 1024 + 1))).rejects.toMatchObject(
        refused("too-large"),
      )
      await runClaims.report(id, { status: "errored", hasChanges: null })
      await expect(runClaims.appendLog(id, "plan", 14, line("late"))).rejects.toMatchObject(refused("conflict"))
      expect(await runClaims.appendLog(id, "plan", 0, line("one"))).toBe(14)
    })

    test("uploads a plan, and the executor that applies it downloads the same bytes", async () => {
      const { runClaims, claim, runs, run } = await newClaim()
      const octets = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
      await expect(runClaims.document(claim.id, "plan-file")).rejects.toMatchObject(notFound)
      await runClaims.saveDocument(claim.id, "plan-file", octets)
      expect(new Uint8Array(await runClaims.document(claim.id, "plan-file"))).toEqual(octets)
      await runClaims.saveDocument(claim.id, "json-output", line("{}"))
      await expect(runClaims.saveDocument(claim.id, "json-output", line("{"))).rejects.toMatchObject(
        refused("invalid", ["jsonOutput"]),
      )
      await runClaims.saveDocument(claim.id, "json-output-redacted", line("[]"))
      await expect(runClaims.saveDocument(claim.id, "json-output-redacted", line("["))).rejects.toMatchObject(
        refused("invalid", ["jsonOutputRedacted"]),
      )
      expect(await runs.planJson(run.planId)).toBeUndefined()
      expect(await runs.redactedPlanJson(run.planId)).toBeUndefined()
      await runClaims.report(claim.id, { status: "planning", hasChanges: null })
      await runClaims.report(claim.id, { status: "planned", hasChanges: null })
      expect(new Uint8Array((await runs.planJson(run.planId)) ?? [])).toEqual(line("{}"))
      expect(new Uint8Array((await runs.redactedPlanJson(run.planId)) ?? [])).toEqual(line("[]"))
    })

    test("reads the values of variables", async () => {
      const { runClaims, claim, workspaceId } = await newClaim()
      await testUsers.owner.engine.variables.create({ id: workspaceId }, { ...newVariable, sensitive: true })
      const { key, value, category, hcl } = newVariable
      const variables = await runClaims.variables(claim.id)
      const isAutomatic = (variable: { readonly key: string }) => variable.key.startsWith("TFC_")
      expect(variables.filter((each) => !isAutomatic(each))).toEqual([{ key, value, category, hcl, sensitive: true }])
      expect(variables.find((each) => each.key === "TFC_RUN_ID")).toMatchObject({
        category: "env",
        value: claim.run.id,
      })
    })

    test("of an agent pool gives a token for its claim to a process that executes the run", async () => {
      const { agentPools, tokens, runs } = testUsers.owner.engine
      const pool = await agentPools.create(testUsers.organization, { name: testUsers.newName("pool") })
      const agent = await engine().as((await tokens.createForAgentPool(pool.id, { description: "agent" })).secret)
      const { id: workspaceId } = await testUsers.newWorkspace({ executionMode: "agent", agentPoolId: pool.id })
      await runs.create({ id: workspaceId }, newRunInput())
      const claim = await agent.runClaims.claim({ kind: "own-pool" }, newClaimInput)
      const { secret, expiresAt } = await agent.runClaims.createToken(claim?.id ?? "")
      expect(expiresAt).toBeGreaterThan(claim?.expiresAt ?? Infinity)
      const process = await engine().as(secret)
      expect(await process.runClaims.heartbeat(claim?.id ?? "")).toMatchObject({ id: claim?.id })
      await expect(process.runClaims.claim({ kind: "own-pool" }, newClaimInput)).rejects.toMatchObject(notFound)
    })

    test("reads the SSH key of the workspace while its run continues", async () => {
      const { runClaims, claim, workspaceId } = await newClaim()
      await expect(runClaims.sshKey(claim.id)).rejects.toMatchObject(notFound)
      const { sshKeys, workspaces } = testUsers.owner.engine
      const key = await sshKeys.create(testUsers.organization, {
        name: testUsers.newName("key"),
        value: "secret",
      })
      await workspaces.assignSshKey({ id: workspaceId }, key.id)
      expect(await runClaims.sshKey(claim.id)).toBe("secret")
    })

    test("reads the configuration and the state, and saves the new state", async () => {
      const { runs, runClaims, workspaces, stateVersions, configurationVersions } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      await workspaces.lock({ id }, { reason: "" })
      const before = newStateInput(1)
      await stateVersions.create({ id }, before)
      await workspaces.unlock({ id })
      const configuration = { ...newConfiguration, ingressAttributes: null, readme: null, autoQueueRuns: false }
      await configurationVersions.upload((await configurationVersions.create({ id }, configuration)).id, newArchive)
      const run = await runs.create({ id }, { ...newRunInput(), autoApply: true })
      const claim = await runClaims.claim({ kind: "workspace", ref: { id } }, newClaimInput)
      const claimId = claim?.id ?? ""
      expect(claim?.workspace).toMatchObject({ organizationName: testUsers.organization, workingDirectory: null })
      expect(Buffer.from(await runClaims.configuration(claimId))).toEqual(Buffer.from(newArchive))
      expect(await bytesOf(await runClaims.state(claimId))).toEqual(before.state)
      const after = newStateInput(2)
      await expect(runClaims.createState(claimId, after)).rejects.toMatchObject(refused("conflict"))
      for (const status of ["planning", "planned", "applying"] as const)
        await runClaims.report(claimId, { status, hasChanges: null })
      const saved = await runClaims.createState(claimId, after)
      expect(saved).toMatchObject({ serial: 2, status: "finalized", runId: run.id })
      expect((await stateVersions.current({ id })).id).toBe(saved.id)
      await runClaims.report(claimId, { status: "applied", hasChanges: null })
      await expect(runClaims.state(claimId)).rejects.toMatchObject(refused("conflict"))
    })

    test("releases a run, and the next executor claims it", async () => {
      const { runClaims, claim, run } = await newClaim()
      await runClaims.release(claim.id)
      await expect(runClaims.get(claim.id)).rejects.toMatchObject(notFound)
      const target = { kind: "organization", name: testUsers.organization } as const
      const again = await runClaims.claim(target, newClaimInput)
      expect(again?.run.id).toBe(run.id)
      await runClaims.report(again?.id ?? "", { status: "planning", hasChanges: null })
      await expect(runClaims.release(again?.id ?? "")).rejects.toMatchObject(refused("conflict"))
      await expect(runClaims.heartbeat(claim.id)).rejects.toMatchObject(notFound)
    })

    test("reads the queue of an organization, and how many runs are in progress", async () => {
      const { organizations, workspaces, runs, runClaims } = testUsers.owner.engine
      const { name } = await organizations.create({ name: testUsers.newName("queue"), email: "queue@example.com" })
      await announceExecutor(testUsers.owner.engine, { kind: "organization", name })
      const queued: string[] = []
      for (const each of ["one", "two", "three"]) {
        const { id } = await workspaces.create(name, { name: each, executionMode: "remote" })
        queued.push((await runs.create({ id }, newRunInput())).id)
      }
      const claim = await runClaims.claim({ kind: "organization", name }, newClaimInput)
      await runClaims.report(claim?.id ?? "", { status: "planning", hasChanges: null })
      const second = await runs.queue(name, { number: 2, size: 2 })
      expect([second.totalCount, second.items.map((run) => [run.id, run.positionInQueue])]).toEqual([
        3,
        [[queued[2], 2]],
      ])
      expect(await runs.capacity(name)).toEqual({ pending: 2, running: 1 })
      await runClaims.report(claim?.id ?? "", { status: "planned", hasChanges: true })
      expect((await runs.queue(name, firstPage)).items.map(({ id }) => id)).toEqual(queued.slice(1))
    })

    test("gets no run when none is queued, and is rejected for invalid requests", async () => {
      const { runClaims } = testUsers.owner.engine
      const { id } = await testUsers.newWorkspace()
      const target = { kind: "workspace", ref: { id } } as const
      expect(await runClaims.claim(target, newClaimInput)).toBeUndefined()
      await expect(runClaims.claim(target, { name: "", leaseMs: 1, waitMs: 31_000 })).rejects.toMatchObject(
        refused("invalid", ["name"], ["leaseSeconds"], ["waitSeconds"]),
      )
    })
  })

  test("an agent of a pool claims with the pool's token, which permits nothing else", async () => {
    const { agentPools, tokens, runs } = testUsers.owner.engine
    const pool = await agentPools.create(testUsers.organization, { name: testUsers.newName("pool") })
    const { id } = await testUsers.newWorkspace({ executionMode: "agent", agentPoolId: pool.id })
    const made = await tokens.createForAgentPool(pool.id, { description: "agent" })
    expect(made.owner).toEqual({ kind: "agent-pool", agentPoolId: pool.id })
    await expect(tokens.createForAgentPool(pool.id, {})).rejects.toMatchObject(refused("invalid", ["description"]))
    const { secret, ...shown } = made
    expect((await tokens.listForAgentPool(pool.id, firstPage)).items).toEqual([shown])
    const run = await runs.create({ id }, newRunInput())
    const agent = await engine().as(secret)
    const claim = await agent.runClaims.claim({ kind: "agent-pool", id: pool.id }, newClaimInput)
    expect(claim?.run.id).toBe(run.id)
    await expect(agent.runs.get(run.id)).rejects.toMatchObject(notFound)
    await expect(agent.workspaces.get({ id })).rejects.toMatchObject(notFound)
  })
}
