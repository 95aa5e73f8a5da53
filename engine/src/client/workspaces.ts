import { decodeOne, decodePageOf } from "../wire/jsonapi/answer.ts"
import { identifier } from "../wire/jsonapi/document.ts"
import { decodeWorkspace, encodeLock } from "../wire/jsonapi/workspace.ts"
import { encodeWorkspaceInput } from "../wire/jsonapi/workspace-input.ts"
import { encodeWorkspaceQuery } from "../wire/jsonapi/workspace-query.ts"
import type { WorkspaceRef } from "../workspaces/workspace.ts"
import type { WorkspaceView } from "../workspaces/workspace-view.ts"
import type { Workspaces } from "../workspaces/workspaces.ts"
import { path, type Transport } from "./transport.ts"

export function remoteWorkspaces({ send }: Transport): Workspaces {
  const one = async (document: Promise<unknown>): Promise<WorkspaceView> => decodeOne(await document, decodeWorkspace)

  /** Actions are offered by id alone. */
  async function act(ref: WorkspaceRef, action: string, document?: unknown): Promise<WorkspaceView> {
    const id = await idOf(ref)
    return one(
      send({
        method: "POST",
        path: path`/workspaces/${id}/actions/${action}`,
        ...(document === undefined ? {} : { document }),
      }),
    )
  }

  const get = (ref: WorkspaceRef) => one(send({ method: "GET", path: workspacePath(ref) }))
  const idOf = async (ref: WorkspaceRef): Promise<string> => ("id" in ref ? ref.id : (await get(ref)).id)

  const actionPath = (ref: WorkspaceRef, action: string) => `${workspacePath(ref)}${path`/actions/${action}`}`

  return {
    create: (organization, input) =>
      one(
        send({
          method: "POST",
          path: path`/organizations/${organization}/workspaces`,
          document: encodeWorkspaceInput(input),
        }),
      ),
    list: async (organization, query, page) =>
      decodePageOf(
        await send({
          method: "GET",
          path: path`/organizations/${organization}/workspaces`,
          query: encodeWorkspaceQuery(query, page),
        }),
        decodeWorkspace,
      ),
    get,
    update: (ref, changes) =>
      one(send({ method: "PATCH", path: workspacePath(ref), document: encodeWorkspaceInput(changes) })),
    safeDelete: async (ref) => {
      await send({ method: "POST", path: actionPath(ref, "safe-delete") })
    },
    forceDelete: async (ref) => {
      await send({ method: "DELETE", path: workspacePath(ref) })
    },
    lock: (ref, input) => act(ref, "lock", encodeLock(input)),
    unlock: (ref) => act(ref, "unlock"),
    forceUnlock: (ref) => act(ref, "force-unlock"),
    async moveToProject(projectId, workspaceIds) {
      const document = { data: workspaceIds.map((id) => identifier("workspaces", id)) }
      await send({ method: "POST", path: path`/projects/${projectId}/relationships/workspaces`, document })
    },
  }
}

export const workspacePath = (ref: WorkspaceRef): string =>
  "id" in ref ? path`/workspaces/${ref.id}` : path`/organizations/${ref.organization}/workspaces/${ref.name}`
