import { encodePage } from "../../wire/jsonapi/links.ts"
import {
  decodeOrganizationInput,
  decodeOrganizationPatch,
  encodeEntitlements,
  encodeOrganization,
  organizationPointers as pointers,
} from "../../wire/jsonapi/organization.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const nameOf = (request: ApiRequest) => param(request, "organization_name")

/** Organizations, and what clients ask about one before anything else (workspace-facts 2.1). */
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
    handle: async (request) =>
      ok({ data: encodeOrganization(await request.engine.organizations.get(nameOf(request))) }),
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
