import type { OrganizationId, RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { ResourceCounts, StateOutput, StateResource } from "./state-file.ts"
import type { Actor } from "../workspace/workspace.ts"

/**
 * Pending until its state has arrived; discarded when a newer one or a force-unlock came first, or nothing came in time. What was
 * finalized can lose its backing data, its documents, first so that they can be brought back.
 */
export const stateVersionStatuses = [
  "pending",
  "finalized",
  "discarded",
  "backing_data_soft_deleted",
  "backing_data_permanently_deleted",
] as const
export type StateVersionStatus = (typeof stateVersionStatuses)[number]

/** The documents of a state version; `json-state` is the tool's own rendering for people and programs. */
export const stateDocuments = ["state", "json-state"] as const
export type StateDocument = (typeof stateDocuments)[number]

export interface StateVersion {
  readonly id: StateVersionId
  readonly workspaceId: WorkspaceId
  readonly organizationId: OrganizationId
  readonly serial: number
  readonly lineage: string | null
  /** Of the raw state, lower-case hex. */
  readonly md5: string
  readonly status: StateVersionStatus
  /** Written during a long apply; becomes current when the workspace is unlocked (docs/decisions/state-at-unlock.md). */
  readonly intermediate: boolean
  /** Under which of its workspace's locks it was made. */
  readonly lockNumber: number
  /** No two versions of a workspace share it: their order is that of their creation, on whichever replica. */
  readonly createdAt: Instant
  readonly createdBy: Actor | null
  readonly runId: RunId | null
  /** What the state says about itself; null until it has arrived. */
  readonly summary: StateSummary | null
  readonly vcsCommitSha: string | null
  readonly vcsCommitUrl: string | null
}

export interface StateSummary {
  readonly size: number
  readonly formatVersion: number
  readonly terraformVersion: string | null
  /** False until what follows has been read, and with it the outputs; of a small state that is never seen. */
  readonly resourcesProcessed: boolean
  readonly resourceCount: number
  /** Of a large state only the first (`resourcesListedMaximum`). */
  readonly resources: readonly StateResource[]
  readonly modules: ResourceCounts
  readonly providers: ResourceCounts
}

export interface StateVersionOutput extends StateOutput {
  readonly id: string
}

/** What a caller is shown. */
export interface StateVersionView extends Omit<StateVersion, "organizationId" | "lockNumber"> {
  readonly outputIds: readonly string[]
  readonly hasJsonState: boolean
  /** While pending: the credentials that the upload addresses carry. */
  readonly uploads: Readonly<Record<StateDocument, string>> | null
  /** Once it is there: those that the download addresses carry, good for an hour. Null, too, in what comes along with a workspace. */
  readonly downloads: Readonly<Record<StateDocument, string | null>> | null
}

export interface StateVersionInput {
  readonly serial: number
  readonly md5: string
  readonly lineage: string | null
  readonly force: boolean
  readonly intermediate: boolean
  readonly runId: string | null
  /** Absent in two-step creation: the bytes follow as an upload. */
  readonly state: Uint8Array | null
  readonly jsonState: Uint8Array | null
}
