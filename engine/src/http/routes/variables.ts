import { pageOf } from "../../core/page.ts"
import { attributePointers } from "../../wire/jsonapi/errors.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { decodeVariable, decodeVariablePatch, encodeVariable } from "../../wire/jsonapi/variable.ts"
import type { VariableView } from "../../workspaces/variable.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const pointers = attributePointers()
const workspaceOf = (request: ApiRequest) => ({ id: param(request, "workspace_id") })
const idOf = (request: ApiRequest) => param(request, "variable_id")

/** Clients that ask for no page expect all of them. */
function pageAsked(variables: readonly VariableView[], query: URLSearchParams) {
  const page = decodePage(query)
  if (!query.has("page[number]") && !query.has("page[size]"))
    return pageOf(variables, { number: 1, size: Math.max(variables.length, page.size) }, variables.length)
  const from = (page.number - 1) * page.size
  return pageOf(variables.slice(from, from + page.size), page, variables.length)
}

export const variableRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/workspaces/:workspace_id/vars",
    pointers,
    handle: async (request) => {
      const input = decodeVariable(await request.body())
      return created({ data: encodeVariable(await request.engine.variables.create(workspaceOf(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/vars",
    handle: async (request) => {
      const variables = await request.engine.variables.list(workspaceOf(request))
      return ok(encodePage(pageAsked(variables, request.query), encodeVariable, request.url))
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/vars/:variable_id",
    handle: async (request) =>
      ok({ data: encodeVariable(await request.engine.variables.get(workspaceOf(request), idOf(request))) }),
  },
  {
    method: "PATCH",
    path: "/workspaces/:workspace_id/vars/:variable_id",
    pointers,
    handle: async (request) => {
      const patch = decodeVariablePatch(await request.body())
      const variable = await request.engine.variables.update(workspaceOf(request), idOf(request), patch)
      return ok({ data: encodeVariable(variable) })
    },
  },
  {
    method: "DELETE",
    path: "/workspaces/:workspace_id/vars/:variable_id",
    handle: async (request) => {
      await request.engine.variables.delete(workspaceOf(request), idOf(request))
      return noContent
    },
  },
]
