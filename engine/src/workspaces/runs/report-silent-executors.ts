// Explains to users why a run does not begin: it could, but no executor that could take it was seen. The run, its events and its log
// contain the reason.
import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { minuteMs } from "../../core/time.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import { configuredExecution } from "../workspace/workspace.ts"
import type { ExecutorRepository } from "./executor-repository.ts"
import { executorQuery, silentAgentText } from "./executors.ts"
import { stageOf } from "./run-claim.ts"
import { recordRunEvent } from "./run-event.ts"
import { runChange } from "./run-progress.ts"
import type { ChangedWait, RunRecordRepository, RunRepository } from "./run-repository.ts"
import type { Run } from "./run.ts"

interface UsedRepositories {
  readonly events: EventRepository
  readonly executors: ExecutorRepository
  readonly runRecords: RunRecordRepository
  readonly runs: RunRepository
  readonly workspaces: WorkspaceRepository
}

/** Time without an executor. It suffices to start an agent on demand, with a machine for it. */
const silenceMs = 5 * minuteMs

/** Limit of runs per run of the job. The next run continues. */
const maxWaits = 500

export async function reportSilentExecutors(
  {
    storage,
    runtime,
  }: { readonly storage: Storage<UsedRepositories>; readonly runtime: Pick<Runtime, "clock" | "log" | "random"> },
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const { clock, log } = runtime
  const query = () => ({ now: clock.now(), since: clock.now() - silenceMs })
  const waits = await storage.read(({ runs }) => runs.changedWaits({ ...query(), limit: maxWaits }))
  for (const { id } of waits) {
    signal.throwIfAborted()
    const reason = await storage.transact(async (repositories) => {
      // An executor may have called since the read.
      const [wait] = await repositories.runs.changedWaits({ ...query(), id, limit: 1 })
      return wait && (await change(repositories, wait, runtime))
    })
    if (typeof reason === "string") log.warn("run-executor-missing", { run: id, reason })
  }
}

/** Sets or removes the reason. Returns it if the wait was not recorded yet. */
async function change(
  repositories: UsedRepositories,
  { id, isUnserved }: ChangedWait,
  { clock, random }: Pick<Runtime, "clock" | "random">,
): Promise<string | undefined> {
  const run = await repositories.runs.find(id)
  const workspace = run && (await repositories.workspaces.find({ id: run.workspaceId }))
  if (run === undefined || workspace === undefined) return undefined
  const now = clock.now()
  const save = async (changed: Run) => {
    await repositories.runs.save(changed)
    await repositories.events.append(runChange("run.updated", workspace, changed, ["waitingReason"]))
  }
  if (!isUnserved) {
    await save({ ...run, waitingReason: null })
    return undefined
  }
  // Agents may still execute runs of an organization whose remote operations are off.
  const facts = await repositories.executors.facts(executorQuery(workspace, now, configuredExecution(workspace)))
  const reason = silentAgentText(workspace, facts)
  const waiting = { ...run, waitingReason: reason }
  // An executor that searches for runs but does not take this one ends the silence, but not the wait.
  if (run.waitRecordedAt !== null) {
    await save(waiting)
    return undefined
  }
  const origin = { now, random, actor: null, description: reason }
  const recorded = await recordRunEvent(repositories, waiting, { action: "executor_missing" }, origin)
  await repositories.runRecords.appendLog(run.id, stageOf(run), Buffer.from(`${reason}\n`))
  await save({ ...recorded, waitRecordedAt: now })
  return reason
}
