// Statuses of a run and their transitions, as in HCP Terraform (docs/compatibility.md, "Runs"). Optional stages (fetching, tasks, cost
// estimation, policies) can be skipped; every run that has not ended can fail or be stopped.

/** In the order a run meets them. */
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

/** Where a run may go next, beside failing or being stopped. */
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

/** Nothing leads out of it. */
export const isFinal = (status: RunStatus): boolean => onward[status].length === 0

export const mayBecome = (from: RunStatus, to: RunStatus): boolean =>
  !isFinal(from) && (onward[from].includes(to) || (endings as readonly RunStatus[]).includes(to))

/** Returns whether runs of this status count for the metrics of a workspace. */
export const isMeasured = (status: RunStatus): boolean => status === "applied" || status === "errored"

/** Statuses that only a run which may apply can have. */
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

/** A run at work holds the workspace's lock; one that waits, was saved or has ended does not. */
export const holdsLock = (status: RunStatus): boolean =>
  status !== "pending" && status !== "planned_and_saved" && !isFinal(status)

/** Waiting for somebody's word. */
export const isConfirmable = (status: RunStatus): boolean => mayBecome(status, "confirmed")
export const isDiscardable = (status: RunStatus): boolean => mayBecome(status, "discarded")
/** Something goes on, or is to: clients that are interrupted while their run waits for its turn cancel it. */
export const isCancelable = (status: RunStatus): boolean => !isFinal(status) && !isConfirmable(status)
/** Something has begun that might not stop by itself. */
export const isForceCancelable = (status: RunStatus): boolean => holdsLock(status) && isCancelable(status)

/** Something is going on that ends with the next status, whichever that is. */
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

/** Waiting for an executor to begin its plan, or its apply. */
const waitingForPlan = ["pending", "fetching_completed", "queuing", "plan_queued"] as const
const waitingForApply = ["confirmed", "queuing_apply", "apply_queued"] as const
export const claimableStatuses: readonly RunStatus[] = [...waitingForPlan, ...waitingForApply]

/** At work, or waiting for an executor; not for somebody's word. */
export const queueStatuses: readonly RunStatus[] = runStatuses.filter(
  (status) => !isFinal(status) && !isConfirmable(status) && status !== "policy_override",
)

/** Nothing has begun that an executor could leave half done: another one may take it over. */
export const isUntouched = (status: RunStatus): boolean => claimableStatuses.includes(status)

/** Where whoever claims a waiting run takes it. */
export const claimedStatus = (status: RunStatus): "plan_queued" | "apply_queued" =>
  (waitingForApply as readonly RunStatus[]).includes(status) ? "apply_queued" : "plan_queued"

/** Where it is decided what becomes of a plan, unless checks follow. */
const decidedStatuses: readonly RunStatus[] = ["planned", "cost_estimated", "policy_checked", "post_plan_completed"]
export const isDecided = (status: RunStatus): boolean => decidedStatuses.includes(status)

/** How the plan and the apply of a run stand, as their own documents say it. */
export const stageStatuses = ["pending", "queued", "running", "finished", "errored", "canceled", "unreachable"] as const
export type StageStatus = (typeof stageStatuses)[number]

/** Nothing more comes of the plan, or of the apply. */
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
