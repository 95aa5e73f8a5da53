import type { Page, PageRequest } from "../../core/page.ts"
import type { RunCapacity, RunComment, RunEvent, RunInput, RunStep, RunView } from "./run.ts"
import type { OrganizationRunQuery, RunQuery } from "./run-repository.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

/** Operations on runs. Runs are records: executors move them on with `advance`. */
export interface Runs {
  create(ref: WorkspaceRef, input: RunInput): Promise<RunView>
  get(id: string): Promise<RunView>
  getByPlan(planId: string): Promise<RunView>
  getByApply(applyId: string): Promise<RunView>
  /**
   * Returns Terraform's JSON rendering of a plan. It can contain secrets, as states can. So only administrators of the workspace can read
   * it, and the organization's token cannot. Returns undefined until the plan has ended. Throws `not-found` if the executor uploaded none.
   */
  planJson(planId: string): Promise<Uint8Array | undefined>
  /**
   * Returns the JSON rendering without sensitive values, for callers that may read the run. Returns undefined until the plan has ended.
   * Throws `not-found` if the executor uploaded none.
   */
  redactedPlanJson(planId: string): Promise<Uint8Array | undefined>
  list(ref: WorkspaceRef, query: RunQuery, page: PageRequest): Promise<Page<RunView>>
  /** Lists runs of every workspace that the caller can see. */
  listForOrganization(organization: string, query: OrganizationRunQuery, page: PageRequest): Promise<Page<RunView>>
  /** Lists runs that are being executed or wait for an executor, the longest waiting first, of every workspace that the caller can see. */
  queue(organization: string, page: PageRequest): Promise<Page<RunView>>
  /** Counts the runs that `queue` lists. */
  capacity(organization: string): Promise<RunCapacity>
  /** These four methods throw `conflict` in a status that does not allow them. A comment is stored with the run. */
  apply(id: string, comment?: string): Promise<void>
  discard(id: string, comment?: string): Promise<void>
  /**
   * Cancels a run. If a live executor is executing it, the run continues and keeps the workspace's lock. It ends when the executor reports
   * that it has stopped, or is silent for its lease. Any other run ends at once.
   */
  cancel(id: string, comment?: string): Promise<void>
  /** Cancels a run without waiting for its executor. If a live executor is executing it, this is possible one minute after `cancel`. */
  forceCancel(id: string, comment?: string): Promise<void>
  /**
   * Discards or cancels the runs that block a pending run, so that it is next. Throws `forbidden` if the run is not pending or not blocked,
   * and `conflict` if a holder other than a run has the lock.
   */
  forceExecute(id: string): Promise<void>
  addComment(id: string, body: string): Promise<RunComment>
  /** Lists the oldest first. */
  comments(id: string, page: PageRequest): Promise<Page<RunComment>>
  comment(id: string): Promise<RunComment>
  /** Lists all events of a run in their order. */
  events(id: string): Promise<readonly RunEvent[]>
  event(id: string): Promise<RunEvent>
  /** Moves the run to another status. Throws `conflict` if it cannot follow the present one. Locks and unlocks the workspace as needed. */
  advance(id: string, step: RunStep): Promise<RunView>
}
