// Safe delete. Clients tell the three reasons apart by parts of the error texts (docs/compatibility.md, "Matched texts"). Force delete
// skips these checks and only needs a permission.
import { conflict } from "../../core/errors.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import type { TagRepository } from "../tags/tag-repository.ts"
import type { WorkspaceRepository } from "./workspace-repository.ts"
import type { Workspace } from "./workspace.ts"

/**
 * Throws `conflict` unless the workspace can be deleted safely. `stateIsProcessed` is true if the resources of the newest state version are
 * counted.
 */
export function rejectUnsafeDelete(
  workspace: Pick<Workspace, "id" | "lock" | "resourceCount">,
  stateIsProcessed: boolean,
): void {
  const deletionError = (detail: string) => conflict(detail, { subject: workspace.id })
  if (workspace.lock.held)
    throw deletionError("Workspace is currently locked. Workspace must be unlocked before it can be safely deleted")
  if (!stateIsProcessed)
    throw deletionError("Latest workspace state is being processed to discover resources, please try again later")
  if (workspace.resourceCount > 0)
    throw deletionError("Workspace cannot be safely deleted because it is still managing resources")
}

/** Deletes the workspace, and the flat tags that no other resource has. */
export async function removeWorkspace(
  {
    events,
    tags,
    workspaces,
  }: { readonly events: EventRepository; readonly tags: TagRepository; readonly workspaces: WorkspaceRepository },
  workspace: Workspace,
): Promise<void> {
  await events.append({ kind: "workspace.deleted", workspace })
  await tags.releaseTagsOf(workspace.id)
  await workspaces.remove(workspace.id)
}
