import { conflict, type Fault } from "../core/errors.ts"
import type { Instant } from "../core/time.ts"
import { describe } from "./lock.ts"
import type { Run, RunStep } from "./run.ts"
import { holdsLock, isApplyStatus, isFinal, mayBecome, type RunStatus } from "./run-status.ts"
import type { Actor, Lock, Workspace } from "./workspace.ts"

const messageMaximum = 10_000

export const messageFaults = (message: string): Fault[] =>
  message.length <= messageMaximum
    ? []
    : [{ field: ["message"], detail: `Message is too long (maximum is ${messageMaximum} characters)` }]

/** The run one step further. Conflicts name both statuses: whoever drives runs has lost track of one. */
export function advance(run: Run, { status, hasChanges }: RunStep, now: Instant): Run {
  if (!mayBecome(run.status, status) || (run.planOnly && isApplyStatus(status)))
    throw conflict(`The run is ${run.status} and cannot become ${status}.`, { subject: run.id })
  const planEnds = run.status === "planning"
  const applyEnds = run.status === "applying"
  return {
    ...run,
    status,
    statusTimestamps: { ...run.statusTimestamps, [status]: now },
    hasChanges: planEnds ? (hasChanges ?? (status === "planned" || status === "planned_and_saved")) : run.hasChanges,
    planDurationMs: planEnds ? elapsed(run, "planning", now) : run.planDurationMs,
    applyDurationMs: applyEnds ? elapsed(run, "applying", now) : run.applyDurationMs,
    policyFailed: run.policyFailed || status === "policy_override" || status === "policy_soft_failed",
    finishedAt: isFinal(status) ? now : null,
  }
}

const elapsed = (run: Run, since: RunStatus, now: Instant): number =>
  Math.max(0, now - (run.statusTimestamps[since] ?? now))

export const runActor = (run: Pick<Run, "id">): Actor => ({ kind: "runs", id: run.id })

const isHeldBy = (lock: Lock, run: Run): boolean => lock.held && lock.by.kind === "runs" && lock.by.id === run.id

/**
 * What a step does to the workspace's lock. A run that finds the workspace locked waits where it is; one whose lock an
 * administrator took away leaves whatever lock there is now alone.
 */
export function lockStep(before: Run, after: Run, workspace: Workspace): "take" | "release" | "keep" {
  if (after.planOnly) return "keep"
  const takes = holdsLock(after.status) && !holdsLock(before.status)
  if (takes && workspace.lock.held && !isHeldBy(workspace.lock, after))
    throw conflict(
      `The run has to wait in ${before.status}. The workspace is locked by ${describe(workspace.lock.by)}.`,
      { subject: workspace.id },
    )
  if (takes) return "take"
  return holdsLock(before.status) && !holdsLock(after.status) && isHeldBy(workspace.lock, before) ? "release" : "keep"
}
