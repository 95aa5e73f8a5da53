import type { Caller } from "../core/caller.ts"
import type { Edition } from "../core/edition.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { Stores } from "../stores.ts"
import { type AuthorizedWorkspace, actorOf, authorizeWorkspace } from "./authorization.ts"
import { forceUnlock, lock, type LockChange, unlock } from "./lock.ts"
import { discardAndPromote, promote } from "./state-settlement.ts"
import type { WorkspaceRef } from "./workspace.ts"
import { viewWorkspace, type WorkspaceView } from "./workspace-view.ts"
import type { Workspaces } from "./workspaces.ts"

type UsedStores = Pick<Stores, "workspaces" | "access" | "stateVersions">

export class WorkspaceService implements Workspaces {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #edition: Edition
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, edition: Edition, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#edition = edition
    this.#caller = caller
  }

  get(ref: WorkspaceRef): Promise<WorkspaceView> {
    return this.#storage.read(async (stores) =>
      viewOf(stores, await authorizeWorkspace(stores, this.#caller, ref), this.#edition),
    )
  }

  lock(ref: WorkspaceRef, { reason }: { readonly reason: string }): Promise<WorkspaceView> {
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (stores) => {
      const authorized = await authorizeWorkspace(stores, this.#caller, ref, "canLock")
      return changeLock(
        stores,
        authorized,
        lock(authorized.workspace, actorOf(this.#caller), reason, now),
        this.#edition,
      )
    })
  }

  unlock(ref: WorkspaceRef): Promise<WorkspaceView> {
    return this.#storage.transact(async (stores) => {
      const { workspace, permissions } = await authorizeWorkspace(stores, this.#caller, ref, "canUnlock")
      const newest = await stores.stateVersions.newestUnderLock(workspace.id, workspace.lockNumber)
      const change = unlock(workspace, actorOf(this.#caller), newest?.status === "pending")
      const promoted = await promote(stores, workspace, newest)
      return changeLock(stores, { workspace: promoted, permissions }, change, this.#edition)
    })
  }

  forceUnlock(ref: WorkspaceRef): Promise<WorkspaceView> {
    return this.#storage.transact(async (stores) => {
      const { workspace, permissions } = await authorizeWorkspace(stores, this.#caller, ref, "canForceUnlock")
      const change = forceUnlock(workspace)
      const promoted = await discardAndPromote(stores, workspace)
      return changeLock(stores, { workspace: promoted, permissions }, change, this.#edition)
    })
  }
}

async function changeLock(
  stores: Pick<Stores, "workspaces">,
  { workspace, permissions }: AuthorizedWorkspace,
  change: LockChange,
  edition: Edition,
): Promise<WorkspaceView> {
  await stores.workspaces.saveLock(workspace.id, change)
  return viewOf(stores, { workspace: { ...workspace, ...change }, permissions }, edition)
}

/** Everything the caller is shown of a workspace. */
export async function viewOf(
  stores: Pick<Stores, "workspaces">,
  { workspace, permissions }: AuthorizedWorkspace,
  edition: Edition,
): Promise<WorkspaceView> {
  const related = (await stores.workspaces.related([workspace])).get(workspace.id)
  return viewWorkspace(workspace, permissions, related, edition)
}
