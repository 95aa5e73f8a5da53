import type { RunClaimView } from "../workspaces/runs/run-claim.ts"
import type { RunStatus } from "../workspaces/runs/run-status.ts"

/** Status of the run afterwards, or `lost` if the run belongs to another executor now. */
export type Execution = RunStatus | "lost"

/** Executes the runs that an agent has claimed: on its own machine, or in pods of a cluster. */
export interface RunExecutor extends AsyncDisposable {
  /** Returns lines for the start of the agent: what it uses, and what it cannot limit. */
  describe(): readonly string[]
  /** Executes a run and reports on it. `slot` counts from 1; a slot executes one run at a time. */
  execute(claim: RunClaimView, slot: number): Promise<Execution>
}
