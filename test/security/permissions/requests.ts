import { assignedRequests } from "./assigned-requests.ts"
import { identityRequests } from "./identity-requests.ts"
import type { Prepare } from "./prepared-request.ts"
import { runRequests } from "./run-requests.ts"
import { stateRequests } from "./state-requests.ts"
import { tagRequests } from "./tag-requests.ts"
import { workspaceRequests } from "./workspace-requests.ts"

/** Keyed by endpoint, as `METHOD path`. */
export const requests: Readonly<Record<string, Prepare>> = {
  ...identityRequests,
  ...workspaceRequests,
  ...stateRequests,
  ...runRequests,
  ...tagRequests,
  ...assignedRequests,
}
