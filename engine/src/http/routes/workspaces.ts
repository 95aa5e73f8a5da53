import { attributePointers } from "../../wire/jsonapi/errors.ts"
import { decodeLock, encodeWorkspace } from "../../wire/jsonapi/workspace.ts"
import type { WorkspaceRef } from "../../workspaces/workspace.ts"
import type { WorkspaceView } from "../../workspaces/workspace-view.ts"
import { type ApiRequest, ok, param, type Route } from "../route.ts"

const pointers = attributePointers(["project", "tagBindings", "tags"])

const byId = (request: ApiRequest): WorkspaceRef => ({ id: param(request, "workspace_id") })
const byName = (request: ApiRequest): WorkspaceRef => ({
  organization: param(request, "organization_name"),
  name: param(request, "name"),
})

const document = (workspace: WorkspaceView) => ({ data: encodeWorkspace(workspace) })

/** The endpoints of specification 4.5 and 4.7 whose subject is one workspace, in both path forms where there are two. */
export const workspaceRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/workspaces/:workspace_id",
    handle: async (request) => ok(document(await request.engine.workspaces.get(byId(request)))),
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/workspaces/:name",
    handle: async (request) => ok(document(await request.engine.workspaces.get(byName(request)))),
  },
  {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/lock",
    pointers,
    handle: async (request) => {
      const input = decodeLock(await request.body())
      return ok(document(await request.engine.workspaces.lock(byId(request), input)))
    },
  },
  {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/unlock",
    handle: async (request) => ok(document(await request.engine.workspaces.unlock(byId(request)))),
  },
  {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/force-unlock",
    handle: async (request) => ok(document(await request.engine.workspaces.forceUnlock(byId(request)))),
  },
]
