import { entitlementSet, organizations } from "../../contracts/tfe/organization.ts"
import { project } from "../../contracts/tfe/project.ts"
import type { ResourceIdentifier } from "../../wire/jsonapi/document.ts"
import { retentionPolicy } from "../../contracts/tfe/retention-policy.ts"
import { implement } from "../implement.ts"
import { readable } from "../included.ts"

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
