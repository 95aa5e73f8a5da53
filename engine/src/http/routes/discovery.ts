// What existing clients ask before they have shown a token: where the API is, and which version of it this is
// (workspace-facts 2.1).
import { apiVersion, workspaceServices } from "../../core/discovery.ts"
import { ok, type OpenRoute } from "../route.ts"

export const discoveryRoutes: readonly OpenRoute[] = [
  {
    method: "GET",
    path: "/.well-known/terraform.json",
    handle: async () => ({
      ...ok(workspaceServices),
      headers: { "content-type": "application/json" },
    }),
  },
  {
    method: "GET",
    path: "/api/v2/ping",
    handle: async () => ({ status: 204, headers: { "tfp-api-version": apiVersion } }),
  },
]
