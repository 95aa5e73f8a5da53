// Requests and results of bulk actions: one action on many workspaces. For each workspace, permissions and rules are those of the single
// action, and there is one result.
import { type EngineErrorCode, type ErrorFacts, type Fault, invalid } from "../../core/errors.ts"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import type { Writer } from "../../core/owner.ts"
import type { Instant } from "../../core/time.ts"
import { lockFaults, type LockInput } from "../lock/lock.ts"
import { type Binding, bindingFaults } from "../tags/tag-binding.ts"
import { flatTagFaults } from "../tags/tag.ts"
import type { WorkspaceQuery } from "../workspace/workspace-query.ts"
import type { Actor } from "../workspace/workspace.ts"

export type BulkAction =
  | ({ readonly kind: "lock" } & LockInput)
  | { readonly kind: "unlock" }
  | { readonly kind: "tag" | "untag"; readonly tags: readonly string[] }
  | { readonly kind: "bind"; readonly bindings: readonly Binding[] }
  | { readonly kind: "move"; readonly projectId: string }
  | { readonly kind: "safe-delete" }

export interface BulkRequest extends Writer {
  readonly action: BulkAction
  /** Workspaces to act on, with the filters of the workspace list. `sort` sets the order of the actions. */
  readonly query?: WorkspaceQuery
  /** Must be true to act on every workspace that the caller can see. Cannot be combined with a filter. */
  readonly all?: boolean
  /** True to return the results that the action would have, without executing it. */
  readonly dryRun?: boolean
  /** A repeated key with the same request continues where the first one stopped, or returns its results. Valid for `bulkRetentionMs`. */
  readonly idempotencyKey?: string
}

/** Error that the single action on the workspace would have had. */
export interface BulkRejection {
  readonly code: EngineErrorCode
  readonly detail: string
  readonly facts?: ErrorFacts
}

export interface BulkResult {
  readonly workspaceId: WorkspaceId
  /** Null if the workspace no longer exists or the caller cannot see it. */
  readonly name: string | null
  /** `unchanged` if the action had no effect. In a dry run, the outcome that the action would have. */
  readonly outcome: "done" | "unchanged" | "refused"
  readonly refusal?: BulkRejection
}

export interface BulkRun {
  readonly id: string
  readonly totalCount: number
  /**
   * Results in parts. Each part is one transaction, which runs when the caller requests it. A server prefetches as many parts as its send
   * buffers hold. If the caller stops iterating, the remaining parts are not executed. Can be iterated once.
   */
  readonly results: AsyncIterable<readonly BulkResult[]>
}

export interface BulkActions {
  /** Finds the workspaces. Iterating `results` executes the action. */
  run(organization: string, request: BulkRequest): Promise<BulkRun>
}

/** Limit of workspaces per request. */
export const maxBulkWorkspaces = 20_000
/** Limit of tags or bindings per request. */
const maxNames = 100
const maxKey = 128
const printable = /^[\x21-\x7e]+$/

/** Throws `invalid` for faults of the request itself. */
export function rejectBulkRequest({ action, query = {}, all = false, idempotencyKey: key }: BulkRequest): void {
  const { sort: _sort, ...filters } = query
  const isFiltered = Object.keys(filters).length > 0
  const faults: Fault[] = actionFaults(action)
  if (!isFiltered && !all) faults.push({ field: ["all"], detail: "all must be true when no filter is given" })
  if (isFiltered && all) faults.push({ field: ["all"], detail: "all cannot be true when a filter is given" })
  if (key !== undefined && (key.length > maxKey || !printable.test(key)))
    faults.push({
      header: "Idempotency-Key",
      detail: `Idempotency-Key must be 1 to ${maxKey} printable ASCII characters without spaces`,
    })
  if (faults.length > 0) throw invalid(faults)
}

function actionFaults(action: BulkAction): Fault[] {
  switch (action.kind) {
    case "lock":
      return lockFaults(action)
    case "tag":
    case "untag":
      return [
        ...lengthFaults("tags", action.tags),
        ...flatTagFaults(action.tags, []).map(({ field = [], detail }) => ({
          field: ["tags", ...field.slice(0, 1)],
          detail,
        })),
      ]
    case "bind":
      return [...lengthFaults("bindings", action.bindings), ...bindingFaults(action.bindings, ["bindings"])]
    case "move":
      return action.projectId === "" ? [{ field: ["project"], detail: "project can't be blank" }] : []
    case "unlock":
    case "safe-delete":
      return []
    default:
      return action satisfies never
  }
}

const lengthFaults = (name: string, { length }: readonly unknown[]): Fault[] =>
  length > 0 && length <= maxNames ? [] : [{ field: [name], detail: `${name} must have 1 to ${maxNames} entries` }]

/** Scope of a key. Each caller has its own keys in each organization. */
export interface BulkKey {
  readonly organizationId: OrganizationId
  readonly by: Actor
  readonly key: string
}

/** Request that can be continued. */
export interface StoredBulkAction extends BulkKey {
  readonly id: string
  /** Canonical text of the request. */
  readonly request: string
  readonly totalCount: number
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** Workspaces of one transaction. `results` is null until it is committed. */
export interface BulkPart {
  readonly workspaceIds: readonly WorkspaceId[]
  readonly results: readonly BulkResult[] | null
}

export interface BulkRepository {
  /** Returns the action unless it has expired. `partCount` is stored, because another release may use parts of another size. */
  find(key: BulkKey, now: Instant): Promise<(StoredBulkAction & { readonly partCount: number }) | undefined>
  /** Inserts an action, and replaces an expired one with the same key. */
  insert(action: StoredBulkAction, parts: readonly (readonly WorkspaceId[])[]): Promise<void>
  part(id: string, position: number): Promise<BulkPart | undefined>
  saveResults(id: string, position: number, results: readonly BulkResult[]): Promise<void>
  /** Deletes expired actions. Returns their number. */
  sweep(now: Instant, limit: number): Promise<number>
}
