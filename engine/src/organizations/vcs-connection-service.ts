import type { Caller } from "../core/caller.ts"
import { type Fault, notFound, rejectFaults } from "../core/errors.ts"
import { newId, type OrganizationId, type ProjectId } from "../core/ids.ts"
import { mapPage, type Page, pageOf, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../core/storage.ts"
import { isPrivateKey } from "./ssh-key.ts"
import { authorizeOrganization, permissionsOn } from "./authorization.ts"
import { type Organization, type OrganizationRepository, permissionsIn } from "./organization.ts"
import { organizationsOf } from "./organization-service.ts"
import type { ProjectRepository } from "./project.ts"
import {
  type AppInstallation,
  appInstallationFaults,
  type AppInstallationInput,
  type AppInstallationQuery,
  type AppInstallationView,
  keptKeyPairFaults,
  type OauthClient,
  oauthClientFaults,
  type OauthClientInput,
  type OauthClientPatch,
  type OauthClientView,
  type OauthToken,
  oauthTokenFaults,
  type OauthTokenPatch,
  type OauthTokenView,
  unknownAgentPoolFault,
  unknownProjectFaults,
  type VcsConnectionRepository,
  type VcsConnections,
} from "./vcs-connection.ts"

interface UsedRepositories {
  readonly organizations: OrganizationRepository
  readonly projects: ProjectRepository
  readonly vcsConnections: VcsConnectionRepository
}

export class VcsConnectionService implements VcsConnections {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    // Repeatable read suffices: each transaction writes one connection and decides by nothing else. A foreign key protects a connection
    // that a workspace starts to use during its deletion.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  createClient(name: string, input: OauthClientInput): Promise<OauthClientView> {
    const { random, clock } = this.#runtime
    const [id, tokenId] = [newId("oc", random), newId("ot", random)]
    const createdAt = clock.now()
    return this.#storage.transact(async (repositories) => {
      const organization = await this.#organization(repositories, name)
      const { token: tokenSecret = "", key = "", rsaPublicKey = "", secret = "", privateKey = "", ...described } = input
      const {
        projectIds = [],
        agentPoolId = null,
        organizationScoped = projectIds.length === 0,
        ...settings
      } = described
      const projects = await this.#visibleProjects(repositories, organization.id, projectIds)
      rejectFaults([
        ...oauthClientFaults(input),
        ...unknownProjectFaults(projectIds, projects),
        ...(await agentPoolFaults(repositories, organization.id, agentPoolId)),
      ])
      const client: OauthClient = {
        ...settings,
        key,
        rsaPublicKey,
        organizationScoped,
        agentPoolId,
        id,
        organizationId: organization.id,
        createdAt,
      }
      const token: OauthToken = {
        id: tokenId,
        oauthClientId: id,
        organizationId: organization.id,
        serviceProviderUser: null,
        hasSshKey: false,
        createdAt,
      }
      await repositories.vcsConnections.insertClient(client)
      await repositories.vcsConnections.addProjects(id, [...projects])
      if (secret !== "") await repositories.vcsConnections.saveClientSecret(id, secret)
      if (tokenSecret !== "") await repositories.vcsConnections.insertToken(token, tokenSecret)
      if (privateKey !== "") await repositories.vcsConnections.saveTokenSshKey(tokenId, privateKey)
      return this.#view(repositories, client, organization)
    })
  }

  getClient(id: string): Promise<OauthClientView> {
    return this.#storage.read(async (repositories) => {
      const client = await repositories.vcsConnections.findClient(id)
      const organization = await this.#owner(repositories, client, id)
      return this.#view(repositories, client as OauthClient, organization)
    })
  }

  listClients(name: string, page: PageRequest): Promise<Page<OauthClientView>> {
    return this.#storage.read(async (repositories) => {
      const organization = await this.#organization(repositories, name)
      const clients = await repositories.vcsConnections.listClients(organization.id, page)
      return pageOf(await this.#views(repositories, clients.items, organization), page, clients.totalCount)
    })
  }

  updateClient(
    id: string,
    { token: tokenSecret, secret, projectIds, ...patch }: OauthClientPatch,
  ): Promise<OauthClientView> {
    return this.#storage.transact(async (repositories) => {
      const before = await repositories.vcsConnections.findClient(id)
      const organization = await this.#owner(repositories, before, id)
      const client = { ...(before as OauthClient), ...patch }
      const tokenIds = (await repositories.vcsConnections.tokenIdsOf([id])).get(id) ?? []
      const present = (await repositories.vcsConnections.projectIdsOf([id])).get(id) ?? []
      const visible = await this.#visibleProjects(repositories, organization.id, [...present, ...(projectIds ?? [])])
      // A token that stays was validated when it was written.
      rejectFaults([
        ...oauthClientFaults({ ...client, ...(secret !== undefined && { secret }), token: tokenSecret ?? "kept" }),
        ...keptKeyPairFaults(before as OauthClient, client, tokenIds.length > 0),
        ...unknownProjectFaults(projectIds ?? [], visible),
        ...(await agentPoolFaults(repositories, organization.id, patch.agentPoolId ?? null)),
      ])
      await repositories.vcsConnections.saveClient(client)
      if (secret !== undefined) await repositories.vcsConnections.saveClientSecret(id, secret || null)
      if (tokenSecret !== undefined)
        for (const tokenId of tokenIds) await repositories.vcsConnections.saveSecret(tokenId, tokenSecret)
      if (projectIds !== undefined) {
        const chosen = new Set<string>(projectIds)
        // Projects that the caller cannot see stay.
        await repositories.vcsConnections.removeProjects(
          id,
          present.filter((projectId) => visible.has(projectId) && !chosen.has(projectId)),
        )
        await repositories.vcsConnections.addProjects(
          id,
          [...visible].filter((projectId) => chosen.has(projectId)),
        )
      }
      return this.#view(repositories, client, organization)
    })
  }

  deleteClient(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      await this.#owner(repositories, await repositories.vcsConnections.findClient(id), id)
      await repositories.vcsConnections.removeClient(id)
    })
  }

  addProjects(id: string, projectIds: readonly string[]): Promise<void> {
    return this.#changeProjects(id, projectIds, (repositories, projects) =>
      repositories.vcsConnections.addProjects(id, projects),
    )
  }

  removeProjects(id: string, projectIds: readonly string[]): Promise<void> {
    return this.#changeProjects(id, projectIds, (repositories, projects) =>
      repositories.vcsConnections.removeProjects(id, projects),
    )
  }

  getToken(id: string): Promise<OauthTokenView> {
    return this.#storage.read(async (repositories) => {
      const token = await repositories.vcsConnections.findToken(id)
      await this.#owner(repositories, token, id)
      return viewToken(token as OauthToken)
    })
  }

  listTokens(name: string, page: PageRequest): Promise<Page<OauthTokenView>> {
    return this.#storage.read(async (repositories) => {
      const organization = await this.#organization(repositories, name)
      return mapPage(await repositories.vcsConnections.listTokens(organization.id, page), viewToken)
    })
  }

  async updateToken(id: string, patch: OauthTokenPatch): Promise<OauthTokenView> {
    const view = await this.#storage.transact(async (repositories) => {
      const token = (await repositories.vcsConnections.findToken(id)) as OauthToken
      await this.#owner(repositories, token, id)
      rejectFaults(oauthTokenFaults(patch))
      const { sshKey } = patch
      if (sshKey === undefined) return viewToken(token)
      await repositories.vcsConnections.saveTokenSshKey(id, sshKey)
      return viewToken({ ...token, hasSshKey: sshKey !== null })
    })
    if (typeof patch.sshKey === "string" && !isPrivateKey(patch.sshKey))
      this.#runtime.log.warn("ssh-key-unusable", { oauthToken: id })
    return view
  }

  deleteToken(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      await this.#owner(repositories, await repositories.vcsConnections.findToken(id), id)
      await repositories.vcsConnections.removeToken(id)
    })
  }

  createInstallation(name: string, input: AppInstallationInput): Promise<AppInstallationView> {
    const id = newId("ghain", this.#runtime.random)
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const organization = await this.#organization(repositories, name)
      rejectFaults(appInstallationFaults(input))
      const installation: AppInstallation = { ...input, id, organizationId: organization.id, createdAt }
      await repositories.vcsConnections.insertInstallation(installation)
      return viewInstallation(installation, organization)
    })
  }

  getInstallation(id: string): Promise<AppInstallationView> {
    return this.#storage.read(async (repositories) => {
      const installation = await repositories.vcsConnections.findInstallation(id)
      const organization = await this.#owner(repositories, installation, id)
      return viewInstallation(installation as AppInstallation, organization)
    })
  }

  listInstallations(name: string, page: PageRequest): Promise<Page<AppInstallationView>> {
    return this.#storage.read(async (repositories) => {
      const organization = await this.#organization(repositories, name)
      return mapPage(await repositories.vcsConnections.listInstallations(organization.id, page), (installation) =>
        viewInstallation(installation, organization),
      )
    })
  }

  listAvailableInstallations(query: AppInstallationQuery, page: PageRequest): Promise<Page<AppInstallationView>> {
    const own = organizationsOf(this.#caller)
    const managed = own === "all" ? own : own.filter((id) => permissionsIn(this.#caller, id)?.canUpdateOauth === true)
    return this.#storage.read(async ({ vcsConnections }) =>
      mapPage(
        await vcsConnections.listInstallationsAmong(managed, query, page),
        ({ organizationId: _organizationId, ...installation }) => installation,
      ),
    )
  }

  deleteInstallation(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      await this.#owner(repositories, await repositories.vcsConnections.findInstallation(id), id)
      await repositories.vcsConnections.removeInstallation(id)
    })
  }

  #changeProjects(
    id: string,
    projectIds: readonly string[],
    change: (repositories: UsedRepositories, projects: readonly ProjectId[]) => Promise<void>,
  ): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const organization = await this.#owner(repositories, await repositories.vcsConnections.findClient(id), id)
      const projects = await this.#visibleProjects(repositories, organization.id, projectIds)
      const missing = projectIds.find((projectId) => !projects.has(projectId as ProjectId))
      if (missing !== undefined) throw notFound(missing)
      await change(repositories, [...projects])
    })
  }

  /** Returns those of the ids that are projects of the organization and that the caller can see. */
  async #visibleProjects(
    repositories: UsedRepositories,
    organizationId: OrganizationId,
    ids: readonly string[],
  ): Promise<ReadonlySet<ProjectId>> {
    const found = ids.length === 0 ? [] : await repositories.projects.findMany([...new Set(ids)] as ProjectId[])
    const own = found.filter((project) => project.organizationId === organizationId)
    const permissions = await permissionsOn(repositories, this.#caller, own)
    return new Set(own.filter((_, index) => permissions[index]?.canRead).map(({ id }) => id))
  }

  async #view(
    repositories: UsedRepositories,
    client: OauthClient,
    organization: Organization,
  ): Promise<OauthClientView> {
    const [view] = await this.#views(repositories, [client], organization)
    return view as OauthClientView
  }

  async #views(
    repositories: UsedRepositories,
    clients: readonly OauthClient[],
    organization: Organization,
  ): Promise<readonly OauthClientView[]> {
    const ids = clients.map(({ id }) => id)
    const tokens = await repositories.vcsConnections.tokenIdsOf(ids)
    const projects = await repositories.vcsConnections.projectIdsOf(ids)
    const visible = await this.#visibleProjects(repositories, organization.id, [...projects.values()].flat())
    return clients.map(({ organizationId: _, ...client }) => ({
      ...client,
      organizationName: organization.name,
      tokenIds: tokens.get(client.id) ?? [],
      projectIds: (projects.get(client.id) ?? []).filter((id) => visible.has(id)),
    }))
  }

  async #organization(repositories: UsedRepositories, name: string): Promise<Organization> {
    return (await authorizeOrganization(repositories, this.#caller, name, "canUpdateOauth")).organization
  }

  /** Returns the organization of a record. Throws `not-found` unless the caller may manage its VCS settings. */
  async #owner(
    repositories: UsedRepositories,
    record: { readonly organizationId: OrganizationId } | undefined,
    id: string,
  ): Promise<Organization> {
    const organization = record && (await repositories.organizations.find(record.organizationId))
    if (organization === undefined) throw notFound(id)
    return this.#organization(repositories, organization.name)
  }
}

async function agentPoolFaults(
  { organizations }: Pick<UsedRepositories, "organizations">,
  organizationId: OrganizationId,
  id: string | null,
): Promise<Fault[]> {
  if (id === null) return []
  return (await organizations.ownsAgentPool(organizationId, id)) ? [] : [unknownAgentPoolFault]
}

const viewToken = ({ organizationId: _organizationId, ...token }: OauthToken): OauthTokenView => token

const viewInstallation = (
  { organizationId: _organizationId, ...installation }: AppInstallation,
  organization: Organization,
): AppInstallationView => ({ ...installation, organizationName: organization.name })
