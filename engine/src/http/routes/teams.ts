import { badRequest } from "../../core/errors.ts"
import { listPointers } from "../../wire/jsonapi/errors.ts"
import { given } from "../../wire/jsonapi/given.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodeCommaList, decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeMembershipIds,
  decodeTeamInput,
  decodeTeamPatch,
  decodeUsernames,
  encodeMember,
  encodeTeam,
  encodeTeamWithMembers,
  teamPointers as pointers,
} from "../../wire/jsonapi/team.ts"
import { encodeUser } from "../../wire/jsonapi/user.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const organizationOf = (request: ApiRequest) => param(request, "organization_name")
const idOf = (request: ApiRequest) => param(request, "team_id")

/** How public clients list a team's members. */
const includable = ["users", "organization-memberships"]

const invalidInclude = (name: string) =>
  badRequest("The include parameter is not valid.", [
    { detail: `include parameter "${name}" is not one of ${includable.join(", ")}`, parameter: "include" },
  ])

export const teamRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/organizations/:organization_name/teams",
    handle: async (request) => {
      const { engine, query, url } = request
      const filter = given({
        names: decodeCommaList(query.get("filter[names]")),
        search: query.get("q") ?? undefined,
      })
      const page = await engine.teams.list(organizationOf(request), filter, decodePage(query))
      return ok(encodePage(page, encodeTeam, url))
    },
  },
  {
    method: "POST",
    path: "/organizations/:organization_name/teams",
    pointers,
    handle: async (request) => {
      const input = decodeTeamInput(await request.body())
      return created({ data: encodeTeam(await request.engine.teams.create(organizationOf(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/teams/:team_id",
    handle: async (request) => {
      const { teams } = request.engine
      const team = await teams.get(idOf(request))
      const include = decodeCommaList(request.query.get("include")) ?? []
      if (include.length === 0) return ok({ data: encodeTeam(team) })
      const unknown = include.find((name) => !includable.includes(name))
      if (unknown !== undefined) throw invalidInclude(unknown)
      const members = await teams.members(team.id)
      const included = [
        ...(include.includes("users") ? members.map(({ user }) => encodeUser(user)) : []),
        ...(include.includes("organization-memberships") ? members.map((member) => encodeMember(team, member)) : []),
      ]
      return ok({ data: encodeTeamWithMembers(team, members), included })
    },
  },
  {
    method: "PATCH",
    path: "/teams/:team_id",
    pointers,
    handle: async (request) => {
      const patch = decodeTeamPatch(await request.body())
      return ok({ data: encodeTeam(await request.engine.teams.update(idOf(request), patch)) })
    },
  },
  {
    method: "DELETE",
    path: "/teams/:team_id",
    handle: async (request) => {
      await request.engine.teams.delete(idOf(request))
      return noContent
    },
  },
  {
    method: "POST",
    path: "/teams/:team_id/relationships/users",
    pointers: listPointers,
    handle: async (request) => {
      const usernames = decodeUsernames(await request.body())
      await request.engine.teams.addMembers(idOf(request), { usernames })
      return noContent
    },
  },
  {
    method: "DELETE",
    path: "/teams/:team_id/relationships/users",
    pointers: listPointers,
    handle: async (request) => {
      const usernames = decodeUsernames(await request.body())
      await request.engine.teams.removeMembers(idOf(request), { usernames })
      return noContent
    },
  },
  {
    method: "POST",
    path: "/teams/:team_id/relationships/organization-memberships",
    pointers: listPointers,
    handle: async (request) => {
      const organizationMembershipIds = decodeMembershipIds(await request.body())
      await request.engine.teams.addMembers(idOf(request), { organizationMembershipIds })
      return noContent
    },
  },
  {
    method: "DELETE",
    path: "/teams/:team_id/relationships/organization-memberships",
    pointers: listPointers,
    handle: async (request) => {
      const organizationMembershipIds = decodeMembershipIds(await request.body())
      await request.engine.teams.removeMembers(idOf(request), { organizationMembershipIds })
      return noContent
    },
  },
]
