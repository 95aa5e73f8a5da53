import type { Caller } from "../core/caller.ts"
import { notFound } from "../core/errors.ts"
import type { Instant } from "../core/time.ts"
import type { Change } from "../events/event.ts"
import { authorizeProject } from "../organizations/project-authorization.ts"
import type { Stores } from "../stores.ts"
import { authorizeWorkspace } from "./authorization.ts"

/** All or none. Both ends of a move need the right to move (specification 4.3); those already there stay as they are. */
export async function moveToProject(
  stores: Pick<Stores, "access" | "events" | "projects" | "workspaces">,
  caller: Caller,
  move: { readonly projectId: string; readonly workspaceIds: readonly string[]; readonly now: Instant },
): Promise<void> {
  const { project } = await authorizeProject(stores, caller, move.projectId, "canMoveWorkspaces")
  const moved: Change[] = []
  for (const id of new Set(move.workspaceIds)) {
    const { workspace } = await authorizeWorkspace(stores, caller, { id })
    if (workspace.organizationId !== project.organizationId) throw notFound(id)
    if (workspace.projectId === project.id) continue
    await authorizeProject(stores, caller, workspace.projectId, "canMoveWorkspaces")
    await stores.workspaces.save(workspace, { ...workspace, projectId: project.id, updatedAt: move.now })
    moved.push({ kind: "workspace.moved", workspace, changed: ["project"] })
  }
  await stores.events.append(...moved)
}
