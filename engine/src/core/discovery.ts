/** What an engine tells everybody, whoever asks. */
export interface Discovery {
  /** The version of its interface for workspaces, such as `2.6`. Empty where a server does not say. */
  apiVersion(): Promise<string>
}

/** Sent as `TFP-API-Version`. Clients use a feature only from its version on (docs/compatibility.md, "Discovery"). */
export const apiVersion = "2.6"

export const ownDiscovery: Discovery = { apiVersion: async () => apiVersion }

/** The names under which existing clients look for the interface for workspaces, and where below a server's address it is. */
export const workspaceServices = {
  "state.v2": "/api/v2/",
  "tfe.v2": "/api/v2/",
  "tfe.v2.1": "/api/v2/",
  "tfe.v2.2": "/api/v2/",
} as const
