// Remote state consumers: the workspaces that may read a workspace's state. They are all workspaces of the organization if
// `global-remote-state` is true, else those of a list.
import { type Fault, unprocessable } from "../../core/errors.ts"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Visibility } from "../workspace/workspace-query.ts"
import type { WorkspaceView } from "../workspace/workspace-view.ts"

/** Operations on remote state consumers. A list contains only workspaces that the caller can see. */
export interface RemoteStateConsumers {
  list(workspaceId: string, page: PageRequest): Promise<Page<WorkspaceView>>
  /** Replaces the list. */
  replace(workspaceId: string, consumerIds: readonly string[]): Promise<void>
  /** Adds to the list. Ignores workspaces that are already on it. */
  add(workspaceId: string, consumerIds: readonly string[]): Promise<void>
  /** Removes from the list. Ignores workspaces that are not on it. */
  remove(workspaceId: string, consumerIds: readonly string[]): Promise<void>
}

export interface RemoteStateConsumerRepository {
  /** Returns the visible workspaces of the list, by name. */
  listed(workspaceId: WorkspaceId, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>>
  /** Returns every other visible workspace of the organization, by name. */
  others(workspaceId: WorkspaceId, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>>
  add(workspaceId: WorkspaceId, consumerIds: readonly WorkspaceId[]): Promise<void>
  remove(workspaceId: WorkspaceId, consumerIds: readonly WorkspaceId[]): Promise<void>
  /** Removes all entries of the list. */
  clear(workspaceId: WorkspaceId): Promise<void>
}

interface Producer {
  readonly id: WorkspaceId
  readonly organizationId: OrganizationId
  readonly globalRemoteState: boolean
}

export function rejectWhileGlobal({ globalRemoteState }: Pick<Producer, "globalRemoteState">): void {
  if (globalRemoteState)
    throw unprocessable(
      "Remote state consumers cannot be changed when global-remote-state is true; set it to false first",
    )
}

export function rejectOwnState({ id }: Pick<Producer, "id">, consumerIds: readonly string[]): void {
  const faults = consumerIds.flatMap((consumerId, index): Fault[] =>
    consumerId === id
      ? [{ field: ["data", index, "id"], detail: "A workspace cannot be a remote state consumer of itself" }]
      : [],
  )
  if (faults.length > 0) throw unprocessable("A workspace cannot be a remote state consumer of itself", faults)
}
