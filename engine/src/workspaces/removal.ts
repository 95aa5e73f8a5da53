import type { Stores } from "../stores.ts"
import type { Workspace } from "./workspace.ts"

/** With the tags that nothing else carries. */
export async function removeWorkspace(
  { events, tags, workspaces }: Pick<Stores, "events" | "tags" | "workspaces">,
  workspace: Workspace,
): Promise<void> {
  await events.append({ kind: "workspace.deleted", workspace })
  await tags.releaseTagsOf(workspace.id)
  await workspaces.remove(workspace.id)
}
