import type { RemoteStateConsumers } from "../../workspaces/remote-state-consumers.ts"
import { listPointers } from "../../wire/jsonapi/errors.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { decodeIdentifiers } from "../../wire/jsonapi/relationship.ts"
import { encodeWorkspace } from "../../wire/jsonapi/workspace.ts"
import { type Method, noContent, ok, param, type Route } from "../route.ts"

const path = "/workspaces/:workspace_id/relationships/remote-state-consumers"

/** Remote state consumers of a workspace. */
export const remoteStateConsumerRoutes: readonly Route[] = [
  {
    method: "GET",
    path,
    handle: async (request) => {
      const found = await request.engine.remoteStateConsumers.list(
        param(request, "workspace_id"),
        decodePage(request.query),
      )
      return ok(encodePage(found, encodeWorkspace, request.url))
    },
  },
  change("PATCH", "replace"),
  change("POST", "add"),
  change("DELETE", "remove"),
]

function change(method: Method, verb: "replace" | "add" | "remove"): Route {
  return {
    method,
    path,
    pointers: listPointers,
    handle: async (request) => {
      const ids = decodeIdentifiers(await request.body(), "workspaces")
      const consumers: RemoteStateConsumers = request.engine.remoteStateConsumers
      await consumers[verb](param(request, "workspace_id"), ids)
      return noContent
    },
  }
}
