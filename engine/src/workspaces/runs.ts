import type { Page, PageRequest } from "../core/page.ts"
import type { RunInput, RunStep, RunView } from "./run.ts"
import type { OrganizationRunQuery, RunQuery } from "./run-store.ts"
import type { WorkspaceRef } from "./workspace.ts"

/** Runs as records: whoever executes them moves them along with `advance`. */
export interface Runs {
  create(ref: WorkspaceRef, input: RunInput): Promise<RunView>
  get(id: string): Promise<RunView>
  getByPlan(planId: string): Promise<RunView>
  getByApply(applyId: string): Promise<RunView>
  list(ref: WorkspaceRef, query: RunQuery, page: PageRequest): Promise<Page<RunView>>
  /** Of every workspace that the caller sees. */
  listForOrganization(organization: string, query: OrganizationRunQuery, page: PageRequest): Promise<Page<RunView>>
  /** These four are refused with `conflict` in a status that does not allow them. */
  apply(id: string): Promise<void>
  discard(id: string): Promise<void>
  cancel(id: string): Promise<void>
  forceCancel(id: string): Promise<void>
  /** To a status that can follow the present one, else `conflict`; takes and releases the workspace's lock as it goes. */
  advance(id: string, step: RunStep): Promise<RunView>
}
