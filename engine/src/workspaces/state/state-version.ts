import type { OrganizationId, RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { ResourceCounts, StateOutput, StateResource } from "./state-file.ts"
import type { Actor } from "../workspace/workspace.ts"

/**
 * Status of a state version. It is pending until its state is uploaded. It is discarded if a newer version or a force-unlock precedes the
 * upload, or the upload comes too late. A finalized version can lose its backing data (its documents), first reversibly, then permanently.
 */
export const stateVersionStatuses = [
  "pending",
  "finalized",
  "discarded",
  "backing_data_soft_deleted",
  "backing_data_permanently_deleted",
] as const
export type StateVersionStatus = (typeof stateVersionStatuses)[number]

/** Documents of a state version. `json-state` is Terraform's JSON rendering. */
export const stateDocuments = ["state", "json-state"] as const
export type StateDocument = (typeof stateDocuments)[number]

export interface StateVersion {
  readonly id: StateVersionId
  readonly workspaceId: WorkspaceId
  readonly organizationId: OrganizationId
  readonly serial: number
  readonly lineage: string | null
  /** MD5 of the raw state, lower-case hex. */
  readonly md5: string
  readonly status: StateVersionStatus
  /**
   * True if written during a long apply. The version becomes current when the workspace is unlocked (docs/decisions/state-at-unlock.md).
   */
  readonly intermediate: boolean
  /** Number of the lock under which the version was made. */
  readonly lockNumber: number
  /** Unique within the workspace, so that versions sort by creation, also across replicas. */
  readonly createdAt: Instant
  readonly createdBy: Actor | null
  readonly runId: RunId | null
  /** Metadata read from the state. Null until it is uploaded. */
  readonly summary: StateSummary | null
  readonly vcsCommitSha: string | null
  readonly vcsCommitUrl: string | null
}

export interface StateSummary {
  readonly size: number
  readonly formatVersion: number
  readonly terraformVersion: string | null
  /**
   * False until the following members and the outputs are read. Small states are read before the response, so clients never see false for
   * them.
   */
  readonly resourcesProcessed: boolean
  readonly resourceCount: number
  /** A large state lists only the first ones (`maxResourcesListed`). */
  readonly resources: readonly StateResource[]
  readonly modules: ResourceCounts
  readonly providers: ResourceCounts
}

export interface StateVersionOutput extends StateOutput {
  readonly id: string
}

/** State version as callers get it. */
export interface StateVersionView extends Omit<StateVersion, "organizationId" | "lockNumber"> {
  readonly outputIds: readonly string[]
  readonly hasJsonState: boolean
  /** Credentials in the upload URLs, by document. Null unless the version is pending. */
  readonly uploads: Readonly<Record<StateDocument, string>> | null
  /**
   * Credentials in the download URLs, by document, valid for an hour. Null until the document exists, and in versions that are included
   * with a workspace.
   */
  readonly downloads: Readonly<Record<StateDocument, string | null>> | null
}

export interface StateVersionInput {
  readonly serial: number
  readonly md5: string
  readonly lineage: string | null
  readonly force: boolean
  readonly intermediate: boolean
  readonly runId: string | null
  /** Null in two-step creation, where the bytes are uploaded separately. */
  readonly state: Uint8Array | null
  readonly jsonState: Uint8Array | null
}
