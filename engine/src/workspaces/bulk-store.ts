import type { OrganizationId, WorkspaceId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import type { BulkResult } from "./bulk-action.ts"
import type { Actor } from "./workspace.ts"

/** Whose key it is: every caller has keys of its own in every organization. */
export interface BulkKey {
  readonly organizationId: OrganizationId
  readonly by: Actor
  readonly key: string
}

/** A request that may be gone on with. */
export interface StoredBulkAction extends BulkKey {
  readonly id: string
  /** All that was asked for, as one text. */
  readonly request: string
  readonly totalCount: number
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** What is done in one transaction; the results are there once it is done. */
export interface BulkPart {
  readonly workspaceIds: readonly WorkspaceId[]
  readonly results: readonly BulkResult[] | null
}

export interface BulkRepository {
  /** Unless its time is over; with the number of its parts, which another release may have cut to another size. */
  find(key: BulkKey, now: Instant): Promise<(StoredBulkAction & { readonly partCount: number }) | undefined>
  /** Takes the place of one whose time is over. */
  insert(kept: StoredBulkAction, parts: readonly (readonly WorkspaceId[])[]): Promise<void>
  part(id: string, position: number): Promise<BulkPart | undefined>
  saveResults(id: string, position: number, results: readonly BulkResult[]): Promise<void>
  /** Removes those whose time is over; how many those were. */
  sweep(now: Instant, limit: number): Promise<number>
}
