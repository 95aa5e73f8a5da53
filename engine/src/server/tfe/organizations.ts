import type { ResourceIdentifier } from "../../contracts/tfe/json-api/document.ts"
import { organizationMemberships } from "../../contracts/tfe/organization-membership.ts"
import { entitlementSet, organizations } from "../../contracts/tfe/organization.ts"
import { project } from "../../contracts/tfe/project.ts"
import { retentionPolicy } from "../../contracts/tfe/retention-policy.ts"
import { siteSettingsContract } from "../../contracts/tfe/site-settings.ts"
import { team } from "../../contracts/tfe/team.ts"
import { user } from "../../contracts/tfe/user.ts"
import type { OrganizationMembershipView } from "../../organizations/organization-membership.ts"
import { implement } from "./implement.ts"
import { readable } from "./included.ts"
import type { ApiRequest } from "./route.ts"

const identifierOf = ({ type, id }: ResourceIdentifier): ResourceIdentifier => ({ type, id })

export const organizationRoutes = implement(organizations, {
  list: ({ engine }, { search }, page) => engine.organizations.list(search, page),
  create: ({ engine }, input) => engine.organizations.create(input),
  async get({ engine }, organizationName, { include }) {
    const found = await engine.organizations.get(organizationName)
    // Clients request the policy itself only if the document names one (docs/compatibility.md, "Retention policies").
    const [policy] = await readable([found.name], (name) =>
      engine.retentionPolicies.get({ kind: "organization", name }),
    )
    const data = { ...found, retentionPolicy: policy && identifierOf(retentionPolicy.encode(policy)) }
    if (include === undefined) return { data }
    const projects = include.includes("default_project")
      ? await readable([found.defaultProjectId], (projectId) => engine.projects.get(projectId))
      : []
    const entitlements = include.includes("entitlement_set") ? [entitlementSet.encode(found)] : []
    return { data, included: [...projects.map(project.encode), ...entitlements] }
  },
  update: ({ engine }, name, patch) => engine.organizations.update(name, patch),
  delete: ({ engine }, name) => engine.organizations.delete(name),
  entitlements: ({ engine }, name) => engine.organizations.get(name),
})

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
  /** Includes the user of a new membership, as HCP Terraform does. Later reads include it only on request. */
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

export const siteSettingsRoutes = implement(siteSettingsContract, {
  get: ({ engine }) => engine.siteSettings.get(),
  update: ({ engine }, patch) => engine.siteSettings.update(patch),
})
