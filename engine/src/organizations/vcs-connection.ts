// How workspaces reach their repositories: an OAuth client with its tokens, or an installed app. Records only: nothing here
// talks to a VCS provider.
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
  /** The consumer key of the provider's application link; empty without one. */
  readonly key: string
  /** The public part of the key pair of that link; empty without one. */
  readonly rsaPublicKey: string
  /** Whether workspaces of every project may use its tokens; otherwise those of its projects. */
  readonly organizationScoped: boolean
  /** The pool whose agents reach the provider; null where the server itself does. */
  readonly agentPoolId: string | null
  readonly createdAt: Instant
}

export interface OauthClientInput {
  readonly name: string | null
  readonly serviceProvider: ServiceProvider
  readonly httpUrl: string
  readonly apiUrl: string
  /** The secret of the client's first token; written once, never shown. A client with a key pair needs none. */
  readonly token?: string
  readonly key?: string
  readonly rsaPublicKey?: string
  /** The private part of the key pair, or the provider's own secret; never shown. */
  readonly secret?: string
  /** The SSH key of the first token; never shown. */
  readonly privateKey?: string
  /** True by default; false where projects are named. */
  readonly organizationScoped?: boolean
  readonly projectIds?: readonly string[]
  readonly agentPoolId?: string | null
}

/** `token` takes the place of the secret of every token of the client, `projectIds` of the projects that the caller sees. */
export type OauthClientPatch = Partial<
  Pick<
    OauthClientInput,
    "name" | "token" | "key" | "rsaPublicKey" | "secret" | "organizationScoped" | "projectIds" | "agentPoolId"
  >
>

export interface OauthClientView extends Omit<OauthClient, "organizationId"> {
  readonly organizationName: string
  readonly tokenIds: readonly string[]
  /** Those that the caller sees. */
  readonly projectIds: readonly ProjectId[]
}

export interface OauthToken {
  readonly id: string
  readonly oauthClientId: string
  readonly organizationId: OrganizationId
  readonly serviceProviderUser: string | null
  /** For repositories that are cloned with a key; written and never read back. */
  readonly hasSshKey: boolean
  readonly createdAt: Instant
}

export interface OauthTokenPatch {
  /** Null takes away the one there is. */
  readonly sshKey?: string | null
}

export type OauthTokenView = Omit<OauthToken, "organizationId">

export interface AppInstallation {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly name: string
  /** The provider's own number for it. */
  readonly installationId: number
  readonly createdAt: Instant
}

export type AppInstallationInput = Pick<AppInstallation, "name" | "installationId">
export interface AppInstallationView extends Omit<AppInstallation, "organizationId"> {
  readonly organizationName: string
}

/** All combine with AND. */
export interface AppInstallationQuery {
  /** All of it, in whatever case. */
  readonly name?: string
  /** The provider's own number. */
  readonly installationId?: number
}

const nameMaximum = 255
const tokenMaximum = 16 * 1024

const hasKeyPair = ({ key, rsaPublicKey }: Pick<OauthClientInput, "key" | "rsaPublicKey">): boolean =>
  Boolean(key) && Boolean(rsaPublicKey)

/** Their application links are set up at the provider, before or after the client is made. */
export const providersWithoutToken: ReadonlySet<ServiceProvider> = new Set([
  "bitbucket_server",
  "bitbucket_data_center",
])

/** A half key pair is a mistake; without any a client of these providers waits for its application link. */
const needsToken = (input: Pick<OauthClientInput, "key" | "rsaPublicKey" | "serviceProvider">): boolean =>
  !hasKeyPair(input) &&
  (Boolean(input.key) || Boolean(input.rsaPublicKey) || !providersWithoutToken.has(input.serviceProvider))

/** Projects that the organization does not have, as far as the caller sees, each at its place in the document. */
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

/** Of a VCS connection of a workspace, and of a move of one that has it. */
export const tokenNotAdmitted = "OAuth token is not available to workspaces of this project"

export function oauthClientFaults(input: OauthClientInput): Fault[] {
  const { name, httpUrl, apiUrl, token = "", privateKey = "" } = input
  const faults: Fault[] = []
  if (name !== null && name.length > nameMaximum)
    faults.push({ field: ["name"], detail: `Name is too long (maximum is ${nameMaximum} characters)` })
  if (!isHttpUrl(httpUrl)) faults.push({ field: ["httpUrl"], detail: "Http url must be an http or https address" })
  if (!isHttpUrl(apiUrl)) faults.push({ field: ["apiUrl"], detail: "Api url must be an http or https address" })
  if (token === "" && needsToken(input)) faults.push({ field: ["token"], detail: "Oauth token string can't be blank" })
  if (token.length > tokenMaximum)
    faults.push({
      field: ["token"],
      detail: `Oauth token string is too long (maximum is ${tokenMaximum} characters)`,
    })
  for (const [field, noun] of [
    ["key", "Key"],
    ["rsaPublicKey", "Rsa public key"],
    ["secret", "Secret"],
    ["privateKey", "Private key"],
  ] as const)
    if ((input[field] ?? "").length > tokenMaximum)
      faults.push({ field: [field], detail: `${noun} is too long (maximum is ${tokenMaximum} characters)` })
  if (privateKey !== "" && token === "")
    faults.push({ field: ["privateKey"], detail: "Private key needs an oauth token string, whose SSH key it is" })
  return faults
}

