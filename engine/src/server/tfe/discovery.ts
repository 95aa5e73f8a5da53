// Requests of clients before they send a token: the API's paths and version (docs/compatibility.md, "Discovery").
import { openAddresses } from "../../contracts/tfe/open-address.ts"
import { apiVersion, enterpriseRelease, workspaceServices } from "../../core/discovery.ts"
import { addressOf, ok, type OpenRoute } from "./route.ts"

const { discovery, ping } = openAddresses

export const discoveryRoutes: readonly OpenRoute[] = [
  {
    ...addressOf(discovery),
    handle: async () => ({
      ...ok(workspaceServices),
      headers: { "content-type": "application/json" },
    }),
  },
  {
    ...addressOf(ping),
    handle: async () => ({
      status: 204,
      headers: { "tfp-api-version": apiVersion, "x-tfe-version": enterpriseRelease },
    }),
  },
]
