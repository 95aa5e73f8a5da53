import type { OrganizationTokenKind, TokenInput } from "../organizations/token.ts"
import type { CreatedToken, Tokens } from "../organizations/tokens.ts"
import {
  decodeCreatedToken,
  decodeToken,
  encodeTeamTokenQuery,
  encodeTokenInput,
  tokenNames as names,
} from "../wire/jsonapi/token.ts"
import { type Calls, queryOf } from "./calls.ts"
import { type OutgoingRequest, path } from "./transport.ts"

export function remoteTokens({ one, page, done }: Calls): Tokens {
  const make = (at: string, input: TokenInput): Promise<CreatedToken> =>
    one(decodeCreatedToken, { method: "POST", path: at, document: encodeTokenInput(input), names })
  const ofOrganization = (
    method: OutgoingRequest["method"],
    organization: string,
    kind?: OrganizationTokenKind,
  ): OutgoingRequest => ({
    method,
    path: path`/organizations/${organization}/authentication-token`,
    query: queryOf([["token", kind === "audit-trails" ? kind : undefined]]),
  })
  return {
    createForUser: async (userId, input) => make(path`/users/${userId}/authentication-tokens`, input),
    listForUser: async (userId, request) => page(decodeToken, path`/users/${userId}/authentication-tokens`, request),
    createForOrganization: async (organization, input, kind) =>
      one(decodeCreatedToken, {
        ...ofOrganization("POST", organization, kind),
        document: encodeTokenInput(input),
        names,
      }),
    getForOrganization: async (organization, kind) => one(decodeToken, ofOrganization("GET", organization, kind)),
    deleteForOrganization: async (organization, kind) => done(ofOrganization("DELETE", organization, kind)),
    createForTeam: async (teamId, input) => make(path`/teams/${teamId}/authentication-token`, input),
    getForTeam: async (teamId) =>
      one(decodeToken, { method: "GET", path: path`/teams/${teamId}/authentication-token` }),
    deleteForTeam: async (teamId) => done({ method: "DELETE", path: path`/teams/${teamId}/authentication-token` }),
    addForTeam: async (teamId, input) => make(path`/teams/${teamId}/authentication-tokens`, input),
    listForTeam: async (teamId, request) => page(decodeToken, path`/teams/${teamId}/authentication-tokens`, request),
    listForTeams: async (organization, query, request) =>
      page(decodeToken, path`/organizations/${organization}/team-tokens`, request, encodeTeamTokenQuery(query)),
    createForAgentPool: async (agentPoolId, input) =>
      make(path`/agent-pools/${agentPoolId}/authentication-tokens`, input),
    listForAgentPool: async (agentPoolId, request) =>
      page(decodeToken, path`/agent-pools/${agentPoolId}/authentication-tokens`, request),
    get: async (id) => one(decodeToken, { method: "GET", path: path`/authentication-tokens/${id}` }),
    delete: async (id) => done({ method: "DELETE", path: path`/authentication-tokens/${id}` }),
  }
}
