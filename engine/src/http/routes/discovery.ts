// What existing clients ask before they have shown a token: where the API is, and which version of it this is
// (workspace-facts 2.1).
import { apiVersion } from "../../core/discovery.ts"
import { ok, type OpenRoute } from "../route.ts"

const base = "/api/v2/"

export const discoveryRoutes: readonly OpenRoute[] = [
  {
    method: "GET",
    path: "/.well-known/terraform.json",
    handle: async () => ({
      ...ok({ "state.v2": base, "tfe.v2": base, "tfe.v2.1": base, "tfe.v2.2": base }),
      headers: { "content-type": "application/json" },
    }),
  },
  {
    method: "GET",
    path: `${base}ping`,
    handle: async () => ({ status: 204, headers: { "tfp-api-version": apiVersion } }),
  },
]
