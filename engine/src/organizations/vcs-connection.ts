// Connections of workspaces to repositories: an OAuth client with its tokens, or an installed GitHub App. They are records only: this
// server sends no requests to VCS providers.
import type { Fault } from "../core/errors.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import { sshKeyFaults } from "./ssh-key.ts"

export const serviceProviders = [
  "github",
  "github_enterprise",
  "gitlab_hosted",
  "gitlab_community_edition",
  "gitlab_enterprise_edition",
  "bitbucket_hosted",
  "bitbucket_server",
  "bitbucket_data_center",
  "ado_server",
  "ado_services",
] as const
export type ServiceProvider = (typeof serviceProviders)[number]

export interface OauthClient {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly name: string | null
  readonly serviceProvider: ServiceProvider
  readonly httpUrl: string
  readonly apiUrl: string
  /** Consumer key of the provider's application link. Empty if there is none. */
  readonly key: string
  /** Public key of that link. Empty if there is none. */
  readonly rsaPublicKey: string
  /** True if workspaces of every project may use the client's tokens. Otherwise only workspaces of its projects may. */
  readonly organizationScoped: boolean
  /** Pool whose agents connect to the provider. Null if the server connects. */
  readonly agentPoolId: string | null
  readonly createdAt: Instant
}

export interface OauthClientInput {
  readonly name: string | null
  readonly serviceProvider: ServiceProvider
  readonly httpUrl: string
  readonly apiUrl: string
  /** Secret of the client's first token, write-only. Optional for a client with a key pair. */
  readonly token?: string
  readonly key?: string
  readonly rsaPublicKey?: string
  /** Private key of the key pair, or the provider's own secret. Write-only. */
  readonly secret?: string
  /** SSH key of the first token. Write-only. */
  readonly privateKey?: string
  /** Default: true, or false if projects are given. */
  readonly organizationScoped?: boolean
  readonly projectIds?: readonly string[]
  readonly agentPoolId?: string | null
}

/**
 * Changes of a client. `token` replaces the secret of every token of the client. `projectIds` replaces those projects that the caller can
 * see.
 */
export type OauthClientPatch = Partial<
  Pick<
    OauthClientInput,
    "name" | "token" | "key" | "rsaPublicKey" | "secret" | "organizationScoped" | "projectIds" | "agentPoolId"
  >
>

export interface OauthClientView extends Omit<OauthClient, "organizationId"> {
  readonly organizationName: string
  readonly tokenIds: readonly string[]
  /** Projects that the caller can see. */
  readonly projectIds: readonly ProjectId[]
}

export interface OauthToken {
  readonly id: string
  readonly oauthClientId: string
  readonly organizationId: OrganizationId
  readonly serviceProviderUser: string | null
  /** True if the token has an SSH key for cloning repositories. The key is write-only. */
  readonly hasSshKey: boolean
  readonly createdAt: Instant
}

export interface OauthTokenPatch {
  /** Null removes the key. */
  readonly sshKey?: string | null
}

export type OauthTokenView = Omit<OauthToken, "organizationId">

export interface AppInstallation {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly name: string
  /** Id of the installation at the provider. */
  readonly installationId: number
  readonly createdAt: Instant
}

export type AppInstallationInput = Pick<AppInstallation, "name" | "installationId">
export interface AppInstallationView extends Omit<AppInstallation, "organizationId"> {
  readonly organizationName: string
}

/** Filters of installations. All combine with AND. */
export interface AppInstallationQuery {
  /** Exact name, case-insensitive. */
  readonly name?: string
  /** Id of the installation at the provider. */
  readonly installationId?: number
}

const maxName = 255
const maxToken = 16 * 1024

const hasKeyPair = ({ key, rsaPublicKey }: Pick<OauthClientInput, "key" | "rsaPublicKey">): boolean =>
  Boolean(key) && Boolean(rsaPublicKey)

/** Providers whose application links are configured at the provider, before or after the client is created. */
export const providersWithoutToken: ReadonlySet<ServiceProvider> = new Set([
  "bitbucket_server",
  "bitbucket_data_center",
])

