import { pageOf } from "../../core/page.ts"
import { attributePointers } from "../../wire/jsonapi/errors.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeVariable,
  decodeVariablePatch,
  decodeVariableSubject,
  encodeVariable,
} from "../../wire/jsonapi/variable.ts"
import type { VariableView } from "../../workspaces/variable.ts"
import type { WorkspaceRef } from "../../workspaces/workspace.ts"
import { decodeWorkspaceSubject } from "../../wire/jsonapi/workspace-subject.ts"
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

async function list(request: ApiRequest, ref: WorkspaceRef) {
  const variables = await request.engine.variables.list(ref)
  return ok(encodePage(pageAsked(variables, request.query), encodeVariable, request.url))
}

async function change(request: ApiRequest, ref: WorkspaceRef) {
  const patch = decodeVariablePatch(await request.body())
  return ok({ data: encodeVariable(await request.engine.variables.update(ref, idOf(request), patch)) })
}

async function remove({ engine, params }: ApiRequest, ref: WorkspaceRef) {
  await engine.variables.delete(ref, param({ params }, "variable_id"))
  return noContent
}

/** The workspace of the variable that an older address names alone. */
const ownerOf = async (request: ApiRequest): Promise<WorkspaceRef> => ({
  id: (await request.engine.variables.findById(idOf(request))).workspaceId,
})

/** The addresses of earlier clients, which name the workspace in the document or in filters. */
const earlierRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/vars",
    pointers: attributePointers(["workspace"]),
    handle: async (request) => {
      const body = await request.body()
      const input = decodeVariable(body)
      return created({
        data: encodeVariable(await request.engine.variables.create(decodeVariableSubject(body), input)),
      })
    },
  },
  { method: "GET", path: "/vars", handle: async (request) => list(request, decodeWorkspaceSubject(request.query)) },
  {
    method: "GET",
    path: "/vars/:variable_id",
    handle: async (request) => ok({ data: encodeVariable(await request.engine.variables.findById(idOf(request))) }),
  },
  {
    method: "PATCH",
    path: "/vars/:variable_id",
    pointers,
    handle: async (request) => change(request, await ownerOf(request)),
  },
  { method: "DELETE", path: "/vars/:variable_id", handle: async (request) => remove(request, await ownerOf(request)) },
]

export const variableRoutes: readonly Route[] = [
  ...earlierRoutes,
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
    handle: (request) => list(request, workspaceOf(request)),
  },
  {
    // With those of variable sets, of which there are none.
    method: "GET",
    path: "/workspaces/:workspace_id/all-vars",
    handle: (request) => list(request, workspaceOf(request)),
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
    handle: (request) => change(request, workspaceOf(request)),
  },
  {
    method: "DELETE",
    path: "/workspaces/:workspace_id/vars/:variable_id",
    handle: (request) => remove(request, workspaceOf(request)),
  },
]
