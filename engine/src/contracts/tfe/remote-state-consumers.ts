import { identifiers } from "./document.ts"
import { contract, nothing, page } from "./endpoint.ts"
import { workspace } from "./workspace.ts"

const path = "/workspaces/:workspace_id/relationships/remote-state-consumers"
const changes = {
  path,
  rights: "`can-update` on the workspace, and each consumer must be visible to the caller.",
  body: identifiers("workspaces"),
  answers: nothing,
} as const

export const remoteStateConsumers = contract({
  list: {
    method: "GET",
    path,
    summary:
      "Lists the workspaces that may read the workspace's state: the listed ones, or every other one of the organization while global-remote-state is true.",
    rights: "Callers who see the workspace; they get the consumers that they see.",
    answers: page(workspace),
  },
  replace: { method: "PATCH", summary: "Replaces the consumers.", ...changes },
  add: { method: "POST", summary: "Adds consumers; those on the list are ignored.", ...changes },
  remove: { method: "DELETE", summary: "Removes consumers; those not on the list are ignored.", ...changes },
})
