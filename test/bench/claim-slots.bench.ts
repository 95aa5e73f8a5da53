// 1,000 runs on ten slots of executors that run no tool: how long runs wait while a slot is free. In the first part all runs are queued
// before the first slot asks, in the second part while the slots work.
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
  await queueAll()
  reportWaits("queued before", await executeAll())
  const [waits] = await Promise.all([executeAll(), queueAll()])
  reportWaits("queued at the same time", waits)

  async function queueAll(): Promise<void> {
    let next = 0
    await Promise.all(
      Array.from({ length: queuers }, async () => {
        for (let index = next++; index < runCount; index = next++) await pool.queuePlan(workspaces[index] ?? "")
      }),
    )
  }

  /** Returns for each run the time from the moment when it exists and a slot asks for one, to the claim. */
  async function executeAll(): Promise<{ readonly waits: readonly number[]; readonly elapsedMs: number }> {
    const waits: number[] = []
    const began = performance.now()
    const execute = async (name: string): Promise<void> => {
      while (waits.length < runCount) {
        const askedAt = Date.now()
        const claim = await pool.agent.runClaims.claim({ kind: "own-pool" }, { name, leaseMs: 60_000, waitMs: 1_000 })
        if (claim === undefined) continue
        // The server is on this machine, so both times are of one clock.
        waits.push(Date.now() - Math.max(askedAt, claim.run.createdAt))
        await pool.agent.runClaims.report(claim.id, { status: "planning", hasChanges: null })
        await sleep(planMs)
        await pool.agent.runClaims.report(claim.id, { status: "planned_and_finished", hasChanges: false })
      }
    }
    await Promise.all(Array.from({ length: slots }, (_, index) => execute(`slot-${index}`)))
    return { waits, elapsedMs: performance.now() - began }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function reportWaits(
  name: string,
  { waits, elapsedMs }: { readonly waits: readonly number[]; readonly elapsedMs: number },
): void {
  const sorted = waits.toSorted((a, b) => a - b)
  report(`${name}: runs executed by ten slots`, runCount / (elapsedMs / 1_000), "a second")
  report(`${name}: wait while a slot is free, median`, median(waits), "ms")
  report(`${name}: wait while a slot is free, 99th percentile`, sorted[Math.floor(runCount * 0.99)] ?? Number.NaN, "ms")
  report(`${name}: wait while a slot is free, longest`, sorted.at(-1) ?? Number.NaN, "ms")
}
