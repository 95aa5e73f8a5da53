import { namedWorkspaces, workspaces } from "../../contracts/tfe/workspace.ts"
import type { WorkspacePart } from "../../workspaces/inclusions.ts"
import type { WorkspaceRef } from "../../workspaces/workspace.ts"
import type { WorkspaceView } from "../../workspaces/workspace-view.ts"
import { encodeInclusions, withBindingsOf } from "../included.ts"
import { implement } from "../implement.ts"
import { type ApiRequest, baseOf, type Route } from "../route.ts"

/** Returns the workspaces and what `include` names of them. */
async function including(request: ApiRequest, found: readonly WorkspaceView[], parts: readonly WorkspacePart[] = []) {
  if (parts.length === 0) return { items: found }
  const included = await request.engine.inclusions.of(found, new Set(parts))
  return { items: found.map(withBindingsOf(included)), included: encodeInclusions(included, baseOf(request)) }
}

interface Query {
  readonly include?: readonly WorkspacePart[]
}

async function show(request: ApiRequest, ref: WorkspaceRef, { include }: Query) {
  const view = await request.engine.workspaces.get(ref)
  const { items, included } = await including(request, [view], include)
  return { data: items[0] ?? view, included }
}

/** Endpoints of one workspace, in both path forms where there are two. */
export const workspaceRoutes: readonly Route[] = [
  ...implement(workspaces, {
    create: ({ engine }, organization, input, writer) => engine.workspaces.create(organization, input, writer),
    async list(request, organization, { include, ...query }, page) {
      const found = await request.engine.workspaces.list(organization, query, page)
      return { ...found, ...(await including(request, found.items, include)) }
    },
    get: (request, id, query) => show(request, { id }, query),
    update: ({ engine }, id, changes, writer) => engine.workspaces.update({ id }, changes, writer),
    delete: ({ engine }, id) => engine.workspaces.forceDelete({ id }),
    safeDelete: ({ engine }, id) => engine.workspaces.safeDelete({ id }),
    lock: ({ engine }, id, input) => engine.workspaces.lock({ id }, input),
    extendLock: ({ engine }, id, input) => engine.workspaces.extendLock({ id }, input),
    unlock: ({ engine }, id) => engine.workspaces.unlock({ id }),
    forceUnlock: ({ engine }, id) => engine.workspaces.forceUnlock({ id }),
  }),
  ...implement(namedWorkspaces, {
    get: (request, organization, name, query) => show(request, { organization, name }, query),
    update: ({ engine }, organization, name, changes, writer) =>
      engine.workspaces.update({ organization, name }, changes, writer),
    delete: ({ engine }, organization, name) => engine.workspaces.forceDelete({ organization, name }),
    safeDelete: ({ engine }, organization, name) => engine.workspaces.safeDelete({ organization, name }),
  }),
]
