import {
  decodeTerraformVersion,
  encodeTerraformVersionFilter,
  encodeTerraformVersionPatch,
} from "../wire/jsonapi/terraform-version.ts"
import type { TerraformVersions } from "../workspaces/terraform-version.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

const collection = "/admin/terraform-versions"

export const remoteTerraformVersions = ({ one, page, done }: Calls): TerraformVersions => ({
  create: (input) =>
    one(decodeTerraformVersion, { method: "POST", path: collection, document: encodeTerraformVersionPatch(input) }),
  list: (filter, request) => page(decodeTerraformVersion, collection, request, encodeTerraformVersionFilter(filter)),
  get: async (id) => one(decodeTerraformVersion, { method: "GET", path: path`/admin/terraform-versions/${id}` }),
  update: async (id, patch) =>
    one(decodeTerraformVersion, {
      method: "PATCH",
      path: path`/admin/terraform-versions/${id}`,
      document: encodeTerraformVersionPatch(patch),
    }),
  delete: async (id) => done({ method: "DELETE", path: path`/admin/terraform-versions/${id}` }),
})
