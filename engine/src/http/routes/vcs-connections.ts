import { attributePointers, listPointers } from "../../wire/jsonapi/errors.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { decodeIdentifiers } from "../../wire/jsonapi/relationship.ts"
import {
  decodeAppInstallation,
  decodeAppInstallationQuery,
  decodeOauthClient,
  decodeOauthClientPatch,
  decodeOauthTokenPatch,
  encodeAppInstallation,
  encodeOauthClient,
  encodeOauthToken,
  oauthClientPointers,
} from "../../wire/jsonapi/vcs-connection.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const pointers = attributePointers()
const organizationOf = (request: ApiRequest) => param(request, "organization_name")

async function showInstallation(request: ApiRequest) {
  const installation = await request.engine.vcsConnections.getInstallation(param(request, "installation_id"))
  return ok({ data: encodeAppInstallation(installation) })
}

export const vcsConnectionRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/organizations/:organization_name/oauth-clients",
    pointers: oauthClientPointers,
    handle: async (request) => {
      const input = decodeOauthClient(await request.body())
      const client = await request.engine.vcsConnections.createClient(organizationOf(request), input)
      return created({ data: encodeOauthClient(client) })
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/oauth-clients",
    handle: async (request) => {
      const { engine, query, url } = request
      const page = await engine.vcsConnections.listClients(organizationOf(request), decodePage(query))
      return ok(encodePage(page, encodeOauthClient, url))
    },
  },
  {
    method: "GET",
    path: "/oauth-clients/:client_id",
    handle: async (request) =>
      ok({ data: encodeOauthClient(await request.engine.vcsConnections.getClient(param(request, "client_id"))) }),
  },
  {
    method: "PATCH",
    path: "/oauth-clients/:client_id",
    pointers: oauthClientPointers,
    handle: async (request) => {
      const patch = decodeOauthClientPatch(await request.body())
      const client = await request.engine.vcsConnections.updateClient(param(request, "client_id"), patch)
      return ok({ data: encodeOauthClient(client) })
    },
  },
  {
    method: "DELETE",
    path: "/oauth-clients/:client_id",
    handle: async (request) => {
      await request.engine.vcsConnections.deleteClient(param(request, "client_id"))
      return noContent
    },
  },
  ...(["POST", "DELETE"] as const).map((method): Route => ({
    method,
    path: "/oauth-clients/:client_id/relationships/projects",
    pointers: listPointers,
    handle: async (request) => {
      const projectIds = decodeIdentifiers(await request.body(), "projects")
      const { vcsConnections } = request.engine
      const id = param(request, "client_id")
      await (method === "POST"
        ? vcsConnections.addProjects(id, projectIds)
        : vcsConnections.removeProjects(id, projectIds))
      return noContent
    },
  })),
  {
    method: "GET",
    path: "/organizations/:organization_name/oauth-tokens",
    handle: async (request) => {
      const { engine, query, url } = request
      const page = await engine.vcsConnections.listTokens(organizationOf(request), decodePage(query))
      return ok(encodePage(page, encodeOauthToken, url))
    },
  },
  {
    method: "GET",
    path: "/oauth-tokens/:oauth_token_id",
    handle: async (request) =>
      ok({ data: encodeOauthToken(await request.engine.vcsConnections.getToken(param(request, "oauth_token_id"))) }),
  },
  {
    method: "PATCH",
    path: "/oauth-tokens/:oauth_token_id",
    pointers,
    handle: async (request) => {
      const patch = decodeOauthTokenPatch(await request.body())
      const token = await request.engine.vcsConnections.updateToken(param(request, "oauth_token_id"), patch)
      return ok({ data: encodeOauthToken(token) })
    },
  },
  {
    method: "DELETE",
    path: "/oauth-tokens/:oauth_token_id",
    handle: async (request) => {
      await request.engine.vcsConnections.deleteToken(param(request, "oauth_token_id"))
      return noContent
    },
  },
  {
    method: "POST",
    path: "/organizations/:organization_name/github-app/installations",
    pointers,
    handle: async (request) => {
      const input = decodeAppInstallation(await request.body())
      const installation = await request.engine.vcsConnections.createInstallation(organizationOf(request), input)
      return created({ data: encodeAppInstallation(installation) })
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/github-app/installations",
    handle: async (request) => {
      const { engine, query, url } = request
      const page = await engine.vcsConnections.listInstallations(organizationOf(request), decodePage(query))
      return ok(encodePage(page, encodeAppInstallation, url))
    },
  },
  {
    method: "GET",
    path: "/github-app/installations",
    handle: async ({ engine, query, url }) => {
      const wanted = decodeAppInstallationQuery(query)
      const page = await engine.vcsConnections.listAvailableInstallations(wanted, decodePage(query))
      return ok(encodePage(page, encodeAppInstallation, url))
    },
  },
  {
    method: "GET",
    path: "/github-app/installations/:installation_id",
    handle: showInstallation,
  },
  {
    // As the public clients spell it.
    method: "GET",
    path: "/github-app/installation/:installation_id",
    handle: showInstallation,
  },
  {
    method: "DELETE",
    path: "/github-app/installations/:installation_id",
    handle: async (request) => {
      await request.engine.vcsConnections.deleteInstallation(param(request, "installation_id"))
      return noContent
    },
  },
]
