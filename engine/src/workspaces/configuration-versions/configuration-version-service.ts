import type { Caller } from "../../core/caller.ts"
import type { Edition } from "../../core/edition.ts"
import { EngineError, notFound, rejectFaults } from "../../core/errors.ts"
import { grantFor, isGranted } from "../../core/grants.ts"
import { type ConfigurationVersionId, newId } from "../../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../../core/page.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Signer } from "../../core/signing.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import { hourMs } from "../../core/time.ts"
import type { Change, EventRepository } from "../../events/feed/event.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { actorOf, type AuthorizedWorkspace, authorizeWorkspace } from "../access/workspace-authorization.ts"
import {
  archive,
  becomesCurrent,
  changeConfigurationData,
  type ConfigurationArchive,
  maxConfigurationBytes,
  type ConfigurationDataAction,
  type ConfigurationVersion,
  configurationVersionFaults,
  type ConfigurationVersionInput,
  type ConfigurationVersionView,
  type IngressAttributesView,
  type Readme,
  receive,
  rejectWhileRunning,
} from "./configuration-version.ts"
import type { ConfigurationVersionRepository } from "./configuration-version-repository.ts"
import type { ConfigurationUploads, ConfigurationVersions } from "./configuration-version-api.ts"
import type { WorkspacePermission } from "../access/workspace-permissions.ts"
import { newRun, queueRunFor } from "../runs/run-queue.ts"
import type { RunRepository } from "../runs/run-repository.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { SituatedWorkspace, WorkspaceRef } from "../workspace/workspace.ts"

/** Dependencies of both services, in addition to the storage. */
export interface ConfigurationTools {
  readonly edition: Edition
  readonly archive: ConfigurationArchive
  readonly signer: Signer
}

/** Lifetime of an upload URL from the creation of the version. Equal to that of URLs for states. */
const uploadGrantMs = 25 * hourMs
const uploadSubject = (id: string) => `configuration-upload/${id}`

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly configurationVersions: ConfigurationVersionRepository
  readonly events: EventRepository
  readonly runs: RunRepository
}

