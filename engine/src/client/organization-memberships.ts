import { organizationMemberships } from "../contracts/tfe/organization-membership.ts"
import type { OrganizationMemberships } from "../organizations/organization-memberships.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

/** The user is in an answer only if the request includes it. */
const withUser = { include: ["user"] } as const

export function remoteOrganizationMemberships(transport: Transport): OrganizationMemberships {
  const { create, list, get, ...same } = remote(organizationMemberships, transport)
  return {
    ...same,
    create: async (organization, input) => (await create(organization, input)).data,
    list: (organization, filter, page) => list(organization, { ...filter, ...withUser }, page),
    get: async (id) => (await get(id, withUser)).data,
  }
}
