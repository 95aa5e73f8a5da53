// Remote state consumers: the workspaces that may read a workspace's state. All of the organization if `global-remote-state` is true,
// else those on a list.
import { type Fault, unprocessable } from "../../core/errors.ts"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Visibility } from "../workspace/workspace-query.ts"
import type { WorkspaceView } from "../workspace/workspace-view.ts"

/** The remote state consumers of the engine's workspaces; a list shows only those the caller sees. */
export interface RemoteStateConsumers {
  list(workspaceId: string, page: PageRequest): Promise<Page<WorkspaceView>>
  /** Exactly these from now on. */
  replace(workspaceId: string, consumerIds: readonly string[]): Promise<void>
  /** Those on the list already are passed over. */
  add(workspaceId: string, consumerIds: readonly string[]): Promise<void>
  /** Those not on the list are passed over. */
  remove(workspaceId: string, consumerIds: readonly string[]): Promise<void>
}

export interface RemoteStateConsumerRepository {
  /** Those on the list that are visible, by name. */
  listed(workspaceId: WorkspaceId, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>>
  /** Every other visible workspace of the organization, by name. */
  others(workspaceId: WorkspaceId, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>>
  add(workspaceId: WorkspaceId, consumerIds: readonly WorkspaceId[]): Promise<void>
  remove(workspaceId: WorkspaceId, consumerIds: readonly WorkspaceId[]): Promise<void>
  /** The whole list. */
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
      "Remote state consumers cannot be changed while global-remote-state is true: every workspace of the organization may read this one's state",
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
