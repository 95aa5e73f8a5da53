import type { ConfigurationVersionId, OrganizationId, RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { RunStatus } from "./run-status.ts"
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
  /** Speculative: it never applies, holds no lock and is never the current run. */
  readonly planOnly: boolean
  readonly refreshOnly: boolean
  /** Whether the plan looks at what there is before it compares. */
  readonly refresh: boolean
  /** It plans without the workspace's lock, and becomes the current run only when somebody confirms it. */
  readonly savePlan: boolean
  /** A plan without changes waits for a word like any other. */
  readonly allowEmptyApply: boolean
  readonly allowConfigGeneration: boolean
  /** For this run alone, and only where it never applies; null takes the workspace's. */
  readonly engineVersion: string | null
  readonly targetAddrs: readonly string[]
  readonly replaceAddrs: readonly string[]
  readonly variables: readonly RunVariable[]
  readonly hasChanges: boolean
  readonly planCounts: ResourceChanges | null
  readonly applyCounts: ResourceChanges | null
  readonly createdAt: Instant
  readonly createdBy: Actor | null
  /** Null until somebody does; nobody has where it is confirmed by itself. */
  readonly confirmedBy: Actor | null
  /** When each status was reached. */
  readonly statusTimestamps: Readonly<Partial<Record<RunStatus, Instant>>>
  readonly configurationVersionId: ConfigurationVersionId | null
  readonly planId: string
  readonly applyId: string
  readonly planDurationMs: number | null
  readonly applyDurationMs: number | null
  /** A policy said no, whether or not somebody overrode it. */
  readonly policyFailed: boolean
  readonly finishedAt: Instant | null
  /** By the executor that is at work on it, or was last. */
  readonly claim: RunClaim | null
  /** Its executor was asked then to stop what it is at; null where nobody has asked, or nothing was going on. */
  readonly cancelRequestedAt: Instant | null
  /** The workspace's current state when the plan began, or before that when the run was queued. */
  readonly inputStateVersionId: StateVersionId | null
  /** Oldest first. */
  readonly commentIds: readonly string[]
}

export interface RunComment {
  readonly id: string
  readonly runId: RunId
  readonly body: string
  readonly createdAt: Instant
  readonly createdBy: Actor | null
}

/** Counts before the workspace's own variables; the value is written as in the configuration language. */
export interface RunVariable {
  readonly key: string
  readonly value: string
}

/** How many resources a plan wants to change in which way, or an apply has. */
export interface ResourceChanges {
  readonly additions: number
  readonly changes: number
  readonly destructions: number
  readonly imports: number
}

/** Who may claim runs: users and teams for what they may apply, agent pools for the workspaces they execute. */
export interface RunExecutor {
  readonly kind: "users" | "teams" | "agent-pools"
  readonly id: string
}

export interface RunClaim {
  readonly id: string
  readonly by: RunExecutor
  /** As the executor calls itself. */
  readonly name: string
  readonly claimedAt: Instant
  /** Unless it says before that it is still there. */
  readonly expiresAt: Instant
  /** How much each sign of life adds. */
  readonly leaseMs: number
}

/** What kind of run it is, as lists filter it. */
export const runOperations = [
  "plan_and_apply",
  "plan_only",
  "refresh_only",
  "destroy",
  "empty_apply",
  "save_plan",
] as const
export type RunOperation = (typeof runOperations)[number]

/** Of the runs that destroy what has had its time. */
export const lifecycleSource = "tfe-infrastructure-lifecycle"
export type RunSource = "tfe-api" | "tfe-configuration-version" | typeof lifecycleSource

export interface RunInput {
  readonly message: string | null
  readonly isDestroy: boolean
  /** Null takes the workspace's own setting. */
  readonly autoApply: boolean | null
  readonly planOnly: boolean
  readonly refreshOnly: boolean
  /** What follows may be left out: false, nothing, and for `refresh` true. */
  readonly refresh?: boolean
  readonly savePlan?: boolean
  readonly allowEmptyApply?: boolean
  readonly allowConfigGeneration?: boolean
  readonly engineVersion?: string | null
  readonly targetAddrs?: readonly string[]
  readonly replaceAddrs?: readonly string[]
  readonly variables?: readonly RunVariable[]
  /** Null takes the workspace's current configuration version. */
  readonly configurationVersionId: string | null
}

/** What carries a run to its next status. */
export interface RunStep {
  readonly status: RunStatus
  /** Said when the plan ends; true unless the run is planned and finished. */
  readonly hasChanges: boolean | null
  /** Said when the plan or the apply ends. */
  readonly counts?: ResourceChanges | null
  /** Estimates, policies or tasks are still to come, so nothing is decided by itself yet. */
  readonly checksFollow?: boolean
}

/** How many runs of an organization wait for an executor, and how many are at work. */
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
  "organizationId" | "planDurationMs" | "applyDurationMs" | "policyFailed" | "finishedAt" | "claim"
> {
  /** While an executor is at work on it. */
  readonly executor: Pick<RunClaim, "name" | "expiresAt"> | null
  readonly permissions: RunPermissions
  /** In its organization's queue, where that is asked for: how many runs are before it. */
  readonly positionInQueue?: number
}
