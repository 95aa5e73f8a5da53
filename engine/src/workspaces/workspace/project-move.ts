import type { Caller } from "../../core/caller.ts"
import { notFound, unprocessable } from "../../core/errors.ts"
import type { ProjectId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { Change, EventRepository } from "../../events/feed/event.ts"
import { authorizeProject } from "../../organizations/authorization.ts"
import type { ProjectRepository } from "../../organizations/project.ts"
import { tokenNotAdmitted, type VcsConnectionRepository } from "../../organizations/vcs-connection.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { authorizeWorkspace } from "../access/workspace-authorization.ts"
import type { WorkspaceRepository } from "./workspace-repository.ts"
import type { Workspace } from "./workspace.ts"

/**
 * Moves all of the workspaces or none. The caller needs the right to move workspaces on both projects. Workspaces that are already in the
 * project are skipped.
 */
export async function moveToProject(
  repositories: {
    readonly access: AccessRepository
    readonly events: EventRepository
    readonly projects: ProjectRepository
    readonly vcsConnections: VcsConnectionRepository
    readonly workspaces: WorkspaceRepository
  },
  caller: Caller,
  move: { readonly projectId: string; readonly workspaceIds: readonly string[]; readonly now: Instant },
): Promise<void> {
  const { project } = await authorizeProject(repositories, caller, move.projectId, "canMoveWorkspaces")
  const moved: Change[] = []
  for (const id of new Set(move.workspaceIds)) {
    const { workspace } = await authorizeWorkspace(repositories, caller, { id })
    if (workspace.organizationId !== project.organizationId) throw notFound(id)
    if (workspace.projectId === project.id) continue
    await authorizeProject(repositories, caller, workspace.projectId, "canMoveWorkspaces")
    const after = { ...workspace, projectId: project.id, updatedAt: move.now }
    await assertTokenAdmitted(repositories, after, { from: workspace.projectId })
    await repositories.workspaces.save(workspace, after)
    moved.push({ kind: "workspace.moved", workspace, changed: ["project"] })
  }
  await repositories.events.append(...moved)
}

/**
 * Throws `unprocessable` if the OAuth client of the workspace's VCS connection does not admit the new project. The workspace keeps its
 * connection when it moves.
 */
export async function assertTokenAdmitted(
  { vcsConnections }: { readonly vcsConnections: VcsConnectionRepository },
  { id, projectId, vcsRepo }: Pick<Workspace, "id" | "projectId" | "vcsRepo">,
  { from }: { readonly from: ProjectId },
): Promise<void> {
  const tokenId = vcsRepo?.oauthTokenId
  if (projectId === from || !tokenId || (await vcsConnections.admits(tokenId, projectId))) return
  throw unprocessable(`${tokenNotAdmitted}.`, [{ field: ["projectId"], detail: `${tokenNotAdmitted} (${id})` }])
}
