import type { StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { StateContents } from "./state-file.ts"
import type { StateVersion, StateVersionOutput, StateVersionStatus } from "./state-version.ts"

export interface StateVersionQuery {
  /** At least one. */
  readonly statuses?: readonly [StateVersionStatus, ...StateVersionStatus[]]
}

/** What stands beside a version in its document. */
export interface StateVersionRelated {
  readonly outputIds: readonly string[]
  readonly hasJsonState: boolean
}

export interface StateVersionRepository {
  find(id: string): Promise<StateVersion | undefined>
  findMany(ids: readonly StateVersionId[]): Promise<readonly StateVersion[]>
  /** Newest first. */
  list(workspaceId: WorkspaceId, query: StateVersionQuery, page: PageRequest): Promise<Page<StateVersion>>
  /** The newest of any of these statuses. */
  newest(workspaceId: WorkspaceId, statuses: readonly StateVersionStatus[]): Promise<StateVersion | undefined>
  /** The newest made under this lock that was not discarded. */
  newestUnderLock(workspaceId: WorkspaceId, lockNumber: number): Promise<StateVersion | undefined>
  related(ids: readonly StateVersionId[]): Promise<ReadonlyMap<StateVersionId, StateVersionRelated>>
  insert(version: StateVersion): Promise<void>
  save(version: StateVersion): Promise<void>
  /** Unless it has become final. */
  discard(id: StateVersionId): Promise<void>
  /** Those that still wait for their state since before this instant; the number of them, `limit` at most. */
  discardOlder(createdBefore: Instant, limit: number): Promise<number>
  /**
   * Those whose backing data a retention policy gives up by now: older than the workspace's own says, or else the organization's
   * or the site's. Never the current one, nor what may become it.
   */
  givenUp(now: Instant, limit: number): Promise<readonly StateVersionId[]>
  /** The status they have from then on. */
  setBackingDataDeleted(ids: readonly StateVersionId[]): Promise<void>
  /** Number of versions discarded. */
  discardPending(workspaceId: WorkspaceId): Promise<number>

  /** The next finalized version whose contents were not read yet, counted as tried; undefined when there is none that is worth trying. */
  beginReading(): Promise<StateVersion | undefined>
  /** Whether there was something to be read: afterwards there is not. */
  endReading(id: StateVersionId, contents: Omit<StateContents, "outputs">): Promise<boolean>
  /** Of a version whose reading was interrupted. */
  removeOutputs(id: StateVersionId): Promise<void>

  /** The first of them gets this position. */
  saveOutputs(id: StateVersionId, outputs: readonly StateVersionOutput[], first?: number): Promise<void>
  /** In the order of the state. */
  outputs(id: StateVersionId): Promise<readonly StateVersionOutput[]>
  /** Of several versions, each in the order of its state. */
  outputsOf(ids: readonly StateVersionId[]): Promise<readonly StateVersionOutput[]>
  findOutput(
    id: string,
  ): Promise<{ readonly output: StateVersionOutput; readonly stateVersionId: StateVersionId } | undefined>
}
