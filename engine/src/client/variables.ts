import { decodeVariableView, encodeVariablePatch } from "../wire/jsonapi/variable.ts"
import type { Variables } from "../workspaces/variables.ts"
import type { WorkspaceRef } from "../workspaces/workspace.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

export function remoteVariables(calls: Calls): Variables {
  const { one, all, done } = calls
  const within = async (ref: WorkspaceRef): Promise<string> => path`/workspaces/${await workspaceId(calls, ref)}/vars`
  const at = async (ref: WorkspaceRef, id: string): Promise<string> => `${await within(ref)}${path`/${id}`}`
  return {
    create: async (ref, input) =>
      one(decodeVariableView, { method: "POST", path: await within(ref), document: encodeVariablePatch(input) }),
    get: async (ref, id) => one(decodeVariableView, { method: "GET", path: await at(ref, id) }),
    findById: async (id) => one(decodeVariableView, { method: "GET", path: path`/vars/${id}` }),
    // Whoever asks for no page gets all of them.
    list: async (ref) => all(decodeVariableView, { method: "GET", path: await within(ref) }),
    update: async (ref, id, patch) =>
      one(decodeVariableView, { method: "PATCH", path: await at(ref, id), document: encodeVariablePatch(patch) }),
    delete: async (ref, id) => done({ method: "DELETE", path: await at(ref, id) }),
  }
}
