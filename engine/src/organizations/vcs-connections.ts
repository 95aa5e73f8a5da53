import type { Page, PageRequest } from "../core/page.ts"
import type {
  AppInstallationInput,
  AppInstallationQuery,
  AppInstallationView,
  OauthClientInput,
  OauthClientPatch,
  OauthClientView,
  OauthTokenPatch,
  OauthTokenView,
} from "./vcs-connection.ts"

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
