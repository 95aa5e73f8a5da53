// One action on many workspaces: what may be asked for, and what one request does to each. Every workspace has the rights and the
// rules of the single action, and a result of its own.
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
  /** Which workspaces, as the list filters them; the order counts too. */
  readonly query?: WorkspaceQuery
  /** Needed to mean every workspace that the caller sees; not to be given beside a filter. */
  readonly all?: boolean
  /** Tells what would be done, and does nothing. */
  readonly dryRun?: boolean
  /** The same key with the same request goes on where it stopped, or tells again what came of it, for `bulkKeptMs`. */
  readonly idempotencyKey?: string
}

/** Why nothing was done to one workspace: what the single action would have been refused with. */
export interface BulkRefusal {
  readonly code: EngineErrorCode
  readonly detail: string
  readonly facts?: ErrorFacts
}

export interface BulkResult {
  readonly workspaceId: WorkspaceId
  /** Null of one that has gone since it was found. */
  readonly name: string | null
  /** `unchanged`: it was so before. Of a dry run: what would be. */
  readonly outcome: "done" | "unchanged" | "refused"
  readonly refusal?: BulkRefusal
}

export interface BulkRun {
  readonly id: string
  readonly totalCount: number
  /**
   * In parts, each of which is done in one transaction when it is asked for; a server goes ahead by as much as fits on the road.
   * Whoever stops asking stops the rest. To be gone through once.
   */
  readonly results: AsyncIterable<readonly BulkResult[]>
}

export interface BulkActions {
  /** Finds the workspaces; what is done to them are the `results`, which have to be asked for. */
  run(organization: string, request: BulkRequest): Promise<BulkRun>
}

/** In one request. */
export const bulkWorkspacesMaximum = 20_000
/** Of tags, or of bindings. */
const namesMaximum = 100
const keyMaximum = 128
const printable = /^[\x21-\x7e]+$/

/** Throws `invalid` for whatever is wrong with the request itself. */
export function rejectBulkRequest({ action, query = {}, all = false, idempotencyKey: key }: BulkRequest): void {
  const { sort: _sort, ...filters } = query
  const isFiltered = Object.keys(filters).length > 0
  const faults: Fault[] = actionFaults(action)
  if (!isFiltered && !all)
    faults.push({ field: ["all"], detail: "All must be true where no filter says which workspaces are meant" })
  if (isFiltered && all) faults.push({ field: ["all"], detail: "All cannot be true where a filter is given" })
  if (key !== undefined && (key.length > keyMaximum || !printable.test(key)))
    faults.push({
      header: "Idempotency-Key",
      detail: `Idempotency-Key must be 1 to ${keyMaximum} printable ASCII characters without spaces`,
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
      return action.projectId === "" ? [{ field: ["project"], detail: "Project can't be blank" }] : []
    case "unlock":
    case "safe-delete":
      return []
    default:
      return action satisfies never
  }
}

const lengthFaults = (name: string, { length }: readonly unknown[]): Fault[] =>
  length > 0 && length <= namesMaximum ? [] : [{ field: [name], detail: `${name} must be 1 to ${namesMaximum}` }]

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
