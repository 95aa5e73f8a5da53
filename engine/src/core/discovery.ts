/** Facts about an engine that are public to all callers. */
export interface Discovery {
  /** Returns the version of the workspace API, such as `2.6`, or an empty string if the server does not report one. */
  apiVersion(): Promise<string>
}

/** Sent as `TFP-API-Version`. Clients use a feature only from its version on (docs/compatibility.md, "Discovery"). */
export const apiVersion = "2.6"

/**
 * Sent as `X-TFE-Version`. Terraform and OpenTofu render the plan of a remote run only for releases of Terraform Enterprise from
 * v202302-1 on, and the provider `tfe` uses features by it (docs/compatibility.md, "Discovery").
 */
export const enterpriseRelease = "v202507-1"

export const ownDiscovery: Discovery = { apiVersion: async () => apiVersion }

/** Service ids of Terraform's service discovery with the paths of the workspace API. */
export const workspaceServices = {
  "state.v2": "/api/v2/",
  "tfe.v2": "/api/v2/",
  "tfe.v2.1": "/api/v2/",
  "tfe.v2.2": "/api/v2/",
} as const
