import type { StateVersionId, WorkspaceId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { StateContents } from "./state-file.ts"
import type { StateVersion, StateVersionOutput, StateVersionStatus } from "./state-version.ts"

export interface StateVersionQuery {
  /** Must not be empty. */
  readonly statuses?: readonly [StateVersionStatus, ...StateVersionStatus[]]
}

/** Related data that the document of a version contains. */
export interface StateVersionRelated {
  readonly outputIds: readonly string[]
  readonly hasJsonState: boolean
}

export interface StateVersionRepository {
  find(id: string): Promise<StateVersion | undefined>
  findMany(ids: readonly StateVersionId[]): Promise<readonly StateVersion[]>
  /** Lists the newest first. */
  list(workspaceId: WorkspaceId, query: StateVersionQuery, page: PageRequest): Promise<Page<StateVersion>>
  /** Returns the newest version with one of these statuses. */
  newest(workspaceId: WorkspaceId, statuses: readonly StateVersionStatus[]): Promise<StateVersion | undefined>
  /** Returns the newest version that was made under this lock and not discarded. */
  newestUnderLock(workspaceId: WorkspaceId, lockNumber: number): Promise<StateVersion | undefined>
  related(ids: readonly StateVersionId[]): Promise<ReadonlyMap<StateVersionId, StateVersionRelated>>
  insert(version: StateVersion): Promise<void>
  save(version: StateVersion): Promise<void>
  /** Discards a version unless it is finalized. */
  discard(id: StateVersionId): Promise<void>
  /** Discards at most `limit` versions that are pending since before this instant. Returns their number. */
  discardOlder(createdBefore: Instant, limit: number): Promise<number>
  /**
   * Returns versions whose backing data a retention policy no longer keeps. The policy is the workspace's own, else the organization's,
   * else the site's. Never returns the current version, or one that may become current.
   */
  givenUp(now: Instant, limit: number): Promise<readonly StateVersionId[]>
  /** Sets the status of versions whose backing data is deleted. */
  setBackingDataDeleted(ids: readonly StateVersionId[]): Promise<void>
  /** Discards the pending versions of a workspace. Returns their number. */
  discardPending(workspaceId: WorkspaceId): Promise<number>

  /**
   * Returns the next finalized version whose contents are not read yet, and counts the attempt. Returns undefined if none is left, or all
   * remaining ones failed too often.
   */
  beginReading(): Promise<StateVersion | undefined>
  /** Saves the contents. Returns false if they were already read. */
  endReading(id: StateVersionId, contents: Omit<StateContents, "outputs">): Promise<boolean>
  /** Deletes the outputs of a version whose reading was interrupted. */
  removeOutputs(id: StateVersionId): Promise<void>

  /** Saves outputs in order. `first` is the position of the first one. */
  saveOutputs(id: StateVersionId, outputs: readonly StateVersionOutput[], first?: number): Promise<void>
  /** Returns outputs in the order of the state. */
  outputs(id: StateVersionId): Promise<readonly StateVersionOutput[]>
  /** Returns the outputs of several versions, each in the order of its state. */
  outputsOf(ids: readonly StateVersionId[]): Promise<readonly StateVersionOutput[]>
  findOutput(
    id: string,
  ): Promise<{ readonly output: StateVersionOutput; readonly stateVersionId: StateVersionId } | undefined>
}
