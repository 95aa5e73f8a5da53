import type { OrganizationId, ProjectId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { AppInstallation, AppInstallationQuery, OauthClient, OauthToken } from "./vcs-connection.ts"

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
