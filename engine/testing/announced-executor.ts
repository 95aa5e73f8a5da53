import type { Engine } from "../src/engine.ts"
import type { ClaimTarget } from "../src/workspaces/runs/run-claim.ts"

/** Asks once for a run, as an executor does. Without an executor, the engine rejects runs that it creates on request. */
export async function announceExecutor({ runClaims }: Pick<Engine, "runClaims">, target: ClaimTarget): Promise<void> {
  await runClaims.claim(target, { name: "executor", leaseMs: 60_000, waitMs: 0 })
}
