// Creation of runs: on request, or after the upload of a configuration.
import { unprocessable } from "../../core/errors.ts"
import { newId, type RunId } from "../../core/ids.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Instant } from "../../core/time.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import type { ConfigurationVersion } from "../configuration-versions/configuration-version.ts"
import { runChange } from "./run-progress.ts"
import type { RunRepository } from "./run-repository.ts"
import { noWait } from "./run-rules.ts"
import type { Run, RunInput, RunSource } from "./run.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import { type Actor, effectiveExecution, type SituatedWorkspace } from "../workspace/workspace.ts"

/** Ids and instant of a new run. They are generated before the transaction, which may be retried. */
export interface NewRun {
  readonly id: RunId
  readonly planId: string
  readonly applyId: string
  readonly eventId: string
  readonly now: Instant
}

export const newRun = (random: RandomSource, now: Instant): NewRun => ({
  id: newId("run", random),
  planId: newId("plan", random),
  applyId: newId("apply", random),
  eventId: newId("re", random),
  now,
})

interface RunOrigin {
  readonly source: RunSource
  readonly createdBy: Actor | null
  readonly message: string
}

/** Queues a run. Throws `unprocessable` in the execution mode `local`, where no executor would ever claim it. */
export async function queueRun(
  { events, runs }: { readonly events: EventRepository; readonly runs: RunRepository },
  workspace: SituatedWorkspace,
  input: RunInput,
  configuration: ConfigurationVersion | undefined,
  { now, eventId, ...ids }: NewRun,
  origin: RunOrigin,
): Promise<Run> {
  requireQueue(workspace)
  const planOnly = input.planOnly || configuration?.speculative === true
  const savePlan = input.savePlan ?? false
  const run: Run = {
    ...ids,
    workspaceId: workspace.id,
    organizationId: workspace.organizationId,
    status: "pending",
    message: input.message ?? origin.message,
    source: origin.source,
    isDestroy: input.isDestroy,
    autoApply: input.autoApply ?? (savePlan ? false : workspace.autoApply),
    planOnly,
    refreshOnly: input.refreshOnly,
    refresh: input.refresh ?? true,
    savePlan,
    allowEmptyApply: input.allowEmptyApply ?? false,
    allowConfigGeneration: input.allowConfigGeneration ?? false,
    engineVersion: input.engineVersion ?? null,
    targetAddrs: input.targetAddrs ?? [],
    replaceAddrs: input.replaceAddrs ?? [],
    variables: input.variables ?? [],
    hasChanges: false,
    planCounts: null,
    applyCounts: null,
    createdAt: now,
    createdBy: origin.createdBy,
    confirmedBy: null,
    statusTimestamps: { pending: now },
    configurationVersionId: configuration?.id ?? null,
    planDurationMs: null,
    applyDurationMs: null,
    policyFailed: false,
    finishedAt: null,
    claim: null,
    cancelRequestedAt: null,
    inputStateVersionId: workspace.currentStateVersionId,
    commentIds: [],
    eventIds: [eventId],
    ...noWait,
  }
  await runs.insert(run)
  const event = { id: eventId, runId: run.id, action: "queued", description: "", createdAt: now } as const
  await runs.insertEvent({ ...event, actor: origin.createdBy, commentId: null }, 0)
  await events.append(runChange("run.created", workspace, run))
  // A saved plan becomes the current run when it is confirmed. A plan-only run never does.
  if (!planOnly && !savePlan) await runs.makeCurrent(run)
  return run
}

export const hasQueue = (workspace: SituatedWorkspace): boolean => effectiveExecution(workspace).mode !== "local"

/** Throws `unprocessable` in the execution mode `local`. */
export function requireQueue(workspace: SituatedWorkspace): void {
  if (hasQueue(workspace)) return
  const detail = "Runs cannot be queued in a workspace whose execution mode is local"
  throw unprocessable(`${detail}.`, [{ field: ["workspace"], detail }])
}

/**
 * Returns the run that an uploaded configuration queues. Returns undefined if the configuration queues none, or the workspace executes
 * locally. The same applies if the configuration comes from VCS, `queue-all-runs` is false and no run was queued manually yet.
 */
export async function queueRunFor(
  repositories: {
    readonly events: EventRepository
    readonly workspaces: WorkspaceRepository
    readonly runs: RunRepository
  },
  configuration: ConfigurationVersion,
  made: NewRun & { readonly createdBy: Actor | null },
): Promise<Run | undefined> {
  if (!configuration.autoQueueRuns) return undefined
  const workspace = await repositories.workspaces.find({ id: configuration.workspaceId })
  if (workspace === undefined || !hasQueue(workspace)) return undefined
  const ofVcs = configuration.ingress !== null
  if (ofVcs && !workspace.queueAllRuns && !(await repositories.runs.hasAny(workspace.id))) return undefined
  const { createdBy, ...ids } = made
  const input = { message: null, isDestroy: false, autoApply: null, planOnly: false, refreshOnly: false }
  return queueRun(repositories, workspace, { ...input, configurationVersionId: configuration.id }, configuration, ids, {
    source: "tfe-configuration-version",
    createdBy,
    message: configuration.ingress?.attributes.commitMessage ?? "Queued by an uploaded configuration",
  })
}
