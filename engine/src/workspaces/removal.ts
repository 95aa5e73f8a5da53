import type { EventStore } from "../events/event.ts"
import type { TagStore } from "../tags/tag-store.ts"
import type { WorkspaceStore } from "./workspace-store.ts"
import type { Workspace } from "./workspace.ts"

/** With the tags that nothing else carries. */
export async function removeWorkspace(
  {
    events,
    tags,
    workspaces,
  }: { readonly events: EventStore; readonly tags: TagStore; readonly workspaces: WorkspaceStore },
  workspace: Workspace,
): Promise<void> {
  await events.append({ kind: "workspace.deleted", workspace })
  await tags.releaseTagsOf(workspace.id)
  await workspaces.remove(workspace.id)
}
