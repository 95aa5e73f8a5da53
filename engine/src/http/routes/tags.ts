import { listPointers } from "../../wire/jsonapi/errors.ts"
import { given } from "../../wire/jsonapi/given.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodeIdentifiers } from "../../wire/jsonapi/relationship.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { decodeNewTags, decodeTagFilter, decodeTagReferences, encodeTag } from "../../wire/jsonapi/tag.ts"
import { decodeTagBindings, encodeEffectiveTagBinding, encodeTagBinding } from "../../wire/jsonapi/tag-binding.ts"
import { decodeShowing, decodeWriter } from "../../wire/jsonapi/writer.ts"
import type { TagBindingView } from "../../tags/tags.ts"
import { type ApiRequest, created, type Method, noContent, ok, param, type Route } from "../route.ts"

const organization = (request: ApiRequest) => param(request, "organization_name")
const workspace = (request: ApiRequest) => param(request, "workspace_id")
const project = (request: ApiRequest) => param(request, "project_id")

/** Tag pools of organizations, and tags of workspaces and projects. */
export const tagRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/organizations/:organization_name/tags",
    handle: async (request) => {
      const page = decodePage(request.query)
      const filter = decodeTagFilter(request.query)
      return ok(encodePage(await request.engine.tags.list(organization(request), filter, page), encodeTag, request.url))
    },
  },
  {
    method: "POST",
    path: "/organizations/:organization_name/tags",
    pointers: listPointers,
    handle: async (request) => {
      const { names, many } = decodeNewTags(await request.body())
      const tags = await request.engine.tags.create(organization(request), names)
      return created({ data: many ? tags.map(encodeTag) : tags.map(encodeTag)[0] })
    },
  },
  {
    method: "DELETE",
    path: "/organizations/:organization_name/tags",
    handle: async (request) => {
      const body = await request.body()
      const ids = decodeIdentifiers(body, "tags")
      await request.engine.tags.delete(organization(request), ids, decodeWriter(request.headers, body))
      return noContent
    },
  },
  {
    method: "POST",
    path: "/tags/:tag_id/relationships/workspaces",
    pointers: listPointers,
    handle: async (request) => {
      const body = await request.body()
      const ids = decodeIdentifiers(body, "workspaces")
      await request.engine.tags.apply(param(request, "tag_id"), ids, decodeWriter(request.headers, body))
      return noContent
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/relationships/tags",
    handle: async (request) => {
      const { engine, query, url } = request
      // How public clients name the search in this list.
      const filter = given({ search: query.get("name") || undefined })
      const page = await engine.tags.ofWorkspace(workspace(request), decodePage(query), filter)
      return ok(encodePage(page, encodeTag, url))
    },
  },
  {
    method: "POST",
    path: "/workspaces/:workspace_id/relationships/tags",
    pointers: listPointers,
    handle: async (request) => {
      const body = await request.body()
      const tags = decodeTagReferences(body)
      await request.engine.tags.add(workspace(request), tags, decodeWriter(request.headers, body))
      return noContent
    },
  },
  {
    method: "DELETE",
    path: "/workspaces/:workspace_id/relationships/tags",
    pointers: listPointers,
    handle: async (request) => {
      const body = await request.body()
      const tags = decodeTagReferences(body)
      await request.engine.tags.remove(workspace(request), tags, decodeWriter(request.headers, body))
      return noContent
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/tag-bindings",
    handle: async (request) =>
      ok(bindingList(await request.engine.tags.bindings(workspace(request), decodeShowing(request.query)))),
  },
  {
    method: "PATCH",
    path: "/workspaces/:workspace_id/tag-bindings",
    pointers: listPointers,
    handle: async (request) => ok(bindingList(await bound(request))),
  },
  bindingRelationship("POST"),
  bindingRelationship("PATCH"),
  {
    method: "GET",
    path: "/workspaces/:workspace_id/effective-tag-bindings",
    handle: async (request) => {
      const bindings = await request.engine.tags.effectiveBindings(workspace(request), decodeShowing(request.query))
      return ok({ data: bindings.map(encodeEffectiveTagBinding) })
    },
  },
  {
    method: "GET",
    path: "/projects/:project_id/tag-bindings",
    handle: async (request) =>
      ok(bindingList(await request.engine.tags.projectBindings(project(request), decodeShowing(request.query)))),
  },
  {
    // Nothing lies above a project that it could inherit from.
    method: "GET",
    path: "/projects/:project_id/effective-tag-bindings",
    handle: async (request) => {
      const bindings = await request.engine.tags.projectBindings(project(request), decodeShowing(request.query))
      return ok({ data: bindings.map((binding) => encodeEffectiveTagBinding({ ...binding, inheritedFrom: null })) })
    },
  },
  {
    method: "PATCH",
    path: "/projects/:project_id/tag-bindings",
    pointers: listPointers,
    handle: async (request) => {
      const body = await request.body()
      const writer = decodeWriter(request.headers, body)
      return ok(bindingList(await request.engine.tags.bindProject(project(request), decodeTagBindings(body), writer)))
    },
  },
]

/** Path that newer clients use instead of `PATCH …/tag-bindings` (docs/compatibility.md, "Tags"). */
function bindingRelationship(method: Method): Route {
  return {
    method,
    path: "/workspaces/:workspace_id/relationships/tag-bindings",
    pointers: listPointers,
    handle: async (request) => {
      await bound(request)
      return noContent
    },
  }
}

async function bound(request: ApiRequest): Promise<readonly TagBindingView[]> {
  const body = await request.body()
  const bindings = decodeTagBindings(body)
  return request.engine.tags.bind(workspace(request), bindings, decodeWriter(request.headers, body))
}

const bindingList = (bindings: readonly TagBindingView[]) => ({
  data: bindings.map(encodeTagBinding),
})
