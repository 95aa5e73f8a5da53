// Runs as those see them who execute them.
import { beforeAll, describe, expect, test } from "vitest"
import { firstPage } from "../../engine/src/core/page.ts"
import type { ClaimInput } from "../../engine/src/workspaces/run-claims.ts"
import { type Cast, newCast } from "./cast.ts"
import type { OpenedEngine } from "./engines.ts"
import { newVariable } from "./new-records.ts"
import { notFound, refused } from "./refusals.ts"
import { newRunInput } from "./state-cases.ts"

export const newClaimInput: ClaimInput = { name: "contract", leaseMs: 60_000, waitMs: 0 }

const line = (text: string) => new TextEncoder().encode(`${text}\n`)

export function runCases(engine: () => OpenedEngine): void {
  let cast: Cast
  beforeAll(async () => {
    cast = await newCast(engine())
  })

  async function newClaim() {
    const { runs, runClaims } = cast.owner.engine
    const { id: workspaceId } = await cast.newWorkspace()
    const run = await runs.create({ id: workspaceId }, newRunInput())
    const claim = await runClaims.claim({ kind: "workspace", ref: { id: workspaceId } }, newClaimInput)
    if (claim === undefined) throw new Error("there was no run to claim")
    return { runs, runClaims, workspaceId, run, claim }
  }

  describe("an executor", () => {
    test("claims a run and reports on it to its end", async () => {
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

    test("hands in a log piece by piece, and none of it twice", async () => {
      const { runClaims, claim } = await newClaim()
      const { id } = claim
      await runClaims.report(id, { status: "planning", hasChanges: null })
      expect(await runClaims.appendLog(id, "plan", 0, line("one"))).toBe(4)
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

    test("hands in a plan, and whoever applies it gets it octet for octet", async () => {
      const { runClaims, claim } = await newClaim()
      const octets = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
      await expect(runClaims.document(claim.id, "plan-file")).rejects.toMatchObject(notFound)
      await runClaims.saveDocument(claim.id, "plan-file", octets)
      expect(new Uint8Array(await runClaims.document(claim.id, "plan-file"))).toEqual(octets)
      await runClaims.saveDocument(claim.id, "json-output", line("{}"))
      await expect(runClaims.saveDocument(claim.id, "json-output", line("{"))).rejects.toMatchObject(
        refused("invalid", ["jsonOutput"]),
      )
    })

    test("reads the values of variables", async () => {
      const { runClaims, claim, workspaceId } = await newClaim()
      await cast.owner.engine.variables.create({ id: workspaceId }, { ...newVariable, sensitive: true })
      const { key, value, category, hcl } = newVariable
      expect(await runClaims.variables(claim.id)).toEqual([{ key, value, category, hcl, sensitive: true }])
    })

    test("gives a run back, and the next one gets it", async () => {
      const { runClaims, claim, run } = await newClaim()
      await runClaims.release(claim.id)
      await expect(runClaims.get(claim.id)).rejects.toMatchObject(notFound)
      const target = { kind: "organization", name: cast.organization } as const
      const again = await runClaims.claim(target, newClaimInput)
      expect(again?.run.id).toBe(run.id)
      await runClaims.report(again?.id ?? "", { status: "planning", hasChanges: null })
      await expect(runClaims.release(again?.id ?? "")).rejects.toMatchObject(refused("conflict"))
      await expect(runClaims.heartbeat(claim.id)).rejects.toMatchObject(notFound)
    })

    test("gets nothing where nothing waits, and is refused what makes no sense", async () => {
      const { runClaims } = cast.owner.engine
      const { id } = await cast.newWorkspace()
      const target = { kind: "workspace", ref: { id } } as const
      expect(await runClaims.claim(target, newClaimInput)).toBeUndefined()
      await expect(runClaims.claim(target, { name: "", leaseMs: 1, waitMs: 31_000 })).rejects.toMatchObject(
        refused("invalid", ["name"], ["leaseSeconds"], ["waitSeconds"]),
      )
    })
  })

  test("an agent of a pool claims with a token of its own, which is good for nothing else", async () => {
    const { agentPools, tokens, runs } = cast.owner.engine
    const pool = await agentPools.create(cast.organization, { name: cast.newName("pool") })
    const { id } = await cast.newWorkspace({ executionMode: "agent", agentPoolId: pool.id })
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
