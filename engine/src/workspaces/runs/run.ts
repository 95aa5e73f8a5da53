import type { ConfigurationVersionId, OrganizationId, RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { type RunStatus, runStatuses } from "./run-status.ts"
import type { Actor } from "../workspace/workspace.ts"

export interface Run {
  readonly id: RunId
  readonly workspaceId: WorkspaceId
  readonly organizationId: OrganizationId
  readonly status: RunStatus
  readonly message: string
  readonly source: string
  readonly isDestroy: boolean
  readonly autoApply: boolean
  /** Speculative: the run never applies, holds no lock and is never the current run. */
  readonly planOnly: boolean
  readonly refreshOnly: boolean
  /** The plan refreshes the state before it compares. */
  readonly refresh: boolean
  /** The run plans without the workspace's lock. It becomes the current run only after it is confirmed. */
  readonly savePlan: boolean
  /** A plan without changes waits for confirmation like any other. */
  readonly allowEmptyApply: boolean
  readonly allowConfigGeneration: boolean
  /** Version for this run, which must never apply. Null means the workspace's. */
  readonly engineVersion: string | null
  readonly targetAddrs: readonly string[]
  readonly replaceAddrs: readonly string[]
  readonly variables: readonly RunVariable[]
  readonly hasChanges: boolean
  readonly planCounts: ResourceChanges | null
  readonly applyCounts: ResourceChanges | null
  readonly createdAt: Instant
  readonly createdBy: Actor | null
  /** Null until the run is confirmed, and if it was confirmed automatically. */
  readonly confirmedBy: Actor | null
  /** Instant at which each status was reached. */
  readonly statusTimestamps: Readonly<Partial<Record<RunStatus, Instant>>>
  readonly configurationVersionId: ConfigurationVersionId | null
  readonly planId: string
  readonly applyId: string
  readonly planDurationMs: number | null
  readonly applyDurationMs: number | null
  /** True if a policy failed, even if it was overridden. */
  readonly policyFailed: boolean
  readonly finishedAt: Instant | null
  /** Claim of the present executor, or of the last one. */
  readonly claim: RunClaim | null
  /** Instant at which the executor was asked to stop. Null if no cancellation was requested while it was executing. */
  readonly cancelRequestedAt: Instant | null
  /** Current state version of the workspace when the plan began, or before that, when the run was queued. */
  readonly inputStateVersionId: StateVersionId | null
  /** Oldest first. */
  readonly commentIds: readonly string[]
  /** In their order. Runs that are older than run events have none from that time. */
  readonly eventIds: readonly string[]
  /** Sentence that names the missing executor. Null unless the run waits for one and none was seen for some time. */
  readonly waitingReason: string | null
  /** Instant at which the log and the events of the run recorded the present wait. Null before that. */
  readonly waitRecordedAt: Instant | null
}

export interface RunComment {
  readonly id: string
  readonly runId: RunId
  readonly body: string
  readonly createdAt: Instant
  readonly createdBy: Actor | null
}

/**
 * Actions of run events. `queued` is the creation of the run. A status is the action that the run reached it. `cancel_requested` asks the
 * executor to stop. After `executor_lost` another executor starts the plan again. `executor_missing` means that no executor of a waiting run
 * was seen for some time.
 */
export const runActions = [
  "queued",
  ...runStatuses.filter((status) => status !== "pending"),
  "commented",
  "cancel_requested",
  "force_executed",
  "executor_lost",
  "executor_missing",
] as const
export type RunAction = (typeof runActions)[number]

export interface RunEvent {
  readonly id: string
  readonly runId: RunId
  readonly action: RunAction
  /** Empty if the action needs no explanation. */
  readonly description: string
  readonly createdAt: Instant
  /** Null for the server itself, and for agents. */
  readonly actor: Actor | null
  /** Comment of the action `commented`. */
  readonly commentId: string | null
}

/** Variable of one run. It takes precedence over the workspace's own. The value is an HCL expression. */
export interface RunVariable {
  readonly key: string
  readonly value: string
}

/** Number of resources that a plan would change, or an apply changed, by kind of change. */
export interface ResourceChanges {
  readonly additions: number
  readonly changes: number
  readonly destructions: number
  readonly imports: number
}

/** Holder of a claim. Users and teams claim runs that they may apply; agent pools claim runs of the workspaces that they execute. */
export interface RunExecutor {
  readonly kind: "users" | "teams" | "agent-pools"
  readonly id: string
}

export interface RunClaim {
  readonly id: string
  readonly by: RunExecutor
  /** Name that the executor chose. */
  readonly name: string
  readonly claimedAt: Instant
  /** Each call of the executor moves it. */
  readonly expiresAt: Instant
  /** Duration of the lease from each call. */
  readonly leaseMs: number
}

/** Kinds of runs that lists can be filtered by. */
export const runOperations = [
  "plan_and_apply",
  "plan_only",
  "refresh_only",
  "destroy",
  "empty_apply",
  "save_plan",
] as const
export type RunOperation = (typeof runOperations)[number]

/** Source of automatic destroy runs. */
export const lifecycleSource = "tfe-infrastructure-lifecycle"
export type RunSource = "tfe-api" | "tfe-configuration-version" | typeof lifecycleSource

export interface RunInput {
  readonly message: string | null
  readonly isDestroy: boolean
  /** Null means the workspace's setting. */
  readonly autoApply: boolean | null
  readonly planOnly: boolean
  readonly refreshOnly: boolean
  /** The following members can be omitted. Their defaults are false, empty, and true for `refresh`. */
  readonly refresh?: boolean
  readonly savePlan?: boolean
  readonly allowEmptyApply?: boolean
  readonly allowConfigGeneration?: boolean
  readonly engineVersion?: string | null
  readonly targetAddrs?: readonly string[]
  readonly replaceAddrs?: readonly string[]
  readonly variables?: readonly RunVariable[]
  /** Null means the workspace's current configuration version. */
  readonly configurationVersionId: string | null
}

/** Change of a run's status. */
export interface RunStep {
  readonly status: RunStatus
  /** Reported when the plan ends. Default: true unless the run is planned and finished. */
  readonly hasChanges: boolean | null
  /** Reported when the plan or the apply ends. */
  readonly counts?: ResourceChanges | null
  /** Cost estimation, policies or tasks follow, so nothing is decided automatically yet. */
  readonly checksFollow?: boolean
}

/** Number of runs of an organization that wait for an executor, and of those that an executor is executing. */
export interface RunCapacity {
  readonly pending: number
  readonly running: number
}

export interface RunPermissions {
  readonly canApply: boolean
  readonly canCancel: boolean
  readonly canDiscard: boolean
  readonly canForceCancel: boolean
  readonly canForceExecute: boolean
}

export interface RunView extends Omit<
  Run,
  "organizationId" | "planDurationMs" | "applyDurationMs" | "policyFailed" | "finishedAt" | "claim" | "waitRecordedAt"
> {
  /** Present executor, or null. */
  readonly executor: Pick<RunClaim, "name" | "expiresAt"> | null
  readonly permissions: RunPermissions
  /** Number of runs before this one in its organization's queue. Present only in the queue. */
  readonly positionInQueue?: number
}
