import { isEngineError } from "../core/errors.ts"
import { encodeIdentifiers } from "../wire/jsonapi/document.ts"
import { sshKeys } from "../contracts/tfe/ssh-key.ts"
import { decodeWorkspace, encodeLock, encodeLockExtension } from "../wire/jsonapi/workspace.ts"
import { encodeWorkspaceInput } from "../wire/jsonapi/workspace-input.ts"
import { encodeWorkspaceQuery } from "../wire/jsonapi/workspace-query.ts"
import { encodeWriter } from "../wire/jsonapi/writer.ts"
import type { Tags } from "../tags/tags.ts"
import type { WorkspaceRef } from "../workspaces/workspace.ts"
import type { WorkspaceView } from "../workspaces/workspace-view.ts"
import type { Workspaces } from "../workspaces/workspaces.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export function remoteWorkspaces(calls: Calls, tags: Pick<Tags, "bindings">): Workspaces {
  const { one, page, done } = calls
  const act = async (ref: WorkspaceRef, action: string, document?: unknown): Promise<WorkspaceView> =>
    one(decodeWorkspace, {
      method: "POST",
      path: path`/workspaces/${await workspaceId(calls, ref)}/actions/${action}`,
      document,
    })

  return {
    create: async (organization, input, writer) =>
      one(decodeWorkspace, {
        method: "POST",
        path: path`/organizations/${organization}/workspaces`,
        document: encodeWriter(encodeWorkspaceInput(input), writer),
      }),
    list: async (organization, query, request) =>
      page(decodeWorkspace, path`/organizations/${organization}/workspaces`, request, encodeWorkspaceQuery(query)),
    get: async (ref, { bindings: showing } = {}) => {
      const found = one(decodeWorkspace, { method: "GET", path: workspacePath(ref) })
      if (showing === undefined) return found
      const bindingsOf = (id: string) => tags.bindings(id, showing)
      // At once where the id is known: the answer to the one says nothing that the other needs.
      const asked = "id" in ref ? bindingsOf(ref.id) : found.then(({ id }) => bindingsOf(id))
      const [view, bindings] = await Promise.all([found, unlessHidden(asked)])
      return { ...view, ...(bindings && { bindings }) }
    },
    update: async (ref, changes, writer) =>
      one(decodeWorkspace, {
        method: "PATCH",
        path: workspacePath(ref),
        document: encodeWriter(encodeWorkspaceInput(changes), writer),
      }),
    safeDelete: async (ref) => done({ method: "POST", path: `${workspacePath(ref)}/actions/safe-delete` }),
    forceDelete: async (ref) => done({ method: "DELETE", path: workspacePath(ref) }),
    assignSshKey: async (ref, sshKeyId) =>
      one(decodeWorkspace, {
        method: "PATCH",
        path: path`/workspaces/${await workspaceId(calls, ref)}/relationships/ssh-key`,
        document: sshKeys.assign.body.encode(sshKeyId),
      }),
    lock: (ref, input) => act(ref, "lock", encodeLock(input)),
    extendLock: (ref, input = {}) => act(ref, "extend-lock", encodeLockExtension(input)),
    unlock: (ref) => act(ref, "unlock"),
    forceUnlock: (ref) => act(ref, "force-unlock"),
    moveToProject: async (projectId, workspaceIds) =>
      done({
        method: "POST",
        path: path`/projects/${projectId}/relationships/workspaces`,
        document: encodeIdentifiers("workspaces", workspaceIds),
      }),
  }
}

/** To whom the workspace is shown for its state alone. */
async function unlessHidden<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** Returns the path of a workspace, for endpoints with both path forms. */
export const workspacePath = (ref: WorkspaceRef): string =>
  "id" in ref ? path`/workspaces/${ref.id}` : path`/organizations/${ref.organization}/workspaces/${ref.name}`

/** A call that takes a workspace's id, of one that is named. */
export const byWorkspaceId =
  <Rest extends unknown[], T>(calls: Calls, call: (id: string, ...rest: Rest) => Promise<T>) =>
  async (ref: WorkspaceRef, ...rest: Rest): Promise<T> =>
    call(await workspaceId(calls, ref), ...rest)

/** For those that know workspaces by id alone. */
export const workspaceId = async ({ one }: Calls, ref: WorkspaceRef): Promise<string> =>
  "id" in ref ? ref.id : (await one(decodeWorkspace, { method: "GET", path: workspacePath(ref) })).id
