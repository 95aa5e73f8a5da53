import type { Page, PageRequest } from "../../core/page.ts"
import type { RunCapacity, RunComment, RunInput, RunStep, RunView } from "./run.ts"
import type { OrganizationRunQuery, RunQuery } from "./run-repository.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

/** Runs as records: whoever executes them moves them along with `advance`. */
export interface Runs {
  create(ref: WorkspaceRef, input: RunInput): Promise<RunView>
  get(id: string): Promise<RunView>
  getByPlan(planId: string): Promise<RunView>
  getByApply(applyId: string): Promise<RunView>
  /**
   * The tool's rendering of a plan, which holds secrets as states do: for administrators of the workspace, and not for the
   * organization's token. Undefined until the plan has ended; not found where its executor handed none in.
   */
  planJson(planId: string): Promise<Uint8Array | undefined>
  list(ref: WorkspaceRef, query: RunQuery, page: PageRequest): Promise<Page<RunView>>
  /** Of every workspace that the caller sees. */
  listForOrganization(organization: string, query: OrganizationRunQuery, page: PageRequest): Promise<Page<RunView>>
  /** Those that are at work or wait for an executor, the longest waiting first; of every workspace that the caller sees. */
  queue(organization: string, page: PageRequest): Promise<Page<RunView>>
  /** Of the same runs. */
  capacity(organization: string): Promise<RunCapacity>
  /** These four are refused with `conflict` in a status that does not allow them; a comment is kept with the run. */
  apply(id: string, comment?: string): Promise<void>
  discard(id: string, comment?: string): Promise<void>
  /**
   * One that is at work at a living executor goes on until that has stopped and says so, or has been silent for its lease, and
   * keeps the workspace's lock until then; any other ends at once.
   */
  cancel(id: string, comment?: string): Promise<void>
  /** One at work at a living executor only a minute after it was canceled. */
  forceCancel(id: string, comment?: string): Promise<void>
  /**
   * Discards or cancels the runs that keep a pending run waiting, so that it is next. Refused with `forbidden` for a run that is
   * not pending or waits for none, and with `conflict` where a holder other than a run has the lock.
   */
  forceExecute(id: string): Promise<void>
  addComment(id: string, body: string): Promise<RunComment>
  /** Oldest first. */
  comments(id: string, page: PageRequest): Promise<Page<RunComment>>
  comment(id: string): Promise<RunComment>
  /** To a status that can follow the present one, else `conflict`; takes and releases the workspace's lock as it goes. */
  advance(id: string, step: RunStep): Promise<RunView>
}
