import { defaultPageSize, type Page, pageOf, type PageRequest } from "../../core/page.ts"
import { variables } from "../../contracts/tfe/variable.ts"
import type { VariableView } from "../../workspaces/variables/variable.ts"
import type { WorkspaceRef } from "../../workspaces/workspace/workspace.ts"
import { implement } from "./implement.ts"
import type { ApiRequest } from "./route.ts"

async function list(
  { engine }: ApiRequest,
  ref: WorkspaceRef,
  page: PageRequest | undefined,
): Promise<Page<VariableView>> {
  const found = await engine.variables.list(ref)
  if (page === undefined)
    return pageOf(found, { number: 1, size: Math.max(found.length, defaultPageSize) }, found.length)
  const from = (page.number - 1) * page.size
  return pageOf(found.slice(from, from + page.size), page, found.length)
}

/** Returns the workspace of a variable. The older endpoints name only the variable. */
const ownerOf = async ({ engine }: ApiRequest, id: string): Promise<WorkspaceRef> => ({
  id: (await engine.variables.findById(id)).workspaceId,
})

export const variableRoutes = implement(variables, {
  createByWorkspace: ({ engine }, { workspaceId, ...input }) => engine.variables.create({ id: workspaceId }, input),
  listByWorkspace: (request, workspace, page) => list(request, workspace, page),
  findById: ({ engine }, id) => engine.variables.findById(id),
  updateById: async (request, id, patch) => request.engine.variables.update(await ownerOf(request, id), id, patch),
  deleteById: async (request, id) => request.engine.variables.delete(await ownerOf(request, id), id),
  create: ({ engine }, id, input) => engine.variables.create({ id }, input),
  list: (request, id, page) => list(request, { id }, page),
  listWithSets: (request, id, page) => list(request, { id }, page),
  get: ({ engine }, id, variableId) => engine.variables.get({ id }, variableId),
  update: ({ engine }, id, variableId, patch) => engine.variables.update({ id }, variableId, patch),
  delete: ({ engine }, id, variableId) => engine.variables.delete({ id }, variableId),
})
