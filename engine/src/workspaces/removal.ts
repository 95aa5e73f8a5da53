import type { EventRepository } from "../events/event.ts"
import type { TagRepository } from "../tags/tag-store.ts"
import type { WorkspaceRepository } from "./workspace-store.ts"
import type { Workspace } from "./workspace.ts"

/** With the tags that nothing else carries. */
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
