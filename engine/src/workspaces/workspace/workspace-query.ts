import type { OrganizationId, TeamId } from "../../core/ids.ts"

export const workspaceSortKeys = ["name", "current-run.created-at", "latest-change-at"] as const
export type WorkspaceSortKey = (typeof workspaceSortKeys)[number]

/** Query of the workspace list. All filters combine with AND. */
export interface WorkspaceQuery {
  /** Substring of the name, case-insensitive. */
  readonly name?: string
  /** `*-x`, `x-*` or `*-x-*`, case-insensitive. */
  readonly wildcardName?: string
  /** Flat tags or binding keys. A workspace must have all of them. */
  readonly tags?: readonly string[]
  /** Flat tags or binding keys. A workspace must have none of them. */
  readonly excludeTags?: readonly string[]
  readonly sort?: { readonly key: WorkspaceSortKey; readonly descending: boolean }
  readonly projectId?: string
  readonly currentRunStatus?: readonly string[]
  /** Effective bindings. A missing key or value matches any. */
  readonly tagged?: readonly { readonly key?: string; readonly value?: string }[]
}

/** Workspaces of an organization that a caller may see: all, or those of its teams. */
export type Visibility =
  | { readonly organizationId: OrganizationId; readonly all: true }
  | { readonly organizationId: OrganizationId; readonly all: false; readonly teams: readonly TeamId[] }
