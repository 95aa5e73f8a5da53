// Access to a workspace's current state. It is open to callers with the permission, and to callers that may queue runs in a consumer
// workspace, because those runs read the state. The latter may also read the workspace itself, without its earlier states, runs and
// variables (docs/compatibility.md, "Remote state").
import type { Caller } from "../../core/caller.ts"
import { notFound } from "../../core/errors.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { type AuthorizedWorkspace, teamsOf, withPermissions } from "../access/workspace-authorization.ts"
import { isVisible, type WorkspacePermission, workspacePermissions } from "../access/workspace-permissions.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { SituatedWorkspace, WorkspaceRef } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
}
export type StatePermission = Extract<WorkspacePermission, "canReadStateVersions" | "canReadStateOutputs">

/** Throws `not-found` unless the caller may read the workspace (`needed` empty), or has the needed permissions on its state. */
export async function authorizeStateReading(
  repositories: UsedRepositories,
  caller: Caller,
  ref: WorkspaceRef,
  ...needed: readonly StatePermission[]
): Promise<AuthorizedWorkspace & { readonly currentStateOnly: boolean }> {
  const workspace = await repositories.workspaces.find(ref)
  if (workspace === undefined) throw notFound("id" in ref ? ref.id : `${ref.organization}/${ref.name}`)
  const [authorized] = await withPermissions(repositories, caller, [workspace])
  const { permissions } = authorized as AuthorizedWorkspace
  if (isVisible(permissions) && needed.every((name) => permissions[name]))
    return { workspace, permissions, currentStateOnly: false }
  if (!(await runsInConsumer(repositories, caller, workspace))) throw notFound(workspace.id)
  const granted = { ...permissions, canReadStateVersions: true, canReadStateOutputs: true }
  return { workspace, permissions: granted, currentStateOnly: true }
}

async function runsInConsumer(
  { access }: Pick<UsedRepositories, "access">,
  caller: Caller,
  workspace: SituatedWorkspace,
): Promise<boolean> {
  const teams = teamsOf(caller, workspace.organizationId)
  if (teams.length === 0) return false
  const { allowForceDeleteWorkspaces } = workspace.organization
  const organization = { id: workspace.organizationId, allowForceDeleteWorkspaces }
  return workspacePermissions(caller, organization, await access.grantsOnConsumersOf(workspace, teams)).canQueueRun
}
