import type { OrganizationMemberships } from "../organizations/organization-memberships.ts"
import {
  decodeOrganizationMembership,
  encodeOrganizationMembershipInput,
} from "../wire/jsonapi/organization-membership.ts"
import { encodeCommaList } from "../wire/jsonapi/query.ts"
import { type Calls, queryOf } from "./calls.ts"
import { path } from "./transport.ts"

/** Whose it is comes along only with who asks for it. */
const withUser = [["include", "user"]] as const

export const remoteOrganizationMemberships = ({ one, page, done }: Calls): OrganizationMemberships => ({
  create: async (organization, input) =>
    one(decodeOrganizationMembership, {
      method: "POST",
      path: path`/organizations/${organization}/organization-memberships`,
      document: encodeOrganizationMembershipInput(input),
    }),
  list: async (organization, { search, emails, status }, request) =>
    page(decodeOrganizationMembership, path`/organizations/${organization}/organization-memberships`, request, [
      ["q", search],
      ["filter[email]", emails && encodeCommaList(emails)],
      ["filter[status]", status],
      ...withUser,
    ]),
  get: async (id) =>
    one(decodeOrganizationMembership, {
      method: "GET",
      path: path`/organization-memberships/${id}`,
      query: queryOf(withUser),
    }),
  delete: async (id) => done({ method: "DELETE", path: path`/organization-memberships/${id}` }),
})
