import { badRequest } from "../../core/errors.ts"
import { type OrganizationTokenKind, organizationTokenKinds } from "../../organizations/token.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeTeamTokenQuery,
  decodeTokenInput,
  encodeCreatedToken,
  encodeToken,
  tokenPointers as pointers,
} from "../../wire/jsonapi/token.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const userOf = (request: ApiRequest) => param(request, "user_id")
const teamOf = (request: ApiRequest) => param(request, "team_id")
const poolOf = (request: ApiRequest) => param(request, "agent_pool_id")
const organizationOf = (request: ApiRequest) => param(request, "organization_name")
const idOf = (request: ApiRequest) => param(request, "token_id")

/** A client that asks for a token of a lesser kind must not get the one that manages the organization. */
function kindOf({ query }: ApiRequest): OrganizationTokenKind {
  const name = query.get("token") || "organization"
  const kind = organizationTokenKinds.find((one) => one === name)
  if (kind === undefined)
    throw badRequest("The kind of token is not known.", [
      { detail: `token must be one of ${organizationTokenKinds.join(", ")}`, parameter: "token" },
    ])
  return kind
}

export const tokenRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/users/:user_id/authentication-tokens",
    pointers,
    handle: async (request) => {
      const input = decodeTokenInput(await request.body())
      return created({ data: encodeCreatedToken(await request.engine.tokens.createForUser(userOf(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/users/:user_id/authentication-tokens",
    handle: async (request) => {
      const page = await request.engine.tokens.listForUser(userOf(request), decodePage(request.query))
      return ok(encodePage(page, encodeToken, request.url))
    },
  },
  {
    method: "POST",
    path: "/organizations/:organization_name/authentication-token",
    pointers,
    handle: async (request) => {
      const input = decodeTokenInput(await request.body())
      const token = await request.engine.tokens.createForOrganization(organizationOf(request), input, kindOf(request))
      return created({ data: encodeCreatedToken(token) })
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/authentication-token",
    handle: async (request) =>
      ok({
        data: encodeToken(await request.engine.tokens.getForOrganization(organizationOf(request), kindOf(request))),
      }),
  },
  {
    method: "DELETE",
    path: "/organizations/:organization_name/authentication-token",
    handle: async (request) => {
      await request.engine.tokens.deleteForOrganization(organizationOf(request), kindOf(request))
      return noContent
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/team-tokens",
    handle: async (request) => {
      const { engine, query, url } = request
      const page = await engine.tokens.listForTeams(
        organizationOf(request),
        decodeTeamTokenQuery(query),
        decodePage(query),
      )
      return ok(encodePage(page, encodeToken, url))
    },
  },
  {
    method: "POST",
    path: "/teams/:team_id/authentication-token",
    pointers,
    handle: async (request) => {
      const input = decodeTokenInput(await request.body())
      return created({ data: encodeCreatedToken(await request.engine.tokens.createForTeam(teamOf(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/teams/:team_id/authentication-token",
    handle: async (request) => ok({ data: encodeToken(await request.engine.tokens.getForTeam(teamOf(request))) }),
  },
  {
    method: "DELETE",
    path: "/teams/:team_id/authentication-token",
    handle: async (request) => {
      await request.engine.tokens.deleteForTeam(teamOf(request))
      return noContent
    },
  },
  {
    method: "POST",
    path: "/teams/:team_id/authentication-tokens",
    pointers,
    handle: async (request) => {
      const input = decodeTokenInput(await request.body())
      return created({ data: encodeCreatedToken(await request.engine.tokens.addForTeam(teamOf(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/teams/:team_id/authentication-tokens",
    handle: async (request) => {
      const page = await request.engine.tokens.listForTeam(teamOf(request), decodePage(request.query))
      return ok(encodePage(page, encodeToken, request.url))
    },
  },
  {
    method: "POST",
    path: "/agent-pools/:agent_pool_id/authentication-tokens",
    pointers,
    handle: async (request) => {
      const input = decodeTokenInput(await request.body())
      const token = await request.engine.tokens.createForAgentPool(poolOf(request), input)
      return created({ data: encodeCreatedToken(token) })
    },
  },
  {
    method: "GET",
    path: "/agent-pools/:agent_pool_id/authentication-tokens",
    handle: async (request) => {
      const page = await request.engine.tokens.listForAgentPool(poolOf(request), decodePage(request.query))
      return ok(encodePage(page, encodeToken, request.url))
    },
  },
  {
    method: "GET",
    path: "/authentication-tokens/:token_id",
    handle: async (request) => ok({ data: encodeToken(await request.engine.tokens.get(idOf(request))) }),
  },
  {
    method: "DELETE",
    path: "/authentication-tokens/:token_id",
    handle: async (request) => {
      await request.engine.tokens.delete(idOf(request))
      return noContent
    },
  },
]
