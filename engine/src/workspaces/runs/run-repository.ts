import type { ConfigurationVersionId, OrganizationId, RunId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"
import type { ConfigurationVersion } from "../configuration-versions/configuration-version.ts"
import type { Visibility } from "../workspace/workspace-query.ts"
import type { RunStatus } from "./run-status.ts"
import type { Run, RunCapacity, RunComment, RunOperation } from "./run.ts"

/** All combine with AND. */
export interface RunQuery {
  /** At least one. */
  readonly statuses?: readonly [RunStatus, ...RunStatus[]]
  readonly sources?: readonly string[]
  readonly operations?: readonly RunOperation[]
  readonly unfinished?: boolean
  /** Who the VCS named with the configuration. */
  readonly user?: string
  /** The commit that the VCS named with the configuration. */
  readonly commit?: string
  /** Part of the message, or all of an id, user or commit; of no account beside one of those two. */
  readonly text?: string
}

export interface OrganizationRunQuery extends RunQuery {
  readonly workspaceNames?: readonly string[]
  readonly agentPoolNames?: readonly string[]
}

/** Where an executor looks for work. */
export interface ClaimScope {
  readonly organizationId: OrganizationId
  readonly workspaceId?: WorkspaceId
  /** Runs that agents of this pool execute; without it, those of the execution mode `remote`. */
  readonly agentPoolId?: string
  /** Narrows it to what the caller sees. */
  readonly visibility?: Visibility
}

export interface ClaimsToEnd {
  readonly now: Instant
  /** No clock that agrees with `now` lets a claim end later. */
  readonly latest: Instant
  readonly limit: number
}

export interface RunRepository {
  find(id: string): Promise<Run | undefined>
  findMany(ids: readonly string[]): Promise<readonly Run[]>
  findByPlan(planId: string): Promise<Run | undefined>
  findByApply(applyId: string): Promise<Run | undefined>
  findByClaim(claimId: string): Promise<Run | undefined>
  /** Newest first. */
  list(workspaceId: WorkspaceId, query: RunQuery, page: PageRequest): Promise<Page<Run>>
  /** Of all workspaces that may be shown, newest first. */
  listVisible(visibility: Visibility, query: OrganizationRunQuery, page: PageRequest): Promise<Page<Run>>
  /** Of all workspaces that may be shown, at work or waiting for an executor, oldest first. */
  queue(visibility: Visibility, page: PageRequest): Promise<Page<Run>>
  capacity(visibility: Visibility): Promise<RunCapacity>
  /** That nobody has claimed and that could begin now, the longest waiting first. */
  claimable(scope: ClaimScope, now: Instant, limit: number): Promise<readonly Run[]>
  /** Unfinished runs whose claim has ended, or ends after `latest`. */
  claimsToEnd(asked: ClaimsToEnd): Promise<readonly RunId[]>
  /** Whether one that has not ended has it. */
  needsConfiguration(id: ConfigurationVersionId): Promise<boolean>
  /** Whether any has it, also one that has ended. */
  usesConfiguration(version: Pick<ConfigurationVersion, "id" | "workspaceId">): Promise<boolean>
  /** Whether the workspace has ever had one. */
  hasAny(workspaceId: WorkspaceId): Promise<boolean>
  /** The last to error or be applied, newest first. */
  measured(workspaceId: WorkspaceId, count: number): Promise<readonly Run[]>
  /** Unfinished runs of the workspace that were queued before this one and could keep it waiting, oldest first. */
  before(run: Run): Promise<readonly Run[]>
  findComment(id: string): Promise<RunComment | undefined>
  /** Oldest first. */
  comments(runId: RunId, page: PageRequest): Promise<Page<RunComment>>
  insertComment(comment: RunComment): Promise<void>
  insert(run: Run): Promise<void>
  /** Also what its workspace repeats of it, if it is the current run. */
  save(run: Run): Promise<void>
  makeCurrent(run: Run): Promise<void>
}

/** The halves of a run that say something while they are at work. */
export const runStages = ["plan", "apply"] as const
export type RunStage = (typeof runStages)[number]

/** What a plan leaves behind: itself, for whoever applies it, and the tool's rendering for people and programs. */
export const runDocuments = ["plan-file", "json-output"] as const
export type RunDocument = (typeof runDocuments)[number]

/** What executors hand in beside statuses and counts. */
export interface RunRecordRepository {
  /** In bytes. */
  logSize(runId: RunId, stage: RunStage): Promise<number>
  /** At most `size` bytes from `start`; fewer where the log ends. */
  readLog(runId: RunId, stage: RunStage, start: number, size: number): Promise<Uint8Array>
  /** Behind what is there. */
  appendLog(runId: RunId, stage: RunStage, bytes: Uint8Array): Promise<void>
  /** Sealed chunks in order; none where it was never handed in. */
  document(runId: RunId, document: RunDocument): Promise<readonly Uint8Array[]>
  /** In the place of what was there. */
  saveDocument(runId: RunId, document: RunDocument, chunks: readonly Uint8Array[]): Promise<void>
}

/** Compresses and seals a document in chunks, and back, outside of transactions. */
export interface RunArchive {
  pack(runId: RunId, document: RunDocument, bytes: Uint8Array): readonly Uint8Array[]
  unpack(runId: RunId, document: RunDocument, chunks: readonly Uint8Array[]): Uint8Array
}
