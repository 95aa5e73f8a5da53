import { organizations } from "../contracts/tfe/organization.ts"
import type { Organizations } from "../organizations/organizations.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteOrganizations(transport: Transport): Organizations {
  const { get, list, entitlements: _, ...same } = remote(organizations, transport)
  return {
    ...same,
    list: (search, page) => list(search === undefined ? {} : { search }, page),
    get: async (name) => (await get(name, {})).data,
  }
}