/**
 * Returns whether the client needs a token. One half of a key pair is a mistake. Without a key pair, a client of these providers waits for
 * its application link.
 */
const needsToken = (input: Pick<OauthClientInput, "key" | "rsaPublicKey" | "serviceProvider">): boolean =>
  !hasKeyPair(input) &&
  (Boolean(input.key) || Boolean(input.rsaPublicKey) || !providersWithoutToken.has(input.serviceProvider))

/** Returns faults for projects that the organization does not have, or that the caller cannot see, with their index in the document. */
export const unknownProjectFaults = (ids: readonly string[], known: ReadonlySet<string>): Fault[] =>
  ids.flatMap((id, index) =>
    known.has(id)
      ? []
      : [{ field: ["projectIds", index, "id"], detail: `Project ${id} does not exist in this organization` }],
  )

export const unknownAgentPoolFault: Fault = {
  field: ["agentPoolId"],
  detail: "the provided agent pool does not exist or you are not authorized to use it",
}

/** Error text for a VCS connection of a workspace, and for a move of a workspace with one. */
export const tokenNotAdmitted = "OAuth token is not available to workspaces of this project"

export function oauthClientFaults(input: OauthClientInput): Fault[] {
  const { name, httpUrl, apiUrl, token = "", privateKey = "" } = input
  const faults: Fault[] = []
  if (name !== null && name.length > maxName)
    faults.push({ field: ["name"], detail: `Name is too long (maximum is ${maxName} characters)` })
  if (!isHttpUrl(httpUrl)) faults.push({ field: ["httpUrl"], detail: "http-url must be an http or https URL" })
  if (!isHttpUrl(apiUrl)) faults.push({ field: ["apiUrl"], detail: "api-url must be an http or https URL" })
  if (token === "" && needsToken(input)) faults.push({ field: ["token"], detail: "Oauth token string can't be blank" })
  if (token.length > maxToken)
    faults.push({
      field: ["token"],
      detail: `Oauth token string is too long (maximum is ${maxToken} characters)`,
    })
  for (const [field, noun] of [
    ["key", "Key"],
    ["rsaPublicKey", "Rsa public key"],
    ["secret", "Secret"],
    ["privateKey", "Private key"],
  ] as const)
    if ((input[field] ?? "").length > maxToken)
      faults.push({ field: [field], detail: `${noun} is too long (maximum is ${maxToken} characters)` })
  if (privateKey !== "" && token === "")
    faults.push({ field: ["privateKey"], detail: "private-key requires oauth-token-string" })
  return faults
}

type PublicKeys = Pick<OauthClient, "key" | "rsaPublicKey">

/** Returns faults for removed keys. A client without a token needs both keys of its key pair. */
export function keptKeyPairFaults(before: PublicKeys, after: PublicKeys, hasToken: boolean): Fault[] {
  const goes = (field: keyof PublicKeys): boolean => !hasToken && before[field] !== "" && after[field] === ""
  return [
    ...(goes("key") ? [{ field: ["key"], detail: "Key can't be blank" }] : []),
    ...(goes("rsaPublicKey") ? [{ field: ["rsaPublicKey"], detail: "Rsa public key can't be blank" }] : []),
  ]
}

/** Applies the rules of an organization's SSH keys, with the names of this document. */
export const oauthTokenFaults = ({ sshKey }: OauthTokenPatch): Fault[] =>
  typeof sshKey !== "string"
    ? []
    : sshKeyFaults({ value: sshKey }).map(({ detail }) => ({
        field: ["sshKey"],
        detail: detail.replace(/^Value/, "Ssh key"),
      }))

export function appInstallationFaults({ name, installationId }: AppInstallationInput): Fault[] {
  const faults: Fault[] = []
  if (name.trim() === "") faults.push({ field: ["name"], detail: "Name can't be blank" })
  if (name.length > maxName)
    faults.push({ field: ["name"], detail: `Name is too long (maximum is ${maxName} characters)` })
  if (!Number.isSafeInteger(installationId) || installationId < 1)
    faults.push({ field: ["installationId"], detail: "installation-id must be a positive integer" })
  return faults
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") && text.length <= 2_048
}

