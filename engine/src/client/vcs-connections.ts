import type { VcsConnections } from "../organizations/vcs-connections.ts"
import { encodeIdentifiers } from "../wire/jsonapi/document.ts"
import {
  decodeAppInstallationView,
  decodeOauthClientView,
  decodeOauthTokenView,
  encodeAppInstallationInput,
  encodeAppInstallationQuery,
  encodeOauthClientInput,
  encodeOauthClientPatch,
  encodeOauthTokenPatch,
  oauthClientNames,
} from "../wire/jsonapi/vcs-connection.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

const projectsAt = (id: string): string => path`/oauth-clients/${id}/relationships/projects`

export const remoteVcsConnections = ({ one, page, done }: Calls): VcsConnections => ({
  createClient: async (organization, input) =>
    one(decodeOauthClientView, {
      method: "POST",
      path: path`/organizations/${organization}/oauth-clients`,
      document: encodeOauthClientInput(input),
      names: oauthClientNames,
    }),
  getClient: async (id) => one(decodeOauthClientView, { method: "GET", path: path`/oauth-clients/${id}` }),
  listClients: async (organization, request) =>
    page(decodeOauthClientView, path`/organizations/${organization}/oauth-clients`, request),
  updateClient: async (id, patch) =>
    one(decodeOauthClientView, {
      method: "PATCH",
      path: path`/oauth-clients/${id}`,
      document: encodeOauthClientPatch(patch),
      names: oauthClientNames,
    }),
  deleteClient: async (id) => done({ method: "DELETE", path: path`/oauth-clients/${id}` }),
  addProjects: async (id, projectIds) =>
    done({ method: "POST", path: projectsAt(id), document: encodeIdentifiers("projects", projectIds) }),
  removeProjects: async (id, projectIds) =>
    done({ method: "DELETE", path: projectsAt(id), document: encodeIdentifiers("projects", projectIds) }),
  getToken: async (id) => one(decodeOauthTokenView, { method: "GET", path: path`/oauth-tokens/${id}` }),
  listTokens: async (organization, request) =>
    page(decodeOauthTokenView, path`/organizations/${organization}/oauth-tokens`, request),
  updateToken: async (id, patch) =>
    one(decodeOauthTokenView, {
      method: "PATCH",
      path: path`/oauth-tokens/${id}`,
      document: encodeOauthTokenPatch(patch),
    }),
  deleteToken: async (id) => done({ method: "DELETE", path: path`/oauth-tokens/${id}` }),
  createInstallation: async (organization, input) =>
    one(decodeAppInstallationView, {
      method: "POST",
      path: path`/organizations/${organization}/github-app/installations`,
      document: encodeAppInstallationInput(input),
    }),
  getInstallation: async (id) =>
    one(decodeAppInstallationView, { method: "GET", path: path`/github-app/installations/${id}` }),
  listInstallations: async (organization, request) =>
    page(decodeAppInstallationView, path`/organizations/${organization}/github-app/installations`, request),
  listAvailableInstallations: async (query, request) =>
    page(decodeAppInstallationView, "/github-app/installations", request, encodeAppInstallationQuery(query)),
  deleteInstallation: async (id) => done({ method: "DELETE", path: path`/github-app/installations/${id}` }),
})
