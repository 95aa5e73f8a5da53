import type { OrganizationId, TeamId } from "../../core/ids.ts"

export const workspaceSortKeys = ["name", "current-run.created-at", "latest-change-at"] as const
export type WorkspaceSortKey = (typeof workspaceSortKeys)[number]

/** Query of the workspace list. All filters combine with AND. */
export interface WorkspaceQuery {
  /** Part of the name, case-insensitive. */
  readonly name?: string
  /** `*-x`, `x-*` or `*-x-*`, case-insensitive. */
  readonly wildcardName?: string
  /** Every one of them: flat tags or binding keys. */
  readonly tags?: readonly string[]
  /** None of them. */
  readonly excludeTags?: readonly string[]
  readonly sort?: { readonly key: WorkspaceSortKey; readonly descending: boolean }
  readonly projectId?: string
  readonly currentRunStatus?: readonly string[]
  /** Effective bindings; a missing key or value matches any. */
  readonly tagged?: readonly { readonly key?: string; readonly value?: string }[]
}

/** Which workspaces of the organization a caller may see at all. */
export type Visibility =
  | { readonly organizationId: OrganizationId; readonly all: true }
  | { readonly organizationId: OrganizationId; readonly all: false; readonly teams: readonly TeamId[] }
