import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeTerraformVersionFilter,
  decodeTerraformVersionInput,
  decodeTerraformVersionPatch,
  encodeTerraformVersion,
} from "../../wire/jsonapi/terraform-version.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const idOf = (request: ApiRequest) => param(request, "id")

/** For site administrators. */
export const terraformVersionRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/admin/terraform-versions",
    handle: async ({ engine, query, url }) => {
      const found = await engine.terraformVersions.list(decodeTerraformVersionFilter(query), decodePage(query))
      return ok(encodePage(found, encodeTerraformVersion, url))
    },
  },
  {
    method: "POST",
    path: "/admin/terraform-versions",
    handle: async (request) => {
      const input = decodeTerraformVersionInput(await request.body())
      return created({ data: encodeTerraformVersion(await request.engine.terraformVersions.create(input)) })
    },
  },
  {
    method: "GET",
    path: "/admin/terraform-versions/:id",
    handle: async (request) =>
      ok({ data: encodeTerraformVersion(await request.engine.terraformVersions.get(idOf(request))) }),
  },
  {
    method: "PATCH",
    path: "/admin/terraform-versions/:id",
    handle: async (request) => {
      const patch = decodeTerraformVersionPatch(await request.body())
      return ok({ data: encodeTerraformVersion(await request.engine.terraformVersions.update(idOf(request), patch)) })
    },
  },
  {
    method: "DELETE",
    path: "/admin/terraform-versions/:id",
    handle: async (request) => {
      await request.engine.terraformVersions.delete(idOf(request))
      return noContent
    },
  },
]
