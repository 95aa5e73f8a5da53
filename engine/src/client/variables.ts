import { variables } from "../contracts/tfe/variable.ts"
import type { Variables } from "../workspaces/variables.ts"
import type { WorkspaceRef } from "../workspaces/workspace.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

export function remoteVariables(transport: Transport): Variables {
  const { create, get, findById, list, update, delete: remove } = remote(variables, transport)
  const idOf = (ref: WorkspaceRef): Promise<string> => workspaceId(transport, ref)
  return {
    create: async (ref, input) => create(await idOf(ref), input),
    get: async (ref, id) => get(await idOf(ref), id),
    findById,
    list: async (ref) => (await list(await idOf(ref))).items,
    update: async (ref, id, patch) => update(await idOf(ref), id, patch),
    delete: async (ref, id) => remove(await idOf(ref), id),
  }
}
