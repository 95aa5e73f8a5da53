import { encodeIdentifiers } from "../wire/jsonapi/document.ts"
import { decodeWorkspace } from "../wire/jsonapi/workspace.ts"
import type { RemoteStateConsumers } from "../workspaces/remote-state-consumers.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export function remoteRemoteStateConsumers({ page, done }: Calls): RemoteStateConsumers {
  const at = (workspaceId: string): string => path`/workspaces/${workspaceId}/relationships/remote-state-consumers`
  const change =
    (method: "POST" | "PATCH" | "DELETE") =>
    async (workspaceId: string, consumerIds: readonly string[]): Promise<void> =>
      done({ method, path: at(workspaceId), document: encodeIdentifiers("workspaces", consumerIds) })
  return {
    list: async (workspaceId, request) => page(decodeWorkspace, at(workspaceId), request),
    replace: change("PATCH"),
    add: change("POST"),
    remove: change("DELETE"),
  }
}
