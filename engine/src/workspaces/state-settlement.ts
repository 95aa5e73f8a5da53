// State versions at the end of the lock under which they were made (docs/decisions/state-at-unlock.md).
import type { StateVersion } from "./state-version.ts"
import { currentFacts } from "./state-version-rules.ts"
import type { StateVersionRepository } from "./state-version-store.ts"
import type { WorkspaceRepository } from "./workspace-store.ts"
import type { Workspace } from "./workspace.ts"

interface UsedStores {
  readonly workspaces: WorkspaceRepository
  readonly stateVersions: StateVersionRepository
}

/** The newest version of the lock becomes current once it is finalized: until the lock ends an intermediate one was not. */
export async function promote<W extends Workspace>(
  { workspaces }: Pick<UsedStores, "workspaces">,
  workspace: W,
  newest: StateVersion | undefined,
): Promise<W> {
  if (newest?.status !== "finalized" || newest.id === workspace.currentStateVersionId) return workspace
  const promoted = { ...workspace, ...currentFacts(newest) }
  await workspaces.save(workspace, promoted)
  return promoted
}

/** For a lock that ends without asking: whatever has not arrived by now is lost. */
export async function discardAndPromote<W extends Workspace>(stores: UsedStores, workspace: W): Promise<W> {
  await stores.stateVersions.discardPending(workspace.id)
  return promote(stores, workspace, await stores.stateVersions.newestUnderLock(workspace.id, workspace.lockNumber))
}
