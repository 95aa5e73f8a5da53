import type { TokenInput } from "../organizations/token.ts"
import type { CreatedToken, Tokens } from "../organizations/tokens.ts"
import { decodeCreatedToken, decodeToken, encodeTokenInput, tokenNames as names } from "../wire/jsonapi/token.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export function remoteTokens({ one, page, done }: Calls): Tokens {
  const make = (at: string, input: TokenInput): Promise<CreatedToken> =>
    one(decodeCreatedToken, { method: "POST", path: at, document: encodeTokenInput(input), names })
  return {
    createForUser: async (userId, input) => make(path`/users/${userId}/authentication-tokens`, input),
    listForUser: async (userId, request) => page(decodeToken, path`/users/${userId}/authentication-tokens`, request),
    createForOrganization: async (organization, input) =>
      make(path`/organizations/${organization}/authentication-token`, input),
    getForOrganization: async (organization) =>
      one(decodeToken, { method: "GET", path: path`/organizations/${organization}/authentication-token` }),
    deleteForOrganization: async (organization) =>
      done({ method: "DELETE", path: path`/organizations/${organization}/authentication-token` }),
    createForTeam: async (teamId, input) => make(path`/teams/${teamId}/authentication-token`, input),
    getForTeam: async (teamId) =>
      one(decodeToken, { method: "GET", path: path`/teams/${teamId}/authentication-token` }),
    deleteForTeam: async (teamId) => done({ method: "DELETE", path: path`/teams/${teamId}/authentication-token` }),
    addForTeam: async (teamId, input) => make(path`/teams/${teamId}/authentication-tokens`, input),
    listForTeam: async (teamId, request) => page(decodeToken, path`/teams/${teamId}/authentication-tokens`, request),
    createForAgentPool: async (agentPoolId, input) =>
      make(path`/agent-pools/${agentPoolId}/authentication-tokens`, input),
    listForAgentPool: async (agentPoolId, request) =>
      page(decodeToken, path`/agent-pools/${agentPoolId}/authentication-tokens`, request),
    get: async (id) => one(decodeToken, { method: "GET", path: path`/authentication-tokens/${id}` }),
    delete: async (id) => done({ method: "DELETE", path: path`/authentication-tokens/${id}` }),
  }
}
