// 1,000 runs that are queued while ten slots of executors claim them: how long runs wait while a slot is free. The executors run no tool.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startChancery } from "./chancery.ts"
import { median, report } from "./figures.ts"
import { openBenchPool } from "./run-claims.ts"

const runCount = 1_000
const slots = 10
const queuers = 4
const planMs = 50

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
try {
  await using server = await startChancery(folder)
  await using pool = await openBenchPool(server)
  const workspaces: string[] = []
  for (let index = 0; index < runCount; index += 1) workspaces.push(await pool.createWorkspace(`bench-${index}`))

  const queuedAt = new Map<string, number>()
  /** From the moment when a run waits and a slot asks for one, to the claim. */
  const waits: number[] = []
  const began = performance.now()
  let next = 0
  const queue = async (): Promise<void> => {
    for (let index = next++; index < runCount; index = next++) {
      const { id } = await pool.queuePlan(workspaces[index] ?? "")
      queuedAt.set(id, performance.now())
    }
  }
  const execute = async (name: string): Promise<void> => {
    while (waits.length < runCount) {
      const askedAt = performance.now()
      const claim = await pool.agent.runClaims.claim({ kind: "own-pool" }, { name, leaseMs: 60_000, waitMs: 1_000 })
      if (claim === undefined) continue
      const claimedAt = performance.now()
      // The claim may arrive before the answer to the client that queued the run.
      waits.push(claimedAt - Math.max(askedAt, queuedAt.get(claim.run.id) ?? claimedAt))
      await pool.agent.runClaims.report(claim.id, { status: "planning", hasChanges: null })
      await sleep(planMs)
      await pool.agent.runClaims.report(claim.id, { status: "planned_and_finished", hasChanges: false })
    }
  }
  await Promise.all([
    ...Array.from({ length: queuers }, queue),
    ...Array.from({ length: slots }, (_, index) => execute(`slot-${index}`)),
  ])
  const elapsedMs = performance.now() - began
  const sorted = waits.toSorted((a, b) => a - b)
  report("runs executed by 10 slots", runCount / (elapsedMs / 1_000), "a second")
  report("wait of a run while a slot is free, median", median(waits), "ms")
  report("wait of a run while a slot is free, 99th percentile", sorted[Math.floor(runCount * 0.99)] ?? Number.NaN, "ms")
  report("wait of a run while a slot is free, longest", sorted.at(-1) ?? Number.NaN, "ms")
} finally {
  rmSync(folder, { recursive: true, force: true })
}
