import type { Caller } from "../core/caller.ts"
import { notFound, refuseFaults } from "../core/errors.ts"
import { newId, type OrganizationId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../core/storage.ts"
import type { Stores } from "../stores.ts"
import { isPrivateKey } from "./ssh-key.ts"
import { authorizeOrganization } from "./authorization.ts"
import type { Organization } from "./organization.ts"
import { permissionsIn } from "./organization-permissions.ts"
import { organizationsOf } from "./organization-service.ts"
import {
  type AppInstallation,
  appInstallationFaults,
  type AppInstallationInput,
  type AppInstallationQuery,
  type AppInstallationView,
  type OauthClient,
  keptKeyPairFaults,
  oauthClientFaults,
  type OauthClientInput,
  type OauthClientPatch,
  type OauthClientView,
  type OauthToken,
  oauthTokenFaults,
  type OauthTokenPatch,
  type OauthTokenView,
} from "./vcs-connection.ts"
import type { VcsConnections } from "./vcs-connections.ts"

type UsedStores = Pick<Stores, "organizations" | "vcsConnections">

export class VcsConnectionService implements VcsConnections {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, caller: Caller) {
    // Each transaction writes one connection and decides by nothing else. A workspace that takes a connection while it is removed
    // holds it by a foreign key.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#caller = caller
  }

  createClient(name: string, input: OauthClientInput): Promise<OauthClientView> {
    const { random, clock } = this.#runtime
    const [id, tokenId] = [newId("oc", random), newId("ot", random)]
    const createdAt = clock.now()
    return this.#storage.transact(async (stores) => {
      const organization = await this.#organization(stores, name)
      refuseFaults(oauthClientFaults(input))
      const { token: tokenSecret = "", key = "", rsaPublicKey = "", secret = "", privateKey = "", ...described } = input
      const client: OauthClient = {
        ...described,
        key,
        rsaPublicKey,
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
      await stores.vcsConnections.insertClient(client)
      if (secret !== "") await stores.vcsConnections.saveClientSecret(id, secret)
      if (tokenSecret === "") return viewClient(client, organization, [])
      await stores.vcsConnections.insertToken(token, tokenSecret)
      if (privateKey !== "") await stores.vcsConnections.saveTokenSshKey(tokenId, privateKey)
      return viewClient(client, organization, [tokenId])
    })
  }

  getClient(id: string): Promise<OauthClientView> {
    return this.#storage.read(async (stores) => {
      const client = await stores.vcsConnections.findClient(id)
      const organization = await this.#owner(stores, client, id)
      const tokens = await stores.vcsConnections.tokenIdsOf([id])
      return viewClient(client as OauthClient, organization, tokens.get(id))
    })
  }

  listClients(name: string, page: PageRequest): Promise<Page<OauthClientView>> {
    return this.#storage.read(async (stores) => {
      const organization = await this.#organization(stores, name)
      const clients = await stores.vcsConnections.listClients(organization.id, page)
      const tokens = await stores.vcsConnections.tokenIdsOf(clients.items.map(({ id }) => id))
      return mapPage(clients, (client) => viewClient(client, organization, tokens.get(client.id)))
    })
  }

  updateClient(id: string, { token: tokenSecret, secret, ...patch }: OauthClientPatch): Promise<OauthClientView> {
    return this.#storage.transact(async (stores) => {
      const before = await stores.vcsConnections.findClient(id)
      const organization = await this.#owner(stores, before, id)
      const client = { ...(before as OauthClient), ...patch }
      const tokenIds = (await stores.vcsConnections.tokenIdsOf([id])).get(id) ?? []
      // The secret that stays was looked at when it was given.
      refuseFaults([
        ...oauthClientFaults({ ...client, ...(secret !== undefined && { secret }), token: tokenSecret ?? "kept" }),
        ...keptKeyPairFaults(before as OauthClient, client, tokenIds.length > 0),
      ])
      await stores.vcsConnections.saveClient(client)
      if (secret !== undefined) await stores.vcsConnections.saveClientSecret(id, secret || null)
      if (tokenSecret !== undefined)
        for (const tokenId of tokenIds) await stores.vcsConnections.saveSecret(tokenId, tokenSecret)
      return viewClient(client, organization, tokenIds)
    })
  }

  deleteClient(id: string): Promise<void> {
    return this.#storage.transact(async (stores) => {
      await this.#owner(stores, await stores.vcsConnections.findClient(id), id)
      await stores.vcsConnections.removeClient(id)
    })
  }

  getToken(id: string): Promise<OauthTokenView> {
    return this.#storage.read(async (stores) => {
      const token = await stores.vcsConnections.findToken(id)
      await this.#owner(stores, token, id)
      return viewToken(token as OauthToken)
    })
  }

  listTokens(name: string, page: PageRequest): Promise<Page<OauthTokenView>> {
    return this.#storage.read(async (stores) => {
      const organization = await this.#organization(stores, name)
      return mapPage(await stores.vcsConnections.listTokens(organization.id, page), viewToken)
    })
  }

  async updateToken(id: string, patch: OauthTokenPatch): Promise<OauthTokenView> {
    const view = await this.#storage.transact(async (stores) => {
      const token = (await stores.vcsConnections.findToken(id)) as OauthToken
      await this.#owner(stores, token, id)
      refuseFaults(oauthTokenFaults(patch))
      const { sshKey } = patch
      if (sshKey === undefined) return viewToken(token)
      await stores.vcsConnections.saveTokenSshKey(id, sshKey)
      return viewToken({ ...token, hasSshKey: sshKey !== null })
    })
    if (typeof patch.sshKey === "string" && !isPrivateKey(patch.sshKey))
      this.#runtime.log.warn("ssh-key-unusable", { oauthToken: id })
    return view
  }

  deleteToken(id: string): Promise<void> {
    return this.#storage.transact(async (stores) => {
      await this.#owner(stores, await stores.vcsConnections.findToken(id), id)
      await stores.vcsConnections.removeToken(id)
    })
  }

  createInstallation(name: string, input: AppInstallationInput): Promise<AppInstallationView> {
    const id = newId("ghain", this.#runtime.random)
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async (stores) => {
      const organization = await this.#organization(stores, name)
      refuseFaults(appInstallationFaults(input))
      const installation: AppInstallation = { ...input, id, organizationId: organization.id, createdAt }
      await stores.vcsConnections.insertInstallation(installation)
      return viewInstallation(installation, organization)
    })
  }

  getInstallation(id: string): Promise<AppInstallationView> {
    return this.#storage.read(async (stores) => {
      const installation = await stores.vcsConnections.findInstallation(id)
      const organization = await this.#owner(stores, installation, id)
      return viewInstallation(installation as AppInstallation, organization)
    })
  }

  listInstallations(name: string, page: PageRequest): Promise<Page<AppInstallationView>> {
    return this.#storage.read(async (stores) => {
      const organization = await this.#organization(stores, name)
      return mapPage(await stores.vcsConnections.listInstallations(organization.id, page), (installation) =>
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
    return this.#storage.transact(async (stores) => {
      await this.#owner(stores, await stores.vcsConnections.findInstallation(id), id)
      await stores.vcsConnections.removeInstallation(id)
    })
  }

  async #organization(stores: UsedStores, name: string): Promise<Organization> {
    return (await authorizeOrganization(stores, this.#caller, name, "canUpdateOauth")).organization
  }

  /** The organization of a record, if the caller may manage its VCS settings. */
  async #owner(
    stores: UsedStores,
    record: { readonly organizationId: OrganizationId } | undefined,
    id: string,
  ): Promise<Organization> {
    const organization = record && (await stores.organizations.find(record.organizationId))
    if (organization === undefined) throw notFound(id)
    return this.#organization(stores, organization.name)
  }
}

const viewClient = (
  { organizationId: _organizationId, ...client }: OauthClient,
  organization: Organization,
  tokenIds: readonly string[] = [],
): OauthClientView => ({ ...client, organizationName: organization.name, tokenIds })

const viewToken = ({ organizationId: _organizationId, ...token }: OauthToken): OauthTokenView => token

const viewInstallation = (
  { organizationId: _organizationId, ...installation }: AppInstallation,
  organization: Organization,
): AppInstallationView => ({ ...installation, organizationName: organization.name })
