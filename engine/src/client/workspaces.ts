import { isEngineError } from "../core/errors.ts"
import { projects } from "../contracts/tfe/project.ts"
import { sshKeys } from "../contracts/tfe/ssh-key.ts"
import { namedWorkspaces, workspaces } from "../contracts/tfe/workspace.ts"
import type { Tags } from "../tags/tags.ts"
import type { WorkspaceRef } from "../workspaces/workspace.ts"
import type { WorkspaceView } from "../workspaces/workspace-view.ts"
import type { Workspaces } from "../workspaces/workspaces.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteWorkspaces(transport: Transport, tags: Pick<Tags, "bindings">): Workspaces {
  const byId = remote(workspaces, transport)
  const byName = remote(namedWorkspaces, transport)
  const withId = <Rest extends unknown[], T>(call: (id: string, ...rest: Rest) => Promise<T>) =>
    byWorkspaceId(transport, call)
  return {
    create: byId.create,
    list: byId.list,
    async get(ref, { bindings: showing } = {}) {
      const found = getWorkspace(transport, ref)
      if (showing === undefined) return found
      const bindingsOf = (id: string) => tags.bindings(id, showing)
      // At once where the id is known: the answer to the one says nothing that the other needs.
      const asked = "id" in ref ? bindingsOf(ref.id) : found.then(({ id }) => bindingsOf(id))
      const [view, bindings] = await Promise.all([found, unlessHidden(asked)])
      return { ...view, ...(bindings && { bindings }) }
    },
    update: async (ref, changes, writer) =>
      "id" in ref ? byId.update(ref.id, changes, writer) : byName.update(ref.organization, ref.name, changes, writer),
    safeDelete: async (ref) => ("id" in ref ? byId.safeDelete(ref.id) : byName.safeDelete(ref.organization, ref.name)),
    forceDelete: async (ref) => ("id" in ref ? byId.delete(ref.id) : byName.delete(ref.organization, ref.name)),
    assignSshKey: withId(remote(sshKeys, transport).assign),
    lock: withId(byId.lock),
    extendLock: async (ref, input = {}) => withId(byId.extendLock)(ref, input),
    unlock: withId(byId.unlock),
    forceUnlock: withId(byId.forceUnlock),
    moveToProject: remote(projects, transport).moveWorkspaces,
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

async function getWorkspace(transport: Transport, ref: WorkspaceRef): Promise<WorkspaceView> {
  const { data } = await ("id" in ref
    ? remote(workspaces, transport).get(ref.id, {})
    : remote(namedWorkspaces, transport).get(ref.organization, ref.name, {}))
  return data
}

/** A call that takes a workspace's id, of one that is named. */
export const byWorkspaceId =
  <Rest extends unknown[], T>(transport: Transport, call: (id: string, ...rest: Rest) => Promise<T>) =>
  async (ref: WorkspaceRef, ...rest: Rest): Promise<T> =>
    call(await workspaceId(transport, ref), ...rest)

/** For those that know workspaces by id alone. */
export const workspaceId = async (transport: Transport, ref: WorkspaceRef): Promise<string> =>
  "id" in ref ? ref.id : (await getWorkspace(transport, ref)).id
