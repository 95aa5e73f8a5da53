import type { Caller } from "../../core/caller.ts"
import type { Edition } from "../../core/edition.ts"
import { notFound } from "../../core/errors.ts"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import { type Page, pageOf, type PageRequest } from "../../core/page.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { authorizeWorkspace, visibilityIn, withPermissions } from "../access/workspace-authorization.ts"
import { isVisible, organizationWideAccess } from "../access/workspace-permissions.ts"
import {
  rejectOwnState,
  rejectWhileGlobal,
  type RemoteStateConsumers,
  type RemoteStateConsumerRepository,
} from "./remote-state-consumers.ts"
import type { SituatedWorkspace } from "../workspace/workspace.ts"
import { viewsOf } from "../workspace/workspace-service.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { WorkspaceView } from "../workspace/workspace-view.ts"

interface UsedRepositories {
  readonly access: AccessRepository
  readonly consumers: RemoteStateConsumerRepository
  readonly events: EventRepository
  readonly workspaces: WorkspaceRepository
}

export class RemoteStateConsumerService implements RemoteStateConsumers {
  readonly #storage: Storage<UsedRepositories>
  readonly #edition: Edition
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, edition: Edition, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    // Consumers are pairs of foreign keys, unique by their primary key.
    this.#storage = atRepeatableRead(storage)
    this.#edition = edition
    this.#caller = caller
  }

  list(workspaceId: string, page: PageRequest): Promise<Page<WorkspaceView>> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: workspaceId })
      const visibility = visibilityIn(this.#caller, workspace.organizationId)
      if (visibility === undefined) throw notFound(workspaceId)
      const { id, globalRemoteState } = workspace
      const found = globalRemoteState
        ? await repositories.consumers.others(id, visibility, page)
        : await repositories.consumers.listed(id, visibility, page)
      const consumers = await repositories.workspaces.findMany(found.items)
      const views = await viewsOf(
        repositories,
        await withPermissions(repositories, this.#caller, consumers),
        this.#edition,
      )
      return pageOf(views, page, found.totalCount)
    })
  }

  replace(workspaceId: string, consumerIds: readonly string[]): Promise<void> {
    return this.#change(workspaceId, consumerIds, async (repositories, workspace, ids) => {
      this.#requireOrganizationWide(workspace)
      rejectOwnState(workspace, consumerIds)
      await repositories.consumers.clear(workspace.id)
      await repositories.consumers.add(workspace.id, ids)
    })
  }

  add(workspaceId: string, consumerIds: readonly string[]): Promise<void> {
    return this.#change(workspaceId, consumerIds, async (repositories, workspace, ids) => {
      rejectOwnState(workspace, consumerIds)
      await repositories.consumers.add(workspace.id, ids)
    })
  }

  remove(workspaceId: string, consumerIds: readonly string[]): Promise<void> {
    return this.#change(workspaceId, consumerIds, (repositories, workspace, ids) =>
      repositories.consumers.remove(workspace.id, ids),
    )
  }

  #change(
    workspaceId: string,
    consumerIds: readonly string[],
    work: (repositories: UsedRepositories, workspace: SituatedWorkspace, ids: readonly WorkspaceId[]) => Promise<void>,
  ): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: workspaceId }, "canUpdate")
      rejectWhileGlobal(workspace)
      await work(repositories, workspace, await this.#readable(repositories, workspace.organizationId, consumerIds))
      await repositories.events.append({ kind: "remote-state-consumers.updated", workspace })
    })
  }

  /**
   * Throws `not-found` unless the caller can see all workspaces. The list may contain workspaces that an administrator of this one alone
   * cannot see, so only such a caller can replace it.
   */
  #requireOrganizationWide({ id, organizationId }: SituatedWorkspace): void {
    if (["by-grant", "read", "none"].includes(organizationWideAccess(this.#caller, organizationId))) throw notFound(id)
  }

  async #readable(
    repositories: UsedRepositories,
    organizationId: OrganizationId,
    consumerIds: readonly string[],
  ): Promise<readonly WorkspaceId[]> {
    const ids = [...new Set(consumerIds)] as WorkspaceId[]
    const found = await withPermissions(repositories, this.#caller, await repositories.workspaces.findMany(ids))
    const readable = new Set(
      found
        .filter(({ workspace, permissions }) => workspace.organizationId === organizationId && isVisible(permissions))
        .map(({ workspace }) => workspace.id),
    )
    const missing = ids.find((id) => !readable.has(id))
    if (missing !== undefined) throw notFound(missing)
    return ids
  }
}
