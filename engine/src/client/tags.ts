import type { Tags } from "../tags/tags.ts"
import { encodeIdentifiers } from "../wire/jsonapi/document.ts"
import { decodeTag, encodeTagFilter, encodeTagReferences } from "../wire/jsonapi/tag.ts"
import { decodeEffectiveTagBinding, decodeTagBinding, encodeTagBindings } from "../wire/jsonapi/tag-binding.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteTags = ({ all, page, done }: Calls): Tags => ({
  list: async (organization, filter, request) =>
    page(decodeTag, path`/organizations/${organization}/tags`, request, encodeTagFilter(filter)),
  create: async (organization, names) =>
    all(decodeTag, {
      method: "POST",
      path: path`/organizations/${organization}/tags`,
      document: encodeTagReferences(names.map((name) => ({ name }))),
    }),
  delete: async (organization, ids) =>
    done({
      method: "DELETE",
      path: path`/organizations/${organization}/tags`,
      document: encodeIdentifiers("tags", ids),
    }),
  apply: async (tagId, workspaceIds) =>
    done({
      method: "POST",
      path: path`/tags/${tagId}/relationships/workspaces`,
      document: encodeIdentifiers("workspaces", workspaceIds),
    }),

  ofWorkspace: async (workspaceId, request, { search } = {}) =>
    page(decodeTag, path`/workspaces/${workspaceId}/relationships/tags`, request, [["name", search]]),
  add: async (workspaceId, tags) =>
    done({
      method: "POST",
      path: path`/workspaces/${workspaceId}/relationships/tags`,
      document: encodeTagReferences(tags),
    }),
  remove: async (workspaceId, tags) =>
    done({
      method: "DELETE",
      path: path`/workspaces/${workspaceId}/relationships/tags`,
      document: encodeTagReferences(tags),
    }),

  bindings: async (workspaceId) =>
    all(decodeTagBinding, { method: "GET", path: path`/workspaces/${workspaceId}/tag-bindings` }),
  effectiveBindings: async (workspaceId) =>
    all(decodeEffectiveTagBinding, { method: "GET", path: path`/workspaces/${workspaceId}/effective-tag-bindings` }),
  bind: async (workspaceId, bindings) =>
    all(decodeTagBinding, {
      method: "PATCH",
      path: path`/workspaces/${workspaceId}/tag-bindings`,
      document: encodeTagBindings(bindings),
    }),

  projectBindings: async (projectId) =>
    all(decodeTagBinding, { method: "GET", path: path`/projects/${projectId}/tag-bindings` }),
  bindProject: async (projectId, bindings) =>
    all(decodeTagBinding, {
      method: "PATCH",
      path: path`/projects/${projectId}/tag-bindings`,
      document: encodeTagBindings(bindings),
    }),
})
