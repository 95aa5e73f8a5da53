import { conflict, type Fault } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import { describe } from "../lock/lock.ts"
import type { ResourceChanges, Run, RunInput, RunOperation, RunStep } from "./run.ts"
import { holdsLock, isApplyStatus, isDecided, isFinal, mayBecome, type RunStatus } from "./run-status.ts"
import type { Actor, Lock, Workspace } from "../workspace/workspace.ts"

const maxMessage = 10_000

export const messageFaults = (message: string): Fault[] =>
  message.length <= maxMessage
    ? []
    : [{ field: ["message"], detail: `message is too long (maximum is ${maxMessage} characters)` }]

const maxComment = 10_000
/** Every document of a run contains the ids of all its comments. */
const maxComments = 500

export function commentFaults(body: string): Fault[] {
  if (body.trim() === "") return [{ field: ["body"], detail: "body can't be blank" }]
  return body.length <= maxComment
    ? []
    : [{ field: ["body"], detail: `body is too long (maximum is ${maxComment} characters)` }]
}

export function assertTakesComment({ id, commentIds }: Pick<Run, "id" | "commentIds">): void {
  if (commentIds.length >= maxComments)
    throw conflict(`The run has ${maxComments} comments, which is the maximum.`, { subject: id })
}

const maxAddresses = 1_000
const maxAddress = 4_096
const maxVariables = 1_000
const maxVariableValue = 256 * 1024

/** Returns the faults that can be found in the input alone. */
export function runInputFaults(input: RunInput): Fault[] {
  const { targetAddrs = [], replaceAddrs = [], variables = [] } = input
  return [
    ...messageFaults(input.message ?? ""),
    ...addressFaults("targetAddrs", "target-addrs", targetAddrs),
    ...addressFaults("replaceAddrs", "replace-addrs", replaceAddrs),
    ...variableFaults(variables),
    ...contradictions(input),
  ]
}

function addressFaults(field: string, subject: string, addresses: readonly string[]): Fault[] {
  if (addresses.length > maxAddresses)
    return [{ field: [field], detail: `${subject} has too many entries (maximum is ${maxAddresses})` }]
  return addresses.flatMap((address, index): Fault[] =>
    address !== "" && address.length <= maxAddress
      ? []
      : [
          {
            field: [field, index],
            detail: `${subject} must be resource addresses of 1 to ${maxAddress} characters`,
          },
        ],
  )
}

function variableFaults(variables: NonNullable<RunInput["variables"]>): Fault[] {
  if (variables.length > maxVariables)
    return [{ field: ["variables"], detail: `variables has too many entries (maximum is ${maxVariables})` }]
  const keys = new Set<string>()
  return variables.flatMap(({ key, value }, index): Fault[] => {
    const again = keys.has(key)
    keys.add(key)
    if (!/^[a-zA-Z_][\w-]{0,127}$/.test(key))
      return [
        {
          field: ["variables", index, "key"],
          detail: "variables must have keys of 1 to 128 letters, digits, - and _ that begin with a letter or _",
        },
      ]
    if (again) return [{ field: ["variables", index, "key"], detail: `variables has the key "${key}" twice` }]
    return value.length <= maxVariableValue
      ? []
      : [
          {
            field: ["variables", index, "value"],
            detail: `variables must have values of at most ${maxVariableValue} characters`,
          },
        ]
  })
}

function contradictions(input: RunInput): Fault[] {
  const faults: Fault[] = []
  const { isDestroy, planOnly, refreshOnly, savePlan = false, refresh = true } = input
  const addFault = (holds: boolean, field: string, detail: string) => {
    if (holds) faults.push({ field: [field], detail })
  }
  addFault(refreshOnly && isDestroy, "refreshOnly", "refresh-only cannot be combined with is-destroy")
  addFault(refreshOnly && !refresh, "refresh", "refresh cannot be false when refresh-only is true")
  addFault(
    refreshOnly && (input.replaceAddrs?.length ?? 0) > 0,
    "replaceAddrs",
    "replace-addrs cannot be combined with refresh-only",
  )
  addFault(
    isDestroy && (input.replaceAddrs?.length ?? 0) > 0,
    "replaceAddrs",
    "replace-addrs cannot be combined with is-destroy",
  )
  addFault(savePlan && planOnly, "savePlan", "save-plan cannot be combined with plan-only")
  addFault(savePlan && input.autoApply === true, "autoApply", "auto-apply cannot be combined with save-plan")
  addFault(
    (input.engineVersion ?? null) !== null && !planOnly,
    "engineVersion",
    "terraform-version can only be set when plan-only is true",
  )
  return faults
}

/** Returns the kind of the run that lists can be filtered by. */
export function operationOf(
  run: Pick<Run, "isDestroy" | "planOnly" | "refreshOnly" | "savePlan" | "allowEmptyApply">,
): RunOperation {
  if (run.planOnly) return "plan_only"
  if (run.savePlan) return "save_plan"
  if (run.isDestroy) return "destroy"
  if (run.refreshOnly) return "refresh_only"
  return run.allowEmptyApply ? "empty_apply" : "plan_and_apply"
}

