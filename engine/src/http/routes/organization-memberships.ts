import type { OrganizationMembershipView } from "../../organizations/organization-membership.ts"
import { decodeInclude } from "../../wire/jsonapi/include.ts"
import { encodeTeam } from "../../wire/jsonapi/team.ts"
import { readable } from "../included.ts"
import { given } from "../../wire/jsonapi/given.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import {
  decodeOrganizationMembershipInput,
  encodeOrganizationMembership,
  organizationMembershipPointers as pointers,
} from "../../wire/jsonapi/organization-membership.ts"
import { decodeCommaList, decodePage } from "../../wire/jsonapi/query.ts"
import { encodeUser } from "../../wire/jsonapi/user.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const organizationOf = (request: ApiRequest) => param(request, "organization_name")
const idOf = (request: ApiRequest) => param(request, "membership_id")

/** The user always comes along: nobody reads a membership without asking whose it is. */
const document = (membership: OrganizationMembershipView) => ({
  data: encodeOrganizationMembership(membership),
  included: [encodeUser(membership.user)],
})

const membershipParts = ["teams", "user"] as const

export const organizationMembershipRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/organizations/:organization_name/organization-memberships",
    handle: async (request) => {
      const { engine, query, url } = request
      const filter = given({
        search: query.get("q") ?? undefined,
        emails: decodeCommaList(query.get("filter[email]")),
        status: query.get("filter[status]") || undefined,
      })
      const page = await engine.organizationMemberships.list(organizationOf(request), filter, decodePage(query))
      const users = page.items.map(({ user }) => encodeUser(user))
      return ok(encodePage(page, encodeOrganizationMembership, url, users))
    },
  },
  {
    method: "POST",
    path: "/organizations/:organization_name/organization-memberships",
    pointers,
    handle: async (request) => {
      const input = decodeOrganizationMembershipInput(await request.body())
      return created(document(await request.engine.organizationMemberships.create(organizationOf(request), input)))
    },
  },
  {
    method: "GET",
    path: "/organization-memberships/:membership_id",
    handle: async (request) => {
      const { engine, query } = request
      const parts = decodeInclude(query, membershipParts)
      const membership = await engine.organizationMemberships.get(idOf(request))
      const teams = parts.has("teams") ? await readable(membership.teamIds, (id) => engine.teams.get(id)) : []
      const { data, included } = document(membership)
      return ok({ data, included: [...included, ...teams.map(encodeTeam)] })
    },
  },
  {
    method: "DELETE",
    path: "/organization-memberships/:membership_id",
    handle: async (request) => {
      await request.engine.organizationMemberships.delete(idOf(request))
      return noContent
    },
  },
]