type PublicKeys = Pick<OauthClient, "key" | "rsaPublicKey">

/** Without a token a client lives by its key pair, no part of which can go. */
export function keptKeyPairFaults(before: PublicKeys, after: PublicKeys, hasToken: boolean): Fault[] {
  const goes = (field: keyof PublicKeys): boolean => !hasToken && before[field] !== "" && after[field] === ""
  return [
    ...(goes("key") ? [{ field: ["key"], detail: "Key can't be blank" }] : []),
    ...(goes("rsaPublicKey") ? [{ field: ["rsaPublicKey"], detail: "Rsa public key can't be blank" }] : []),
  ]
}

/** As of the keys of an organization, in the words of this document. */
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
  if (name.length > nameMaximum)
    faults.push({ field: ["name"], detail: `Name is too long (maximum is ${nameMaximum} characters)` })
  if (!Number.isSafeInteger(installationId) || installationId < 1)
    faults.push({ field: ["installationId"], detail: "Installation must be a positive integer" })
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
  /** Whether workspaces of the project may use the token. */
  admits(tokenId: string, projectId: ProjectId): Promise<boolean>
  insertClient(client: OauthClient): Promise<void>
  saveClient(client: OauthClient): Promise<void>
  /** Null for none. */
  saveClientSecret(id: string, secret: string | null): Promise<void>
  /** With its tokens; workspaces that used one lose their VCS binding. */
  removeClient(id: string): Promise<void>

  findToken(id: string): Promise<OauthToken | undefined>
  listTokens(organizationId: OrganizationId, page: PageRequest): Promise<Page<OauthToken>>
  insertToken(token: OauthToken, secret: string): Promise<void>
  /** Null for none. */
  saveTokenSshKey(tokenId: string, sshKey: string | null): Promise<void>
  saveSecret(tokenId: string, secret: string): Promise<void>
  /** Workspaces that used it lose their VCS binding. */
  removeToken(id: string): Promise<void>

  findInstallation(id: string): Promise<AppInstallation | undefined>
  listInstallations(organizationId: OrganizationId, page: PageRequest): Promise<Page<AppInstallation>>
  listInstallationsAmong(
    organizationIds: readonly OrganizationId[] | "all",
    query: AppInstallationQuery,
    page: PageRequest,
  ): Promise<Page<AppInstallation & { readonly organizationName: string }>>
  insertInstallation(installation: AppInstallation): Promise<void>
  /** Workspaces that used it lose their VCS binding. */
  removeInstallation(id: string): Promise<void>
}

/** OAuth clients, their tokens and app installations; deleting one takes the VCS binding from the workspaces that used it. */
export interface VcsConnections {
  createClient(organization: string, input: OauthClientInput): Promise<OauthClientView>
  getClient(id: string): Promise<OauthClientView>
  listClients(organization: string, page: PageRequest): Promise<Page<OauthClientView>>
  updateClient(id: string, patch: OauthClientPatch): Promise<OauthClientView>
  deleteClient(id: string): Promise<void>
  /**
   * Lets workspaces of these projects use the client's tokens, where it is not for the whole organization. Projects that it has
   * already stay.
   */
  addProjects(id: string, projectIds: readonly string[]): Promise<void>
  /** Workspaces that use a token keep their VCS connection. */
  removeProjects(id: string, projectIds: readonly string[]): Promise<void>
  getToken(id: string): Promise<OauthTokenView>
  listTokens(organization: string, page: PageRequest): Promise<Page<OauthTokenView>>
  updateToken(id: string, patch: OauthTokenPatch): Promise<OauthTokenView>
  deleteToken(id: string): Promise<void>
  createInstallation(organization: string, input: AppInstallationInput): Promise<AppInstallationView>
  getInstallation(id: string): Promise<AppInstallationView>
  listInstallations(organization: string, page: PageRequest): Promise<Page<AppInstallationView>>
  /** Of every organization whose VCS settings the caller manages. */
  listAvailableInstallations(query: AppInstallationQuery, page: PageRequest): Promise<Page<AppInstallationView>>
  deleteInstallation(id: string): Promise<void>
}
