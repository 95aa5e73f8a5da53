import type { TeamId, WorkspaceId } from "../core/ids.ts"
import type { Grant } from "./permissions.ts"

/** What teams were given on single workspaces. */
export interface AccessStore {
  /** Direct grants and those through each workspace's project, for these teams only. */
  grantsOn(
    workspaceIds: readonly WorkspaceId[],
    teams: readonly TeamId[],
  ): Promise<ReadonlyMap<WorkspaceId, readonly Grant[]>>
}
