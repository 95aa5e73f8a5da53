// Changes of a run's status. One transaction writes the step with all its consequences: automatic decisions, lock, state versions, current
// configuration and metrics.
import { conflict } from "../../core/errors.ts"
import type { Change, EventRepository } from "../../events/feed/event.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { ConfigurationVersionRepository } from "../configuration-versions/configuration-version-repository.ts"
import { lock, nameHolder } from "../lock/lock.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import { discardAndPromote } from "../state/state-version-rules.ts"
import { type AutoDestroyStatus, lastActivity } from "../workspace/auto-destroy.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { SituatedWorkspace, Workspace } from "../workspace/workspace.ts"
import { recordRunEvent, type StepOrigin } from "./run-event.ts"
import { maxMeasuredRuns, runMetrics } from "./run-metrics.ts"
import type { RunRepository } from "./run-repository.ts"
import { advance, decision, lockStep, runActor } from "./run-rules.ts"
import { isFinal, isMeasured, type RunStatus } from "./run-status.ts"
import { lifecycleSource, type Run, type RunAction, type RunStep } from "./run.ts"

export const runChange = (
  kind: "run.created" | "run.updated",
  workspace: Pick<Workspace, "id" | "organizationId" | "name">,
  { id, status }: Run,
  changed: readonly string[] = ["status"],
): Change => ({
  kind,
  workspace,
  subject: { type: "runs", id, status },
  ...(kind === "run.updated" ? { changed } : {}),
})

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly events: EventRepository
  readonly runs: RunRepository
  readonly configurationVersions: ConfigurationVersionRepository
  readonly stateVersions: StateVersionRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
}

const lockReason = "Locked by a run"

/** Writes a step and its consequences. A step that is decided automatically follows at the same instant. */
export async function carryOut(
  repositories: UsedRepositories,
  before: Run,
  workspace: SituatedWorkspace,
  step: RunStep,
  origin: StepOrigin,
): Promise<Run> {
  const { now, random } = origin
  requireFreshPlan(before, step, workspace)
  const advanced = advance(before, step, now)
  const planned =
    step.status === "planning" ? { ...advanced, inputStateVersionId: workspace.currentStateVersionId } : advanced
  const stepped = await recordRunEvent(repositories, planned, { action: actionOf(step.status) }, origin)
  const waits = step.checksFollow === true && stepped.cancelRequestedAt === null
  const status = waits ? undefined : decision(stepped)
  const settled =
    status === undefined
      ? stepped
      : await recordRunEvent(
          repositories,
          advance(stepped, { status, hasChanges: null }, now),
          { action: actionOf(status) },
          { now, random, actor: null },
        )
  const run = withoutSettledClaim(settled)
  await repositories.runs.save(run)
  await repositories.events.append(runChange("run.updated", workspace, run))
  switch (lockStep(before, run, await nameHolder(repositories, workspace, runActor(run)))) {
    case "take":
      await repositories.workspaces.saveLock(workspace.id, lock(workspace, runActor(run), { reason: lockReason }, now))
      await repositories.events.append({ kind: "workspace.locked", workspace, changed: ["locked"] })
      if (run.savePlan) await repositories.runs.makeCurrent(run)
      break
    case "release":
      await repositories.workspaces.saveLock(workspace.id, { lock: { held: false }, lockNumber: workspace.lockNumber })
      await discardAndPromote(repositories, workspace)
      await repositories.events.append({ kind: "workspace.unlocked", workspace, changed: ["locked"] })
      break
    case "keep":
      break
  }
  if (isFinal(run.status)) await recordEnd(repositories, run)
  return run
}

const actionOf = (status: RunStatus): RunAction => (status === "pending" ? "queued" : status)

/** Removes the claim of a saved plan, so that another executor can claim it as soon as it is confirmed. */
const withoutSettledClaim = (run: Run): Run => (run.status === "planned_and_saved" ? { ...run, claim: null } : run)

/** Returns the members of a workspace after a destroy run. State versions of that run do not count as activity. */
function afterAutoDestroy({ status }: Run, workspace: SituatedWorkspace): Partial<Workspace> {
  const becomes: AutoDestroyStatus = status === "applied" || status === "planned_and_finished" ? "destroyed" : "failed"
  const settled = becomes === "destroyed" ? { autoDestroySettledAt: lastActivity(workspace) } : {}
  return { autoDestroyStatus: becomes, ...settled }
}

/** Throws `conflict` if the state changed after a saved plan was made: the plan applies only to that state. */
function requireFreshPlan(run: Run, { status }: RunStep, { id, latestChangeAt }: SituatedWorkspace): void {
  const planned = run.statusTimestamps.planning
  if (run.status === "planned_and_saved" && status === "confirmed" && planned !== undefined && latestChangeAt > planned)
    throw conflict("The saved plan is stale: the workspace's state has changed since it was made.", { subject: id })
}

async function recordEnd(repositories: UsedRepositories, run: Run): Promise<void> {
  // Read again: state versions of the released lock may have changed it.
  const workspace = await repositories.workspaces.find({ id: run.workspaceId })
  if (workspace === undefined) return
  const metrics = isMeasured(run.status)
    ? runMetrics(await repositories.runs.measured(run.workspaceId, maxMeasuredRuns))
    : workspace.metrics
  const configuration =
    run.status === "applied" && run.configurationVersionId !== null
      ? await repositories.configurationVersions.find(run.configurationVersionId)
      : undefined
  await repositories.workspaces.save(workspace, {
    ...workspace,
    metrics,
    ...(run.source === lifecycleSource ? afterAutoDestroy(run, workspace) : {}),
    // A provisional configuration becomes current once it has been applied.
    ...(configuration?.provisional === true ? { currentConfigurationVersionId: configuration.id } : {}),
  })
}
