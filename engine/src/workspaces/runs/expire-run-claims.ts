// Handles runs whose executor is silent. A run that has not begun, or is planning, waits for another executor. Other work fails.
import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { formatInstant, minuteMs, secondMs } from "../../core/time.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { ConfigurationVersionRepository } from "../configuration-versions/configuration-version-repository.ts"
import { canBeReleased, isClaimAhead, longestClaimMs, stageOf } from "./run-claim.ts"
import { recordRunEvent, type StepOrigin } from "./run-event.ts"
import { carryOut, runChange } from "./run-progress.ts"
import type { RunRecordRepository, RunRepository } from "./run-repository.ts"
import { replan } from "./run-rules.ts"
import { isRepeatable, type RunStatus } from "./run-status.ts"
import type { Run, RunClaim } from "./run.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { SituatedWorkspace } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly users: UserRepository
  readonly workspaces: WorkspaceRepository
  readonly teams: TeamRepository
  readonly events: EventRepository
  readonly runs: RunRepository
  readonly runRecords: RunRecordRepository
  readonly configurationVersions: ConfigurationVersionRepository
  readonly stateVersions: StateVersionRepository
}

export const endRunClaimsJob = { name: "run-claims", everyMs: 15 * secondMs, timeoutMs: minuteMs } as const

/** Limit of claims per run of the job. The next run continues. */
const maxClaims = 1_000

export async function endRunClaims(
  {
    storage,
    runtime,
  }: { readonly storage: Storage<UsedRepositories>; readonly runtime: Pick<Runtime, "clock" | "log" | "random"> },
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const { clock, log, random } = runtime
  const ids = await storage.read(({ runs }) => {
    const now = clock.now()
    return runs.claimsToEnd({ now, latest: now + longestClaimMs, limit: maxClaims })
  })
  for (const id of ids) {
    signal.throwIfAborted()
    const now = clock.now()
    const ended = await storage.transact(async (repositories) => {
      const run = await repositories.runs.find(id)
      // The executor may have called since the read.
      if (run === undefined || run.claim === null || run.finishedAt !== null) return undefined
      const { name, leaseMs, expiresAt } = run.claim
      if (isClaimAhead(run.claim, now)) {
        // The executor may be alive. It gets one more lease to show it.
        await repositories.runs.save({ ...run, claim: { ...run.claim, expiresAt: now + leaseMs } })
        return { name, becomes: run.status, aheadUntil: expiresAt }
      }
      if (expiresAt > now) return undefined
      if (canBeReleased(run)) {
        await repositories.runs.save({ ...run, claim: null })
        return { name, becomes: run.status, aheadUntil: undefined }
      }
      const workspace = await repositories.workspaces.find({ id: run.workspaceId })
      if (workspace === undefined) return undefined
      const status = await endOrReplan(repositories, run, workspace, run.claim, { now, random, actor: null })
      return { name, becomes: status, aheadUntil: undefined }
    })
    if (ended?.aheadUntil !== undefined)
      log.warn("run-claim-ahead", { run: id, executor: ended.name, expiresAt: formatInstant(ended.aheadUntil) })
    else if (ended !== undefined)
      log.warn("run-executor-lost", { run: id, executor: ended.name, becomes: ended.becomes })
  }
}

/** Number of executors that may be lost during the plan of a run. The plan itself can be the cause, for example by its use of memory. */
const maxLostExecutors = 3

/** Returns the status that the run has afterwards. */
async function endOrReplan(
  repositories: UsedRepositories,
  run: Run,
  workspace: SituatedWorkspace,
  { name, leaseMs }: RunClaim,
  origin: StepOrigin,
): Promise<RunStatus> {
  const { runs, runRecords, events } = repositories
  const silence = `The executor "${name}" did not report for more than ${leaseMs / secondMs} seconds while the run was ${run.status}.`
  const writeLog = (text: string) => runRecords.appendLog(run.id, stageOf(run), Buffer.from(`\n${text}\n`))
  const end = async (status: "errored" | "canceled", description: string) => {
    await writeLog(description)
    await carryOut(repositories, run, workspace, { status, hasChanges: null }, { ...origin, description })
    return status
  }
  if (run.cancelRequestedAt !== null) return end("canceled", silence)
  if (!isRepeatable(run.status)) return end("errored", silence)
  const earlier = (await runs.events(run.id)).filter(({ action }) => action === "executor_lost").length
  if (earlier + 1 >= maxLostExecutors)
    return end("errored", `${silence} The run ends, because ${maxLostExecutors} executors were lost during its plan.`)
  const description = `${silence} Another executor starts the plan again.`
  await writeLog(description)
  await runRecords.deleteDocuments(run.id)
  const waiting = await recordRunEvent(
    repositories,
    replan(run),
    { action: "executor_lost" },
    { ...origin, description },
  )
  await runs.save(waiting)
  await events.append(runChange("run.updated", workspace, waiting))
  return waiting.status
}
