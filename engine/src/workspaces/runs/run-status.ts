// Statuses of a run and their transitions, as in HCP Terraform (docs/compatibility.md, "Runs"). Optional stages (fetching, tasks, cost
// estimation, policies) can be skipped; every run that has not ended can fail or be stopped.

/** Sorted as a run reaches them. */
export const runStatuses = [
  "pending",
  "fetching",
  "fetching_completed",
  "pre_plan_running",
  "pre_plan_completed",
  "queuing",
  "plan_queued",
  "planning",
  "planned",
  "cost_estimating",
  "cost_estimated",
  "policy_checking",
  "policy_override",
  "policy_checked",
  "post_plan_running",
  "post_plan_completed",
  "planned_and_saved",
  "confirmed",
  "queuing_apply",
  "apply_queued",
  "pre_apply_running",
  "pre_apply_completed",
  "applying",
  "applied",
  "planned_and_finished",
  "policy_soft_failed",
  "discarded",
  "errored",
  "canceled",
  "force_canceled",
] as const
export type RunStatus = (typeof runStatuses)[number]

const endings = ["errored", "canceled", "force_canceled"] as const

const toPlanning: readonly RunStatus[] = ["queuing", "plan_queued", "planning"]
const toPrePlan: readonly RunStatus[] = ["pre_plan_running", ...toPlanning]
const decided: readonly RunStatus[] = ["planned_and_finished", "planned_and_saved", "confirmed", "discarded"]
const toPostPlan: readonly RunStatus[] = ["post_plan_running", "post_plan_completed", ...decided]
const toPolicies: readonly RunStatus[] = ["policy_checking", ...toPostPlan]
const toApplying: readonly RunStatus[] = ["pre_apply_running", "applying"]

/** Next statuses, without failure and cancellation. */
const onward: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ["fetching", "fetching_completed", ...toPrePlan, "discarded"],
  fetching: ["fetching_completed"],
  fetching_completed: toPrePlan,
  pre_plan_running: ["pre_plan_completed"],
  pre_plan_completed: toPlanning,
  queuing: ["plan_queued", "planning"],
  plan_queued: ["planning"],
  planning: ["planned", "planned_and_finished", "planned_and_saved"],
  planned: ["cost_estimating", ...toPolicies],
  cost_estimating: ["cost_estimated"],
  cost_estimated: toPolicies,
  policy_checking: ["policy_override", "policy_soft_failed", "policy_checked"],
  policy_override: ["policy_checked", "policy_soft_failed", "discarded"],
  policy_checked: toPostPlan,
  post_plan_running: ["post_plan_completed"],
  post_plan_completed: decided,
  planned_and_saved: ["confirmed", "discarded"],
  confirmed: ["queuing_apply", "apply_queued", ...toApplying],
  queuing_apply: ["apply_queued", ...toApplying],
  apply_queued: toApplying,
  pre_apply_running: ["pre_apply_completed"],
  pre_apply_completed: ["applying"],
  applying: ["applied"],
  applied: [],
  planned_and_finished: [],
  policy_soft_failed: [],
  discarded: [],
  errored: [],
  canceled: [],
  force_canceled: [],
}

/** Returns whether the status has no next status. */
export const isFinal = (status: RunStatus): boolean => onward[status].length === 0

export const mayBecome = (from: RunStatus, to: RunStatus): boolean =>
  !isFinal(from) && (onward[from].includes(to) || (endings as readonly RunStatus[]).includes(to))

/** Returns whether runs of this status count for the metrics of a workspace. */
export const isMeasured = (status: RunStatus): boolean => status === "applied" || status === "errored"

/** Statuses that only a run that may apply can have. */
const applyStatuses: readonly RunStatus[] = [
  "planned_and_saved",
  "confirmed",
  "queuing_apply",
  "apply_queued",
  "pre_apply_running",
  "pre_apply_completed",
  "applying",
  "applied",
]
export const isApplyStatus = (status: RunStatus): boolean => applyStatuses.includes(status)

/** Returns whether a run of this status holds the workspace's lock. Runs that are pending, saved or finished do not. */
export const holdsLock = (status: RunStatus): boolean =>
  status !== "pending" && status !== "planned_and_saved" && !isFinal(status)