export interface VcsConnectionRepository {
  findClient(id: string): Promise<OauthClient | undefined>
  listClients(organizationId: OrganizationId, page: PageRequest): Promise<Page<OauthClient>>
  tokenIdsOf(clientIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  projectIdsOf(clientIds: readonly string[]): Promise<ReadonlyMap<string, readonly ProjectId[]>>
  addProjects(clientId: string, projectIds: readonly ProjectId[]): Promise<void>
  removeProjects(clientId: string, projectIds: readonly ProjectId[]): Promise<void>
  /** Returns whether workspaces of the project may use the token. */
  admits(tokenId: string, projectId: ProjectId): Promise<boolean>
  insertClient(client: OauthClient): Promise<void>
  saveClient(client: OauthClient): Promise<void>
  /** Saves the secret. Null removes it. */
  saveClientSecret(id: string, secret: string | null): Promise<void>
  /** Deletes the client and its tokens. Workspaces that used one lose their VCS connection. */
  removeClient(id: string): Promise<void>

  findToken(id: string): Promise<OauthToken | undefined>
  listTokens(organizationId: OrganizationId, page: PageRequest): Promise<Page<OauthToken>>
  insertToken(token: OauthToken, secret: string): Promise<void>
  /** Saves the SSH key. Null removes it. */
  saveTokenSshKey(tokenId: string, sshKey: string | null): Promise<void>
  saveSecret(tokenId: string, secret: string): Promise<void>
  /** Deletes the token. Workspaces that used it lose their VCS connection. */
  removeToken(id: string): Promise<void>

  findInstallation(id: string): Promise<AppInstallation | undefined>
  listInstallations(organizationId: OrganizationId, page: PageRequest): Promise<Page<AppInstallation>>
  listInstallationsAmong(
    organizationIds: readonly OrganizationId[] | "all",
    query: AppInstallationQuery,
    page: PageRequest,
  ): Promise<Page<AppInstallation & { readonly organizationName: string }>>
  insertInstallation(installation: AppInstallation): Promise<void>
  /** Deletes the installation. Workspaces that used it lose their VCS connection. */
  removeInstallation(id: string): Promise<void>
}

/** Operations on OAuth clients, their tokens and app installations. Deletion removes the VCS connection of the workspaces that used one. */
export interface VcsConnections {
  createClient(organization: string, input: OauthClientInput): Promise<OauthClientView>
  getClient(id: string): Promise<OauthClientView>
  listClients(organization: string, page: PageRequest): Promise<Page<OauthClientView>>
  updateClient(id: string, patch: OauthClientPatch): Promise<OauthClientView>
  deleteClient(id: string): Promise<void>
  /**
   * Permits workspaces of these projects to use the client's tokens, if the client is not for the whole organization. Existing projects
   * stay.
   */
  addProjects(id: string, projectIds: readonly string[]): Promise<void>
  /** Removes projects. Workspaces that use a token keep their VCS connection. */
  removeProjects(id: string, projectIds: readonly string[]): Promise<void>
  getToken(id: string): Promise<OauthTokenView>
  listTokens(organization: string, page: PageRequest): Promise<Page<OauthTokenView>>
  updateToken(id: string, patch: OauthTokenPatch): Promise<OauthTokenView>
  deleteToken(id: string): Promise<void>
  createInstallation(organization: string, input: AppInstallationInput): Promise<AppInstallationView>
  getInstallation(id: string): Promise<AppInstallationView>
  listInstallations(organization: string, page: PageRequest): Promise<Page<AppInstallationView>>
  /** Lists installations of every organization whose VCS settings the caller manages. */
  listAvailableInstallations(query: AppInstallationQuery, page: PageRequest): Promise<Page<AppInstallationView>>
  deleteInstallation(id: string): Promise<void>
}
