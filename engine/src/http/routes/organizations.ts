import { encodePage } from "../../wire/jsonapi/links.ts"
import {
  decodeOrganizationInput,
  decodeOrganizationPatch,
  encodeEntitlements,
  encodeOrganization,
  organizationPointers as pointers,
} from "../../wire/jsonapi/organization.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { encodeProject } from "../../wire/jsonapi/project.ts"
import { decodeInclude } from "../../wire/jsonapi/include.ts"
import type { Engine } from "../../engine.ts"
import type { OrganizationView } from "../../organizations/organizations.ts"
import { type Resource, toOne } from "../../wire/jsonapi/document.ts"
import { encodeRetentionPolicy } from "../../wire/jsonapi/retention-policy.ts"
import { readable } from "../included.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const nameOf = (request: ApiRequest) => param(request, "organization_name")

/** Clients read the policy only if the organization's document names one (docs/compatibility.md, "Retention policies"). */
async function shown(engine: Engine, organization: OrganizationView): Promise<Resource> {
  const data = encodeOrganization(organization)
  const [policy] = await readable([organization.name], (name) =>
    engine.retentionPolicies.get({ kind: "organization", name }),
  )
  if (policy === undefined) return data
  const { type, id } = encodeRetentionPolicy(policy)
  return { ...data, relationships: { ...data.relationships, "data-retention-policy": toOne(type, id) } }
}

const organizationParts = ["default_project", "entitlement_set"] as const

/** Organizations and their entitlement sets (docs/compatibility.md, "Discovery"). */
export const organizationRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/organizations",
    handle: async ({ engine, query, url }) => {
      const page = await engine.organizations.list(query.get("q") ?? undefined, decodePage(query))
      return ok(encodePage(page, encodeOrganization, url))
    },
  },
  {
    method: "POST",
    path: "/organizations",
    pointers,
    handle: async (request) => {
      const input = decodeOrganizationInput(await request.body())
      return created({ data: encodeOrganization(await request.engine.organizations.create(input)) })
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name",
    handle: async (request) => {
      const { engine, query } = request
      const parts = decodeInclude(query, organizationParts)
      const organization = await engine.organizations.get(nameOf(request))
      const data = await shown(engine, organization)
      if (parts.size === 0) return ok({ data })
      const projects = parts.has("default_project")
        ? await readable([organization.defaultProjectId], (id) => engine.projects.get(id))
        : []
      const entitlements = parts.has("entitlement_set") ? [encodeEntitlements(organization)] : []
      return ok({ data, included: [...projects.map(encodeProject), ...entitlements] })
    },
  },
  {
    method: "PATCH",
    path: "/organizations/:organization_name",
    pointers,
    handle: async (request) => {
      const patch = decodeOrganizationPatch(await request.body())
      return ok({ data: encodeOrganization(await request.engine.organizations.update(nameOf(request), patch)) })
    },
  },
  {
    method: "DELETE",
    path: "/organizations/:organization_name",
    handle: async (request) => {
      await request.engine.organizations.delete(nameOf(request))
      return noContent
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/entitlement-set",
    handle: async (request) =>
      ok({ data: encodeEntitlements(await request.engine.organizations.get(nameOf(request))) }),
  },
]
