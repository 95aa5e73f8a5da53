import type { Showing, Tags } from "../tags/tags.ts"
import { encodeIdentifiers } from "../wire/jsonapi/document.ts"
import { decodeTag, encodeTagFilter, encodeTagReferences } from "../wire/jsonapi/tag.ts"
import { decodeEffectiveTagBinding, decodeTagBinding, encodeTagBindings } from "../wire/jsonapi/tag-binding.ts"
import { encodeShowing, encodeWriter } from "../wire/jsonapi/writer.ts"
import { type Calls, queryOf } from "./calls.ts"
import { type OutgoingRequest, path } from "./transport.ts"

export const remoteTags = ({ all, page, done }: Calls): Tags => ({
  list: async (organization, filter, request) =>
    page(decodeTag, path`/organizations/${organization}/tags`, request, encodeTagFilter(filter)),
  create: async (organization, names) =>
    all(decodeTag, {
      method: "POST",
      path: path`/organizations/${organization}/tags`,
      document: encodeTagReferences(names.map((name) => ({ name }))),
    }),
  delete: async (organization, ids, writer) =>
    done({
      method: "DELETE",
      path: path`/organizations/${organization}/tags`,
      document: encodeWriter(encodeIdentifiers("tags", ids), writer),
    }),
  apply: async (tagId, workspaceIds, writer) =>
    done({
      method: "POST",
      path: path`/tags/${tagId}/relationships/workspaces`,
      document: encodeWriter(encodeIdentifiers("workspaces", workspaceIds), writer),
    }),

  ofWorkspace: async (workspaceId, request, { search } = {}) =>
    page(decodeTag, path`/workspaces/${workspaceId}/relationships/tags`, request, [["name", search]]),
  add: async (workspaceId, tags, writer) =>
    done({
      method: "POST",
      path: path`/workspaces/${workspaceId}/relationships/tags`,
      document: encodeWriter(encodeTagReferences(tags), writer),
    }),
  remove: async (workspaceId, tags, writer) =>
    done({
      method: "DELETE",
      path: path`/workspaces/${workspaceId}/relationships/tags`,
      document: encodeWriter(encodeTagReferences(tags), writer),
    }),

  bindings: async (workspaceId, showing) => all(decodeTagBinding, bindingsRequest(workspaceId, showing)),
  effectiveBindings: async (workspaceId, showing) =>
    all(decodeEffectiveTagBinding, {
      method: "GET",
      path: path`/workspaces/${workspaceId}/effective-tag-bindings`,
      query: queryOf(encodeShowing(showing)),
    }),
  bind: async (workspaceId, bindings, writer) =>
    all(decodeTagBinding, {
      method: "PATCH",
      path: path`/workspaces/${workspaceId}/tag-bindings`,
      document: encodeWriter(encodeTagBindings(bindings), writer),
    }),

  projectBindings: async (projectId, showing) =>
    all(decodeTagBinding, {
      method: "GET",
      path: path`/projects/${projectId}/tag-bindings`,
      query: queryOf(encodeShowing(showing)),
    }),
  bindProject: async (projectId, bindings, writer) =>
    all(decodeTagBinding, {
      method: "PATCH",
      path: path`/projects/${projectId}/tag-bindings`,
      document: encodeWriter(encodeTagBindings(bindings), writer),
    }),
})

export const bindingsRequest = (workspaceId: string, showing?: Showing): OutgoingRequest => ({
  method: "GET",
  path: path`/workspaces/${workspaceId}/tag-bindings`,
  query: queryOf(encodeShowing(showing)),
})
