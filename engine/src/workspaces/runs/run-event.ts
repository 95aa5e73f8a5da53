// Records the events of a run (docs/runs.md, "Run events"), in the transaction that changes the run.
import { newId } from "../../core/ids.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Instant } from "../../core/time.ts"
import type { Actor } from "../workspace/workspace.ts"
import type { RunRepository } from "./run-repository.ts"
import type { Run, RunEvent } from "./run.ts"

/** Time of a step, and the actor that its event names. */
export interface StepOrigin {
  readonly now: Instant
  readonly random: RandomSource
  /** Null for the server itself, and for agents. */
  readonly actor: Actor | null
  readonly description?: string
}

/** Stores an event. The caller must save the returned run, which contains the id of the event. */
export async function recordRunEvent(
  { runs }: { readonly runs: Pick<RunRepository, "insertEvent"> },
  run: Run,
  { action, commentId = null }: Pick<RunEvent, "action"> & { readonly commentId?: string | null },
  { now, random, actor, description = "" }: StepOrigin,
): Promise<Run> {
  const id = newId("re", random)
  const event = { id, runId: run.id, action, description, createdAt: now, actor, commentId }
  await runs.insertEvent(event, run.eventIds.length)
  return { ...run, eventIds: [...run.eventIds, id] }
}