/** Returns whether the run waits for confirmation. */
export const isConfirmable = (status: RunStatus): boolean => mayBecome(status, "confirmed")
export const isDiscardable = (status: RunStatus): boolean => mayBecome(status, "discarded")
/** Returns whether the run can be canceled, also while it waits for its turn: clients that are interrupted during that time cancel it. */
export const isCancelable = (status: RunStatus): boolean => !isFinal(status) && !isConfirmable(status)
/** Returns whether work has begun that may not stop without force. */
export const isForceCancelable = (status: RunStatus): boolean => holdsLock(status) && isCancelable(status)

/** Statuses of work in progress. The end of the work changes the status. */
const atWork: readonly RunStatus[] = [
  "fetching",
  "pre_plan_running",
  "planning",
  "cost_estimating",
  "policy_checking",
  "post_plan_running",
  "pre_apply_running",
  "applying",
]
export const isAtWork = (status: RunStatus): boolean => atWork.includes(status)

/** Statuses in which a run waits for an executor to begin its plan or its apply. */
const waitingForPlan = ["pending", "fetching_completed", "queuing", "plan_queued"] as const
const waitingForApply = ["confirmed", "queuing_apply", "apply_queued"] as const
export const claimableStatuses: readonly RunStatus[] = [...waitingForPlan, ...waitingForApply]

/** Statuses of runs that are being executed or wait for an executor, but not for confirmation. */
export const queueStatuses: readonly RunStatus[] = runStatuses.filter(
  (status) => !isFinal(status) && !isConfirmable(status) && status !== "policy_override",
)

/** Returns whether no executor has begun work that could be left incomplete. Another executor can then take over. */
export const isUntouched = (status: RunStatus): boolean => claimableStatuses.includes(status)

/**
 * Returns whether another executor can start the work again if the present one is lost. Plans change nothing. Later work follows a plan
 * that clients have seen, or changes resources.
 */
export const isRepeatable = (status: RunStatus): boolean => status === "planning"

/** Returns the status of a waiting run after it is claimed. */
export const claimedStatus = (status: RunStatus): "plan_queued" | "apply_queued" =>
  (waitingForApply as readonly RunStatus[]).includes(status) ? "apply_queued" : "plan_queued"

/** Statuses in which the next step of a plan is decided, unless checks follow. */
const decidedStatuses: readonly RunStatus[] = ["planned", "cost_estimated", "policy_checked", "post_plan_completed"]
export const isDecided = (status: RunStatus): boolean => decidedStatuses.includes(status)

/** Statuses of the plan and the apply of a run in their own documents. */
export const stageStatuses = ["pending", "queued", "running", "finished", "errored", "canceled", "unreachable"] as const
export type StageStatus = (typeof stageStatuses)[number]

/** Returns whether the plan or the apply is over. */
export const hasEnded = (status: StageStatus): boolean => !["pending", "queued", "running"].includes(status)

type Timestamps = Readonly<Partial<Record<RunStatus, number>>>

export function planStatus(status: RunStatus, reached: Timestamps): StageStatus {
  const ended = reached.planned ?? reached.planned_and_finished ?? reached.planned_and_saved
  if (ended !== undefined) return "finished"
  return unfinished(status, { began: reached.planning, queued: reached.plan_queued ?? reached.queuing })
}

export function applyStatus(status: RunStatus, reached: Timestamps): StageStatus {
  if (reached.applied !== undefined) return "finished"
  return unfinished(status, { began: reached.applying, queued: reached.apply_queued ?? reached.queuing_apply })
}

function unfinished(
  status: RunStatus,
  { began, queued }: { readonly began: number | undefined; readonly queued: number | undefined },
): StageStatus {
  if (status === "errored") return began === undefined ? "unreachable" : "errored"
  if (status === "canceled" || status === "force_canceled") return began === undefined ? "unreachable" : "canceled"
  if (isFinal(status)) return "unreachable"
  if (began !== undefined) return "running"
  return queued === undefined ? "pending" : "queued"
}
