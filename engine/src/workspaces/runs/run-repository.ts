import type { ConfigurationVersionId, OrganizationId, RunId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"
import type { ConfigurationVersion } from "../configuration-versions/configuration-version.ts"
import type { Visibility } from "../workspace/workspace-query.ts"
import type { RunStatus } from "./run-status.ts"
import type { Run, RunCapacity, RunComment, RunEvent, RunOperation } from "./run.ts"

/** Filters of a run list. All combine with AND. */
export interface RunQuery {
  /** Must not be empty. */
  readonly statuses?: readonly [RunStatus, ...RunStatus[]]
  readonly sources?: readonly string[]
  readonly operations?: readonly RunOperation[]
  readonly unfinished?: boolean
  /** VCS user of the configuration. */
  readonly user?: string
  /** VCS commit of the configuration. */
  readonly commit?: string
  /** Substring of the message, or a whole id, user or commit. Ignored if `user` or `commit` is given. */
  readonly text?: string
}

export interface OrganizationRunQuery extends RunQuery {
  readonly workspaceNames?: readonly string[]
  readonly agentPoolNames?: readonly string[]
}

/** Scope of an executor's search for a run. */
export interface ClaimScope {
  readonly organizationId: OrganizationId
  readonly workspaceId?: WorkspaceId
  /** Limits to runs that agents of this pool execute, of the execution modes `remote` and `agent`. Without it, to `remote`. */
  readonly agentPoolId?: string
  /** Limits to workspaces that the caller can see. */
  readonly visibility?: Visibility
}

export interface ClaimsToEnd {
  readonly now: Instant
  /** Latest plausible expiry. A claim that expires later was made by a server whose clock was ahead. */
  readonly latest: Instant
  readonly limit: number
}

export interface WaitQuery {
  readonly now: Instant
  /** A run is unserved if it has waited since this instant, and none of its executors was seen since then. */
  readonly since: Instant
  /** Limits the search to one run. */
  readonly id?: RunId
  readonly limit: number
}

/** Run whose waiting reason is out of date. */
export interface ChangedWait {
  readonly id: RunId
  /** True if none of its executors was seen, and the run has no reason yet. False if the reason no longer holds. */
  readonly isUnserved: boolean
}

export interface RunRepository {
  find(id: string): Promise<Run | undefined>
  findMany(ids: readonly string[]): Promise<readonly Run[]>
  findByPlan(planId: string): Promise<Run | undefined>
  findByApply(applyId: string): Promise<Run | undefined>
  findByClaim(claimId: string): Promise<Run | undefined>
  /** Lists the newest first. */
  list(workspaceId: WorkspaceId, query: RunQuery, page: PageRequest): Promise<Page<Run>>
  /** Lists runs of all visible workspaces, the newest first. */
  listVisible(visibility: Visibility, query: OrganizationRunQuery, page: PageRequest): Promise<Page<Run>>
  /** Lists runs of all visible workspaces that are being executed or wait for an executor, the oldest first. */
  queue(visibility: Visibility, page: PageRequest): Promise<Page<Run>>
  capacity(visibility: Visibility): Promise<RunCapacity>
  /** Returns unclaimed runs that could begin now, the longest waiting first. */
  claimable(scope: ClaimScope, now: Instant, limit: number): Promise<readonly Run[]>
  /** Returns unfinished runs whose claim has expired, or expires after `latest`. */
  claimsToEnd(query: ClaimsToEnd): Promise<readonly RunId[]>
  /** Returns unclaimed runs whose waiting reason must be set or removed, the longest waiting first. */
  changedWaits(query: WaitQuery): Promise<readonly ChangedWait[]>
  /** Returns whether an unfinished run uses the configuration version. */
  needsConfiguration(id: ConfigurationVersionId): Promise<boolean>
  /** Returns whether any run uses the configuration version, finished or not. */
  usesConfiguration(version: Pick<ConfigurationVersion, "id" | "workspaceId">): Promise<boolean>
  /** Returns whether the workspace ever had a run. */
  hasAny(workspaceId: WorkspaceId): Promise<boolean>
  /** Returns the last runs that errored or were applied, the newest first. */
  measured(workspaceId: WorkspaceId, count: number): Promise<readonly Run[]>
  /** Returns unfinished runs of the workspace that were queued earlier and could block this one, the oldest first. */
  before(run: Run): Promise<readonly Run[]>
  findComment(id: string): Promise<RunComment | undefined>
  /** Lists the oldest first. */
  comments(runId: RunId, page: PageRequest): Promise<Page<RunComment>>
  insertComment(comment: RunComment): Promise<void>
  findEvent(id: string): Promise<RunEvent | undefined>
  /** Lists all events of a run in their order. */
  events(runId: RunId): Promise<readonly RunEvent[]>
  /** Stores an event with its number, which orders the events of a run. */
  insertEvent(event: RunEvent, number: number): Promise<void>
  insert(run: Run): Promise<void>
  /** Saves the run. If it is the current run, also updates the copies of its members in the workspace. */
  save(run: Run): Promise<void>
  makeCurrent(run: Run): Promise<void>
}

/** Stages of a run that write a log. */
export const runStages = ["plan", "apply"] as const
export type RunStage = (typeof runStages)[number]

/** Documents of a plan: the plan file, which the apply needs, Terraform's JSON rendering, and the rendering without sensitive values. */
export const runDocuments = ["plan-file", "json-output", "json-output-redacted"] as const
export type RunDocument = (typeof runDocuments)[number]

/** Logs and documents that executors upload. */
export interface RunRecordRepository {
  /** Returns the size in bytes. */
  logSize(runId: RunId, stage: RunStage): Promise<number>
  /** Returns at most `size` bytes from `start`, fewer at the end of the log. */
  readLog(runId: RunId, stage: RunStage, start: number, size: number): Promise<Uint8Array>
  /** Appends to the end of the log. */
  appendLog(runId: RunId, stage: RunStage, bytes: Uint8Array): Promise<void>
  /** Returns sealed chunks in order. Empty if the document was not uploaded. */
  document(runId: RunId, document: RunDocument): Promise<readonly Uint8Array[]>
  /** Saves a document, and replaces the earlier one. */
  saveDocument(runId: RunId, document: RunDocument, chunks: readonly Uint8Array[]): Promise<void>
  deleteDocuments(runId: RunId): Promise<void>
}

/** Operations that compress, seal and open documents in chunks, outside of transactions. */
export interface RunArchive {
  pack(runId: RunId, document: RunDocument, bytes: Uint8Array): readonly Uint8Array[]
  unpack(runId: RunId, document: RunDocument, chunks: readonly Uint8Array[]): Uint8Array
}
