import type { Projects } from "../organizations/projects.ts"
import { decodeProject, encodeProjectPatch } from "../wire/jsonapi/project.ts"
import { encodeCommaList } from "../wire/jsonapi/query.ts"
import { encodeWriter } from "../wire/jsonapi/writer.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteProjects = ({ one, page, done }: Calls): Projects => ({
  create: async (organization, input, writer) =>
    one(decodeProject, {
      method: "POST",
      path: path`/organizations/${organization}/projects`,
      document: encodeWriter(encodeProjectPatch(input), writer),
    }),
  list: async (organization, { names, search }, request) =>
    page(decodeProject, path`/organizations/${organization}/projects`, request, [
      ["q", search],
      ["filter[names]", names && encodeCommaList(names)],
    ]),
  get: async (id) => one(decodeProject, { method: "GET", path: path`/projects/${id}` }),
  update: async (id, patch, writer) =>
    one(decodeProject, {
      method: "PATCH",
      path: path`/projects/${id}`,
      document: encodeWriter(encodeProjectPatch(patch), writer),
    }),
  delete: async (id) => done({ method: "DELETE", path: path`/projects/${id}` }),
})
