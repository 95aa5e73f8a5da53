import type { TeamId, WorkspaceId } from "../../core/ids.ts"
import type { Grant } from "./workspace-permissions.ts"
import type { Workspace } from "../workspace/workspace.ts"

/** Grants of teams on single workspaces. */
export interface AccessRepository {
  /** Returns the grants of these teams, direct and through the projects of the workspaces. */
  grantsOn(
    workspaceIds: readonly WorkspaceId[],
    teams: readonly TeamId[],
  ): Promise<ReadonlyMap<WorkspaceId, readonly Grant[]>>
  /**
   * Returns the grants of these teams on workspaces that may consume this one's state: the listed ones, and others of its project or
   * organization.
   */
  grantsOnConsumersOf(producer: StateProducer, teams: readonly TeamId[]): Promise<readonly Grant[]>
}

export type StateProducer = Pick<
  Workspace,
  "id" | "organizationId" | "projectId" | "globalRemoteState" | "projectRemoteState"
>
