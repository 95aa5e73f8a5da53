import type { ConfigurationVersionId, OrganizationId, RunId, WorkspaceId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import type { RunStatus } from "./run-status.ts"
import type { Actor } from "./workspace.ts"

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
  readonly hasChanges: boolean
  readonly createdAt: Instant
  readonly createdBy: Actor | null
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
}

export interface RunInput {
  readonly message: string | null
  readonly isDestroy: boolean
  /** Null takes the workspace's own setting. */
  readonly autoApply: boolean | null
  readonly planOnly: boolean
  readonly refreshOnly: boolean
  /** Null takes the workspace's current configuration version. */
  readonly configurationVersionId: string | null
}

/** What carries a run to its next status. */
export interface RunStep {
  readonly status: RunStatus
  /** Said when the plan ends; true unless the run is planned and finished. */
  readonly hasChanges: boolean | null
}

export interface RunPermissions {
  readonly canApply: boolean
  readonly canCancel: boolean
  readonly canDiscard: boolean
  readonly canForceCancel: boolean
}

export interface RunView extends Omit<
  Run,
  "organizationId" | "planDurationMs" | "applyDurationMs" | "policyFailed" | "finishedAt"
> {
  readonly permissions: RunPermissions
}
