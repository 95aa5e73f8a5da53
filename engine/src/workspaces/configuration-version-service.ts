import type { Caller } from "../core/caller.ts"
import { notFound, refuseFaults } from "../core/errors.ts"
import { newId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { Stores } from "../stores.ts"
import { type AuthorizedWorkspace, authorizeWorkspace } from "./authorization.ts"
import {
  archive,
  becomesCurrent,
  type ConfigurationVersion,
  configurationVersionFaults,
  type ConfigurationVersionInput,
  type ConfigurationVersionView,
  type IngressAttributesView,
  type Readme,
} from "./configuration-version.ts"
import type { ConfigurationVersions } from "./configuration-versions.ts"
import type { WorkspacePermission } from "./permissions.ts"
import type { WorkspaceRef } from "./workspace.ts"

type UsedStores = Pick<Stores, "workspaces" | "access" | "configurationVersions">

export class ConfigurationVersionService implements ConfigurationVersions {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  async create(ref: WorkspaceRef, input: ConfigurationVersionInput): Promise<ConfigurationVersionView> {
    const { random, clock } = this.#runtime
    const ids = { version: newId("cv", random), ingress: newId("ia", random), readme: newId("readme", random) }
    const now = clock.now()
    return this.#storage.transact(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, ref, "canQueueRun")
      refuseFaults(configurationVersionFaults(input))
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
      }
      await stores.configurationVersions.insert(version)
      if (becomesCurrent(version))
        await stores.workspaces.save(workspace, { ...workspace, currentConfigurationVersionId: version.id })
      return viewConfigurationVersion(version)
    })
  }

  get(id: string): Promise<ConfigurationVersionView> {
    return this.#storage.read(async (stores) =>
      viewConfigurationVersion((await this.#authorized(stores, id, "canReadRun")).version),
    )
  }

  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<ConfigurationVersionView>> {
    return this.#storage.read(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, ref, "canReadRun")
      return mapPage(await stores.configurationVersions.list(workspace.id, page), viewConfigurationVersion)
    })
  }

  archive(id: string): Promise<void> {
    return this.#storage.transact(async (stores) => {
      const { version, workspace } = await this.#authorized(stores, id, "canQueueApply")
      await stores.configurationVersions.saveStatus(
        archive(version, workspace.currentConfigurationVersionId === version.id),
      )
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (stores) => {
      const { version, workspace } = await this.#authorized(stores, id, "canQueueApply")
      if (workspace.currentConfigurationVersionId === version.id)
        await stores.workspaces.save(workspace, { ...workspace, currentConfigurationVersionId: null })
      await stores.configurationVersions.remove(version.id)
    })
  }

  ingressAttributes(id: string): Promise<IngressAttributesView> {
    return this.#storage.read(async (stores) => {
      const { ingress } = (await this.#authorized(stores, id, "canReadRun")).version
      if (ingress === null) throw notFound(id)
      return { id: ingress.id, ...ingress.attributes }
    })
  }

  readme(ref: WorkspaceRef): Promise<Readme> {
    return this.#storage.read(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, ref)
      const current = workspace.currentConfigurationVersionId
      const version = current === null ? undefined : await stores.configurationVersions.find(current)
      if (version === undefined || version.readme === null) throw notFound(workspace.id)
      return version.readme
    })
  }

  async #authorized(
    stores: UsedStores,
    id: string,
    permission: WorkspacePermission,
  ): Promise<AuthorizedWorkspace & { readonly version: ConfigurationVersion }> {
    const version = await stores.configurationVersions.find(id)
    if (version === undefined) throw notFound(id)
    return { ...(await authorizeWorkspace(stores, this.#caller, { id: version.workspaceId }, permission)), version }
  }
}

export function viewConfigurationVersion({
  organizationId: _organizationId,
  readme: _readme,
  ingress,
  ...version
}: ConfigurationVersion): ConfigurationVersionView {
  return { ...version, ingressAttributesId: ingress?.id ?? null }
}
