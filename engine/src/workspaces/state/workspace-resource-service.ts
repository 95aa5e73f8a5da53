// Lists the resources of a workspace's current state. Most lists are never requested. So the first request after a change of the state
// reads it, and the differences from the last listing are stored.
import { newId } from "../../core/ids.ts"
import { mapPage, type Page, type PageRequest, pageOf } from "../../core/page.ts"
import { oneAtATime } from "../../core/chunks.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Signer } from "../../core/signing.ts"
import type { Storage } from "../../core/storage.ts"
import { nextTurn } from "../../core/timers.ts"
import { openStateDocument, type StateArchive } from "./state-document.ts"
import type { StateDocumentRepository } from "./state-document-repository.ts"
import { stateInstancesReader } from "./state-parser.ts"
import type { StateVersionRepository } from "./state-version-repository.ts"
import type { StateVersion } from "./state-version.ts"
import { withModuleNames, type WorkspaceResource, type WorkspaceResourceRepository } from "./workspace-resource.ts"
import type { Workspace } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly stateVersions: StateVersionRepository
  readonly stateDocuments: StateDocumentRepository
  readonly workspaceResources: WorkspaceResourceRepository
}

interface ListingTools {
  readonly archive: StateArchive
  readonly signer: Signer
}

/** Limit of resources per transaction. */
const resourcesPerWrite = 200

/** Lists the resources of a workspace. `find` returns the workspace and checks the caller's rights. */
export async function listResources<S extends UsedRepositories>(
  storage: Storage<S>,
  tools: ListingTools,
  runtime: Runtime,
  page: PageRequest,
  find: (repositories: S) => Promise<Workspace>,
): Promise<Page<WorkspaceResource>> {
  const { workspace, current, listed } = await storage.read(async (repositories) => {
    const workspace = await find(repositories)
    const id = workspace.currentStateVersionId
    return {
      workspace,
      current: id === null ? undefined : await repositories.stateVersions.find(id),
      listed: await repositories.workspaceResources.listedFrom(workspace.id),
    }
  })
  if (current === undefined) return pageOf([], page, 0)
  if (listed !== current.id) await listAnew(storage, tools, runtime, current)
  const found = await storage.read(({ workspaceResources }) => workspaceResources.list(workspace.id, page))
  return mapPage(found, withModuleNames)
}

async function listAnew(
  storage: Storage<UsedRepositories>,
  { archive, signer }: ListingTools,
  { random }: Runtime,
  { id: stateVersionId, workspaceId, createdAt }: StateVersion,
): Promise<void> {
  const reader = stateInstancesReader((text) => signer.sign(`workspace-resource/${workspaceId}/${text}`))
  for await (const piece of oneAtATime(await openStateDocument(storage, archive, stateVersionId, "state"))) {
    reader.write(piece)
    await nextTurn()
  }
  const found = reader.end()
  const known = await storage.read(({ workspaceResources }) => workspaceResources.known(workspaceId))
  const digests = new Map(known.map(({ address, digest }) => [address, digest]))
  const changed = [...found.values()].filter(({ address, digest }) => digests.get(address) !== digest)
  const removedIds = known.filter(({ address }) => !found.has(address)).map(({ id }) => id)
  await eachBatch(removedIds, (ids) => storage.transact(({ workspaceResources }) => workspaceResources.remove(ids)))
  await eachBatch(changed, (resources) => {
    const withIds = resources.map((resource) => ({ ...resource, id: newId("wsr", random) }))
    return storage.transact(async ({ workspaceResources }) => {
      for (const resource of withIds)
        await workspaceResources.put(workspaceId, resource, { at: createdAt, stateVersionId })
    })
  })
  await storage.transact(({ workspaceResources }) => workspaceResources.setListedFrom(workspaceId, stateVersionId))
}

async function eachBatch<T>(items: readonly T[], write: (batch: readonly T[]) => Promise<void>): Promise<void> {
  for (let first = 0; first < items.length; first += resourcesPerWrite)
    await write(items.slice(first, first + resourcesPerWrite))
}
