import type { TeamId, WorkspaceId } from "../../core/ids.ts"
import type { Grant } from "./workspace-permissions.ts"
import type { Workspace } from "../workspace/workspace.ts"

/** What teams were given on single workspaces. */
export interface AccessRepository {
  /** Direct grants and those through each workspace's project, for these teams only. */
  grantsOn(
    workspaceIds: readonly WorkspaceId[],
    teams: readonly TeamId[],
  ): Promise<ReadonlyMap<WorkspaceId, readonly Grant[]>>
  /** Those on the workspaces that may consume this one's state: the listed ones, and others of its project or organization. */
  grantsOnConsumersOf(producer: StateProducer, teams: readonly TeamId[]): Promise<readonly Grant[]>
}

export type StateProducer = Pick<
  Workspace,
  "id" | "organizationId" | "projectId" | "globalRemoteState" | "projectRemoteState"
>
