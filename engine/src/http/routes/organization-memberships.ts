import type { OrganizationMembershipView } from "../../organizations/organization-membership.ts"
import type { Resource } from "../../wire/jsonapi/document.ts"
import { decodeInclude } from "../../wire/jsonapi/include.ts"
import { team } from "../../contracts/tfe/team.ts"
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

/** The user comes along with a new one, as with HCP Terraform's; later only with who asks for it. */
const document = (membership: OrganizationMembershipView) => ({
  data: encodeOrganizationMembership(membership),
  included: [encodeUser(membership.user)],
})

const membershipParts = ["teams", "user"] as const
type MembershipPart = (typeof membershipParts)[number]

async function included(
  { engine }: ApiRequest,
  parts: ReadonlySet<MembershipPart>,
  memberships: readonly OrganizationMembershipView[],
): Promise<Resource[] | undefined> {
  if (parts.size === 0) return undefined
  const teamIds = parts.has("teams") ? [...new Set(memberships.flatMap(({ teamIds }) => teamIds))] : []
  const teams = await readable(teamIds, (id) => engine.teams.get(id))
  const users = parts.has("user") ? memberships.map(({ user }) => encodeUser(user)) : []
  return [...users, ...teams.map(team.encode)]
}

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
      const parts = decodeInclude(query, membershipParts)
      const page = await engine.organizationMemberships.list(organizationOf(request), filter, decodePage(query))
      return ok(encodePage(page, encodeOrganizationMembership, url, await included(request, parts, page.items)))
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
      return ok({
        data: encodeOrganizationMembership(membership),
        included: await included(request, parts, [membership]),
      })
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