export class ConfigurationVersionService implements ConfigurationVersions {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #tools: ConfigurationTools
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, tools: ConfigurationTools, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#tools = tools
    this.#caller = caller
  }

  async create(ref: WorkspaceRef, input: ConfigurationVersionInput): Promise<ConfigurationVersionView> {
    const { random, clock } = this.#runtime
    const ids = { version: newId("cv", random), ingress: newId("ia", random), readme: newId("readme", random) }
    const now = clock.now()
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canQueueRun")
      rejectFaults(configurationVersionFaults(input))
      const version: ConfigurationVersion = {
        id: ids.version,
        workspaceId: workspace.id,
        organizationId: workspace.organizationId,
        source: "tfe-api",
        status: "pending",
        speculative: input.speculative,
        provisional: input.provisional,
        autoQueueRuns: input.autoQueueRuns,
        error: null,
        errorMessage: null,
        createdAt: now,
        ingress: input.ingressAttributes && { id: ids.ingress, attributes: input.ingressAttributes },
        readme: input.readme === null ? null : { id: ids.readme, markdown: input.readme },
        createdBy: actorOf(this.#caller),
        contentDigest: null,
      }
      await repositories.configurationVersions.insert(version)
      if (becomesCurrent(version))
        await repositories.workspaces.save(workspace, { ...workspace, currentConfigurationVersionId: version.id })
      await repositories.events.append(configurationEvent("configuration.created", workspace, version))
      const upload = grantFor(this.#tools.signer, uploadSubject(version.id), now + uploadGrantMs)
      return { ...viewConfigurationVersion(version), upload }
    })
  }

  get(id: string): Promise<ConfigurationVersionView> {
    return this.#storage.read(async (repositories) => {
      return viewConfigurationVersion((await this.#authorized(repositories, id, "canReadRun")).version)
    })
  }

  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<ConfigurationVersionView>> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canReadRun")
      return mapPage(await repositories.configurationVersions.list(workspace.id, page), viewConfigurationVersion)
    })
  }

  async upload(id: string, archive: Uint8Array): Promise<void> {
    const { version } = await this.#storage.read((repositories) => this.#authorized(repositories, id, "canQueueRun"))
    await receiveArchive(this.#storage, this.#runtime, this.#tools.archive, version.id, archive)
  }

  async download(id: string): Promise<Uint8Array> {
    const { version, chunks } = await this.#storage.read(async (repositories) => {
      const { version } = await this.#authorized(repositories, id, "canReadRun")
      return { version, chunks: await repositories.configurationVersions.content(version.id) }
    })
    if (version.status !== "uploaded") throw notFound(id)
    return this.#tools.archive.unpack(version.id, chunks)
  }

  archive(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { version, workspace } = await this.#authorized(repositories, id, "canQueueApply")
      const archived = archive(version, workspace.currentConfigurationVersionId === version.id)
      rejectWhileRunning(version, await repositories.runs.needsConfiguration(version.id))
      await repositories.configurationVersions.save(archived)
      await repositories.configurationVersions.saveContent(version.id, [])
      await repositories.events.append(configurationEvent("configuration.archived", workspace, version))
    })
  }

  softDeleteBackingData(id: string): Promise<void> {
    return this.#changeBackingData(id, "soft-delete")
  }

  restoreBackingData(id: string): Promise<void> {
    return this.#changeBackingData(id, "restore")
  }

  permanentlyDeleteBackingData(id: string): Promise<void> {
    return this.#changeBackingData(id, "permanently-delete")
  }

  #changeBackingData(id: string, action: ConfigurationDataAction): Promise<void> {
    if (this.#tools.edition === "hosted") throw notFound(id)
    return this.#storage.transact(async (repositories) => {
      const { version, workspace } = await this.#authorized(repositories, id, "canUpdate")
      const isNeeded =
        workspace.currentConfigurationVersionId === version.id ||
        (await repositories.runs.needsConfiguration(version.id))
      const changed = changeConfigurationData(version, action, isNeeded)
      await repositories.configurationVersions.save(changed)
      if (action === "permanently-delete") await repositories.configurationVersions.saveContent(changed.id, [])
      const event = configurationEvent("configuration.updated", workspace, changed)
      await repositories.events.append({ ...event, changed: ["status"] })
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { version, workspace } = await this.#authorized(repositories, id, "canQueueApply")
      rejectWhileRunning(version, await repositories.runs.needsConfiguration(version.id))
      if (workspace.currentConfigurationVersionId === version.id)
        await repositories.workspaces.save(workspace, { ...workspace, currentConfigurationVersionId: null })
      await repositories.configurationVersions.remove(version.id)
      await repositories.events.append(configurationEvent("configuration.deleted", workspace, version))
    })
  }

  ingressAttributes(id: string): Promise<IngressAttributesView> {
    return this.#storage.read(async (repositories) => {
      const { ingress } = (await this.#authorized(repositories, id, "canReadRun")).version
      if (ingress === null) throw notFound(id)
      return { id: ingress.id, ...ingress.attributes }
    })
  }

  readme(ref: WorkspaceRef): Promise<Readme> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref)
      const current = workspace.currentConfigurationVersionId
      const version = current === null ? undefined : await repositories.configurationVersions.find(current)
      if (version === undefined || version.readme === null) throw notFound(workspace.id)
      return version.readme
    })
  }

  async #authorized(
    repositories: UsedRepositories,
    id: string,
    permission: WorkspacePermission,
  ): Promise<AuthorizedWorkspace & { readonly version: ConfigurationVersion }> {
    const version = await repositories.configurationVersions.find(id)
    if (version === undefined) throw notFound(id)
    return {
      ...(await authorizeWorkspace(repositories, this.#caller, { id: version.workspaceId }, permission)),
      version,
    }
  }
}

/** Uploads have no caller. The credential in the URL is the only authorization. */
export class ConfigurationUploadService implements ConfigurationUploads {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #tools: ConfigurationTools

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, tools: ConfigurationTools) {
    // Repeatable read suffices, as for `ConfigurationVersionService`.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#tools = tools
  }

  async upload(
    { id, credential }: { readonly id: string; readonly credential: string },
    read: () => Promise<Uint8Array>,
  ): Promise<void> {
    const now = this.#runtime.clock.now()
    if (!isGranted(this.#tools.signer, uploadSubject(id), credential, now)) throw notFound(id)
    await receiveArchive(this.#storage, this.#runtime, this.#tools.archive, id, await read())
  }
}

/** Receives an archive. If it cannot be read, the version stays pending and the workspace keeps its configuration. */
async function receiveArchive(
  storage: Storage<UsedRepositories>,
  { random, clock }: Runtime,
  archive: ConfigurationArchive,
  id: string,
  bytes: Uint8Array,
): Promise<void> {
  if (bytes.length > maxConfigurationBytes)
    throw new EngineError("too-large", `The configuration is larger than ${maxConfigurationBytes} bytes.`)
  const announced = await storage.read(async (repositories) => {
    const found = await situated(repositories, id)
    return { ...found, isUsed: await repositories.runs.usesConfiguration(found.version) }
  })
  const { digest, readme: markdown } = await archive.inspect(bytes, announced.workspace.workingDirectory)
  const readme = markdown === null ? null : { id: newId("readme", random), markdown }
  // Check before packing, which is more expensive. The transaction checks again, because the version can change until then.
  if (receive(announced.version, { digest, readme }, announced.isUsed) === announced.version) return
  const chunks = await archive.pack(announced.version.id, bytes)
  const run = newRun(random, clock.now())
  await storage.transact(async (repositories) => {
    const { version, workspace } = await situated(repositories, id)
    const uploaded = receive(version, { digest, readme }, await repositories.runs.usesConfiguration(version))
    if (uploaded === version) return
    await repositories.configurationVersions.save(uploaded)
    await repositories.configurationVersions.saveContent(uploaded.id, chunks)
    if (becomesCurrent(uploaded) && (await isNewest(repositories, uploaded, workspace.currentConfigurationVersionId)))
      await repositories.workspaces.save(workspace, { ...workspace, currentConfigurationVersionId: uploaded.id })
    await repositories.events.append(configurationEvent("configuration.uploaded", workspace, uploaded))
    await queueRunFor(repositories, uploaded, { ...run, createdBy: uploaded.createdBy })
  })
}

const configurationEvent = (
  kind: `configuration.${"created" | "uploaded" | "updated" | "archived" | "deleted"}`,
  workspace: SituatedWorkspace,
  { id }: ConfigurationVersion,
): Change => ({ kind, workspace, subject: { type: "configuration-versions", id } })

async function situated(
  repositories: Pick<UsedRepositories, "workspaces" | "configurationVersions">,
  id: string,
): Promise<{ readonly version: ConfigurationVersion; readonly workspace: SituatedWorkspace }> {
  const version = await repositories.configurationVersions.find(id)
  const workspace = version && (await repositories.workspaces.find({ id: version.workspaceId }))
  if (version === undefined || workspace === undefined) throw notFound(id)
  return { version, workspace }
}

/** Returns whether the current version is not newer than this one. Versions can be uploaded in another order than they were created. */
async function isNewest(
  { configurationVersions }: Pick<UsedRepositories, "configurationVersions">,
  { createdAt }: ConfigurationVersion,
  currentId: ConfigurationVersionId | null,
): Promise<boolean> {
  const current = currentId === null ? undefined : await configurationVersions.find(currentId)
  return current === undefined || current.createdAt <= createdAt
}

/**
 * Returns the document without the upload credential, which permits replacing the configuration. Only the response to its creation contains
 * it.
 */
export function viewConfigurationVersion({
  organizationId: _organizationId,
  readme: _readme,
  createdBy: _createdBy,
  contentDigest: _contentDigest,
  ingress,
  ...version
}: ConfigurationVersion): ConfigurationVersionView {
  return { ...version, ingressAttributesId: ingress?.id ?? null, upload: null }
}
