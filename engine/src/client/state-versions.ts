import { decodeWorkspaceResource } from "../wire/jsonapi/workspace-resource.ts"
import { conflict, notFound } from "../core/errors.ts"
import {
  decodeStateVersionOutput,
  decodeStateVersionView,
  downloadPaths,
  encodeRollback,
  encodeStateVersionInput,
  encodeStateVersionQuery,
} from "../wire/jsonapi/state-version.ts"
import { uploadRefusals } from "../workspaces/state-version-rules.ts"
import type { StateVersions } from "../workspaces/state-versions.ts"
import type { Calls } from "./calls.ts"
import { path, type Transport } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

export function remoteStateVersions(calls: Calls, { downloadStream, upload }: Transport): StateVersions {
  const { one, all, page, done } = calls
  return {
    create: async (ref, input) =>
      one(decodeStateVersionView, {
        method: "POST",
        path: path`/workspaces/${await workspaceId(calls, ref)}/state-versions`,
        document: encodeStateVersionInput(input),
      }),
    get: async (id) => one(decodeStateVersionView, { method: "GET", path: path`/state-versions/${id}` }),
    current: async (ref) =>
      one(decodeStateVersionView, {
        method: "GET",
        path: path`/workspaces/${await workspaceId(calls, ref)}/current-state-version`,
      }),
    list: async (ref, query, request) =>
      page(
        decodeStateVersionView,
        path`/workspaces/${await workspaceId(calls, ref)}/state-versions`,
        request,
        encodeStateVersionQuery(query),
      ),
    // The version shows its upload addresses to those who may use them.
    upload: async (id, document, content) => {
      const { uploads, status } = await one(decodeStateVersionView, {
        method: "GET",
        path: path`/state-versions/${id}`,
      })
      if (uploads === null)
        throw status === "pending" ? notFound(id) : conflict(uploadRefusals[status], { subject: id })
      await upload(
        path`/uploads/state-versions/${id}/${document}`,
        new URLSearchParams({ credential: uploads[document] }),
        content,
      )
    },
    download: async (id, document) => downloadStream(path`/state-versions/${id}/${downloadPaths[document]}`),
    rollback: async (ref, id) =>
      one(decodeStateVersionView, {
        method: "PATCH",
        path: path`/workspaces/${await workspaceId(calls, ref)}/state-versions`,
        document: encodeRollback(id),
      }),
    softDeleteBackingData: (id) =>
      done({ method: "POST", path: path`/state-versions/${id}/actions/soft_delete_backing_data` }),
    restoreBackingData: (id) =>
      done({ method: "POST", path: path`/state-versions/${id}/actions/restore_backing_data` }),
    permanentlyDeleteBackingData: (id) =>
      done({ method: "POST", path: path`/state-versions/${id}/actions/permanently_delete_backing_data` }),
    resources: async (ref, request) =>
      page(decodeWorkspaceResource, path`/workspaces/${await workspaceId(calls, ref)}/resources`, request),
    outputs: async (id, request) => page(decodeStateVersionOutput, path`/state-versions/${id}/outputs`, request),
    currentOutputs: async (ref) =>
      all(decodeStateVersionOutput, {
        method: "GET",
        path: path`/workspaces/${await workspaceId(calls, ref)}/current-state-version-outputs`,
      }),
    output: async (id) => one(decodeStateVersionOutput, { method: "GET", path: path`/state-version-outputs/${id}` }),
  }
}
