import type { WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Run } from "./run.ts"
import type { RunStatus } from "./run-status.ts"

export interface RunQuery {
  /** At least one. */
  readonly statuses?: readonly [RunStatus, ...RunStatus[]]
}

export interface RunStore {
  find(id: string): Promise<Run | undefined>
  findMany(ids: readonly string[]): Promise<readonly Run[]>
  findByPlan(planId: string): Promise<Run | undefined>
  findByApply(applyId: string): Promise<Run | undefined>
  /** Newest first. */
  list(workspaceId: WorkspaceId, query: RunQuery, page: PageRequest): Promise<Page<Run>>
  /** The last to error or be applied, newest first. */
  measured(workspaceId: WorkspaceId, count: number): Promise<readonly Run[]>
  insert(run: Run): Promise<void>
  /** Also what its workspace repeats of it, if it is the current run. */
  save(run: Run): Promise<void>
  makeCurrent(run: Run): Promise<void>
}
