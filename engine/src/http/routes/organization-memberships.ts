import { organizationMemberships } from "../../contracts/tfe/organization-membership.ts"
import { team } from "../../contracts/tfe/team.ts"
import { user } from "../../contracts/tfe/user.ts"
import type { OrganizationMembershipView } from "../../organizations/organization-membership.ts"
import { implement } from "../implement.ts"
import { readable } from "../included.ts"
import type { ApiRequest } from "../route.ts"

async function included(
  { engine }: ApiRequest,
  parts: readonly ("teams" | "user")[] | undefined,
  memberships: readonly OrganizationMembershipView[],
) {
  if (parts === undefined) return undefined
  const teamIds = parts.includes("teams") ? [...new Set(memberships.flatMap(({ teamIds }) => teamIds))] : []
  const teams = await readable(teamIds, (id) => engine.teams.get(id))
  const users = parts.includes("user") ? memberships.map((membership) => user.encode(membership.user)) : []
  return [...users, ...teams.map(team.encode)]
}

export const organizationMembershipRoutes = implement(organizationMemberships, {
  async list(request, organization, { include, ...filter }, page) {
    const found = await request.engine.organizationMemberships.list(organization, filter, page)
    return { ...found, included: await included(request, include, found.items) }
  },
  /** The user comes along with a new one, as with HCP Terraform's; later only with who asks for it. */
  async create(request, organization, input) {
    const data = await request.engine.organizationMemberships.create(organization, input)
    return { data, included: await included(request, ["user"], [data]) }
  },
  async get(request, id, { include }) {
    const data = await request.engine.organizationMemberships.get(id)
    return { data, included: await included(request, include, [data]) }
  },
  delete: ({ engine }, id) => engine.organizationMemberships.delete(id),
})
