import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { decodeLock, decodeLockExtension, encodeWorkspace } from "../../wire/jsonapi/workspace.ts"
import { decodeWorkspaceInput, workspacePointers as pointers } from "../../wire/jsonapi/workspace-input.ts"
import { decodeWorkspaceQuery } from "../../wire/jsonapi/workspace-query.ts"
import { decodeWorkspaceInclude, encodeInclusions, encodeWorkspaceWith } from "../../wire/jsonapi/workspace-include.ts"
import { decodeWriter } from "../../wire/jsonapi/writer.ts"
import type { WorkspaceRef } from "../../workspaces/workspace.ts"
import type { WorkspaceView } from "../../workspaces/workspace-view.ts"
import { type ApiRequest, baseOf, created, noContent, ok, param, type Route, smallBodyLimitBytes } from "../route.ts"

const organizationOf = (request: ApiRequest) => param(request, "organization_name")
const byId = (request: ApiRequest): WorkspaceRef => ({ id: param(request, "workspace_id") })
const byName = (request: ApiRequest): WorkspaceRef => ({
  organization: organizationOf(request),
  name: param(request, "name"),
})

const document = (workspace: WorkspaceView) => ({ data: encodeWorkspace(workspace) })

/** What `include` asks for; undefined when it asks for nothing. */
async function inclusionsOf(request: ApiRequest, workspaces: readonly WorkspaceView[]) {
  const parts = decodeWorkspaceInclude(request.query)
  return parts.size === 0 ? undefined : request.engine.inclusions.of(workspaces, parts)
}

async function show(request: ApiRequest, ref: WorkspaceRef) {
  decodeWorkspaceInclude(request.query)
  const workspace = await request.engine.workspaces.get(ref)
  const included = await inclusionsOf(request, [workspace])
  if (included === undefined) return ok(document(workspace))
  return ok({ data: encodeWorkspaceWith(workspace, included), included: encodeInclusions(included, baseOf(request)) })
}

/** Both path forms behave identically. */
const forms = [
  { path: "/workspaces/:workspace_id", refOf: byId },
  { path: "/organizations/:organization_name/workspaces/:name", refOf: byName },
]

/** Endpoints of one workspace, in both path forms where there are two. */
export const workspaceRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/organizations/:organization_name/workspaces",
    pointers,
    handle: async (request) => {
      const body = await request.body()
      const input = decodeWorkspaceInput(body)
      const writer = decodeWriter(request.headers, body)
      return created(document(await request.engine.workspaces.create(organizationOf(request), input, writer)))
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/workspaces",
    handle: async (request) => {
      const { engine, query, url } = request
      const page = decodePage(query)
      decodeWorkspaceInclude(query)
      const found = await engine.workspaces.list(organizationOf(request), decodeWorkspaceQuery(query), page)
      const included = await inclusionsOf(request, found.items)
      return ok(
        encodePage(
          found,
          (workspace) => encodeWorkspaceWith(workspace, included),
          url,
          included && encodeInclusions(included, baseOf(request)),
        ),
      )
    },
  },
  ...forms.flatMap(({ path, refOf }): Route[] => [
    {
      method: "GET",
      path,
      handle: (request) => show(request, refOf(request)),
    },
    {
      method: "PATCH",
      path,
      pointers,
      handle: async (request) => {
        const body = await request.body()
        const changes = decodeWorkspaceInput(body)
        const writer = decodeWriter(request.headers, body)
        return ok(document(await request.engine.workspaces.update(refOf(request), changes, writer)))
      },
    },
    {
      method: "DELETE",
      path,
      handle: async (request) => {
        await request.engine.workspaces.forceDelete(refOf(request))
        return noContent
      },
    },
    {
      method: "POST",
      path: `${path}/actions/safe-delete`,
      handle: async (request) => {
        await request.engine.workspaces.safeDelete(refOf(request))
        return noContent
      },
    },
  ]),
  {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/lock",
    bodyLimitBytes: smallBodyLimitBytes,
    pointers,
    handle: async (request) => {
      const input = decodeLock(await request.body())
      return ok(document(await request.engine.workspaces.lock(byId(request), input)))
    },
  },
  {
    method: "POST",
    path: "/workspaces/:workspace_id/actions/extend-lock",
    bodyLimitBytes: smallBodyLimitBytes,
    pointers,
    handle: async (request) => {
      const input = decodeLockExtension(await request.body())
      return ok(document(await request.engine.workspaces.extendLock(byId(request), input)))
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
