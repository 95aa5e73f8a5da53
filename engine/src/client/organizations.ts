import type { Organizations } from "../organizations/organizations.ts"
import {
  decodeOrganization,
  encodeOrganizationPatch,
  organizationNames as names,
} from "../wire/jsonapi/organization.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteOrganizations = ({ one, page, done }: Calls): Organizations => ({
  create: (input) =>
    one(decodeOrganization, {
      method: "POST",
      path: "/organizations",
      document: encodeOrganizationPatch(input),
      names,
    }),
  list: (search, request) => page(decodeOrganization, "/organizations", request, [["q", search]]),
  get: async (name) => one(decodeOrganization, { method: "GET", path: path`/organizations/${name}` }),
  update: async (name, patch) =>
    one(decodeOrganization, {
      method: "PATCH",
      path: path`/organizations/${name}`,
      document: encodeOrganizationPatch(patch),
      names,
    }),
  delete: async (name) => done({ method: "DELETE", path: path`/organizations/${name}` }),
})
