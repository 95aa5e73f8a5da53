/** What an engine tells everybody, whoever asks. */
export interface Discovery {
  /** The version of its interface for workspaces, such as `2.6`. Empty where a server does not say. */
  apiVersion(): Promise<string>
}

/** What existing clients compare with before they use what came later (workspace-facts 2.1). */
export const apiVersion = "2.6"

export const ownDiscovery: Discovery = { apiVersion: async () => apiVersion }

/** The names under which existing clients look for the interface for workspaces, and where below a server's address it is. */
export const workspaceServices = {
  "state.v2": "/api/v2/",
  "tfe.v2": "/api/v2/",
  "tfe.v2.1": "/api/v2/",
  "tfe.v2.2": "/api/v2/",
} as const
