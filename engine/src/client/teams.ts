import type { TeamMembers, Teams } from "../organizations/teams.ts"
import { encodeCommaList } from "../wire/jsonapi/query.ts"
import {
  decodeTeam,
  decodeTeamMembers,
  encodeMembershipIds,
  encodeTeamPatch,
  encodeUsernames,
  teamNames as names,
} from "../wire/jsonapi/team.ts"
import { type Calls, queryOf } from "./calls.ts"
import { path } from "./transport.ts"

export function remoteTeams({ one, page, done }: Calls): Teams {
  const changeMembers = async (method: "POST" | "DELETE", id: string, members: TeamMembers) =>
    "usernames" in members
      ? done({ method, path: path`/teams/${id}/relationships/users`, document: encodeUsernames(members.usernames) })
      : done({
          method,
          path: path`/teams/${id}/relationships/organization-memberships`,
          document: encodeMembershipIds(members.organizationMembershipIds),
        })

  return {
    create: async (organization, input) =>
      one(decodeTeam, {
        method: "POST",
        path: path`/organizations/${organization}/teams`,
        document: encodeTeamPatch(input),
        names,
      }),
    list: async (organization, filter, request) =>
      page(decodeTeam, path`/organizations/${organization}/teams`, request, [
        ["q", filter.search],
        ["filter[names]", filter.names && encodeCommaList(filter.names)],
      ]),
    get: async (id) => one(decodeTeam, { method: "GET", path: path`/teams/${id}` }),
    members: async (id) =>
      one(decodeTeamMembers, {
        method: "GET",
        path: path`/teams/${id}`,
        query: queryOf([["include", "users,organization-memberships"]]),
      }),
    update: async (id, patch) =>
      one(decodeTeam, { method: "PATCH", path: path`/teams/${id}`, document: encodeTeamPatch(patch), names }),
    delete: async (id) => done({ method: "DELETE", path: path`/teams/${id}` }),
    addMembers: (id, members) => changeMembers("POST", id, members),
    removeMembers: (id, members) => changeMembers("DELETE", id, members),
  }
}
