// Compares the final statuses of runs with the state versions, the states that agents keep, and the traces of the resources.
import type { RunView } from "../../../engine/src/workspaces/runs/run.ts"
import { type AppliedWorkspace, resourceIds, resourcesPerRun } from "./applied-workspace.ts"
import type { CrashingAgent } from "./crashing-agent.ts"
import type { Creation } from "./creation-trace.ts"

export interface RunEvidence {
  /** Returns the logs of the plan and the apply. */
  readonly logsOf: (run: RunView) => Promise<string>
  readonly agents: readonly CrashingAgent[]
  readonly creations: readonly Creation[]
}

export interface RunResults {
  applied: number
  errored: number
  /** Resources that only a state in the folder of an agent contains. */
  unsaved: number
  /** Resources in no state, because their agent was killed during their creation. */
  interrupted: number
  /** Descriptions of what must not happen. */
  readonly faults: string[]
}

/** Between the trace of a resource and its state: Terraform writes the state when it reads the end of the command. */
const traceToleranceMs = 1_000

/** Texts of the server and the agent. */
const reasons =
  /did not report for more than|could not get or store a part of the run|did not store the state of this apply/

/** Adds the results of a workspace. */
export async function judgeRuns(
  workspace: AppliedWorkspace,
  evidence: RunEvidence,
  results: RunResults,
): Promise<void> {
  const { agents, creations } = evidence
  const runs = await workspace.runs()
  const states = await workspace.states()
  const fault = (run: RunView, text: string) =>
    void results.faults.push(`${workspace.name}, ${run.message} (${run.id}, ${run.status}): ${text}`)
  for (const [position, run] of runs.entries()) {
    const own = creations.filter(({ runId }) => runId === run.id)
    if (run.message !== `run ${position + 1}`) fault(run, `is at position ${position + 1}`)
    if (new Set(own.map(({ index }) => index)).size < own.length) fault(run, "created a resource twice")
    const stored = states.filter(({ runId }) => runId === run.id)
    if (run.status === "applied") {
      results.applied += 1
      const last = stored.at(-1)?.ids ?? new Set()
      const expected = (position + 1) * resourcesPerRun
      if (last.size !== expected) fault(run, `its state has ${last.size} resources instead of ${expected}`)
      for (let index = expected - resourcesPerRun; index < expected; index += 1)
        if (!own.some((creation) => creation.index === index)) fault(run, `did not create resource ${index}`)
      for (const { id } of own) if (!last.has(id)) fault(run, `its state misses ${id}`)
    } else if (run.status === "errored") {
      results.errored += 1
      if (!reasons.test(await evidence.logsOf(run))) fault(run, "its logs contain no reason")
      const kept = new Set(
        (await Promise.all(agents.map((agent) => agent.unsavedStates(run.id)))).flat().flatMap(idsOf),
      )
      for (const creation of own.filter(({ id }) => !stored.some(({ ids }) => ids.has(id)))) {
        if (kept.has(creation.id)) results.unsaved += 1
        else if (wasInterrupted(creation, agents)) results.interrupted += 1
        else fault(run, `${JSON.stringify(creation)} is in no state`)
      }
    } else fault(run, "unexpected status")
  }
  // No run destroys anything.
  const current = await workspace.currentState()
  const complete = new Set(creations.filter(({ endedAt }) => endedAt !== undefined).map(({ id }) => id))
  for (const id of new Set(states.flatMap(({ ids }) => [...ids])))
    if (complete.has(id) && !current.has(id)) results.faults.push(`${workspace.name}: the current state misses ${id}`)
}

const idsOf = (state: string): readonly string[] => [...resourceIds(state)]

/** Returns whether the agent of the resource was killed during its creation. */
function wasInterrupted({ agent, beganAt, endedAt }: Creation, agents: readonly CrashingAgent[]): boolean {
  const kills = agents.find(({ name }) => name === agent)?.killedAt ?? []
  return kills.some(
    (at) => at >= beganAt - traceToleranceMs && at <= (endedAt ?? Number.POSITIVE_INFINITY) + traceToleranceMs,
  )
}
