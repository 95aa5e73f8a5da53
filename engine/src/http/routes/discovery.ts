// Requests of clients before they send a token: the API's paths and version (docs/compatibility.md, "Discovery").
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