/** Above the counts of any real configuration. It keeps sums exact. */
const maxCount = 1_000_000_000

export function countFaults(counts: ResourceChanges | null | undefined): Fault[] {
  return Object.entries(counts ?? {}).flatMap(([name, count]: [string, number]): Fault[] =>
    Number.isInteger(count) && count >= 0 && count <= maxCount
      ? []
      : [{ field: [`resource-${name}`], detail: `resource-${name} must be an integer from 0 to ${maxCount}` }],
  )
}

/**
 * Returns the status that follows automatically after a plan. A plan without changes ends, a saved one is kept, and one that needs no
 * confirmation is confirmed. Returns undefined if the run waits for confirmation. After a request to cancel, returns `canceled` unless the
 * run is finished.
 */
export function decision(run: Run): RunStatus | undefined {
  if (run.cancelRequestedAt !== null) return isFinal(run.status) ? undefined : "canceled"
  if (!isDecided(run.status)) return undefined
  if (run.planOnly || (!run.hasChanges && !run.allowEmptyApply)) return "planned_and_finished"
  if (run.savePlan) return "planned_and_saved"
  return run.autoApply ? "confirmed" : undefined
}

/**
 * Returns the run after a step. Throws `conflict` with both statuses, so that a client that has lost track of the run sees the present one.
 */
export function advance(run: Run, { status, hasChanges, counts = null }: RunStep, now: Instant): Run {
  if (!mayBecome(run.status, status) || (run.planOnly && isApplyStatus(status)))
    throw conflict(`The run is ${run.status} and cannot become ${status}.`, { subject: run.id })
  const planEnds = run.status === "planning"
  const applyEnds = run.status === "applying"
  return {
    ...run,
    status,
    statusTimestamps: { ...run.statusTimestamps, [status]: now },
    hasChanges: planEnds ? (hasChanges ?? changesSomething(counts) ?? isWorthApplying(status)) : run.hasChanges,
    planCounts: planEnds ? (counts ?? run.planCounts) : run.planCounts,
    applyCounts: applyEnds ? (counts ?? run.applyCounts) : run.applyCounts,
    planDurationMs: planEnds ? elapsed(run, "planning", now) : run.planDurationMs,
    applyDurationMs: applyEnds ? elapsed(run, "applying", now) : run.applyDurationMs,
    policyFailed: run.policyFailed || status === "policy_override" || status === "policy_soft_failed",
    finishedAt: isFinal(status) ? now : null,
    ...noWait,
  }
}

/** Members of a run that does not wait for an executor, or whose wait begins. */
export const noWait = { waitingReason: null, waitRecordedAt: null } as const

/**
 * Returns the run as it waits for another executor, after the executor of its plan was lost. It keeps the lock and its place in the queue.
 */
export function replan(run: Run): Run {
  const { planning: _lost, ...reached } = run.statusTimestamps
  return { ...run, status: "plan_queued", statusTimestamps: reached, claim: null }
}

const changesSomething = (counts: ResourceChanges | null): boolean | undefined =>
  counts === null ? undefined : Object.values(counts).some((count: number) => count > 0)

const isWorthApplying = (status: RunStatus): boolean => status === "planned" || status === "planned_and_saved"

const elapsed = (run: Run, since: RunStatus, now: Instant): number =>
  Math.max(0, now - (run.statusTimestamps[since] ?? now))

export const runActor = (run: Pick<Run, "id">): Actor => ({ kind: "runs", id: run.id })

const isHeldBy = (lock: Lock, run: Run): boolean => lock.held && lock.by.kind === "runs" && lock.by.id === run.id

/**
 * Returns the effect of a step on the workspace's lock. A run that finds the workspace locked keeps its status (`conflict`). A run whose
 * lock was ended by an administrator leaves the present lock unchanged.
 */
export function lockStep(before: Run, after: Run, workspace: Workspace): "take" | "release" | "keep" {
  const [held, holds] = [needsLock(before), needsLock(after)]
  const takes = holds && !held
  if (takes && workspace.lock.held && !isHeldBy(workspace.lock, after))
    throw conflict(
      `The run has to wait in ${before.status}. The workspace is locked by ${describe(workspace.lock.by)}.`,
      { subject: workspace.id },
    )
  if (takes) return "take"
  return held && !holds && isHeldBy(workspace.lock, before) ? "release" : "keep"
}

/** Returns whether the run needs the lock. A plan-only run needs none. A run that saves its plan needs it after it is confirmed. */
const needsLock = ({ planOnly, savePlan, status }: Run): boolean =>
  holdsLock(status) && !planOnly && (!savePlan || isApplyStatus(status))
