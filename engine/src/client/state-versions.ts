import {
  decodeStateVersionOutput,
  decodeStateVersionView,
  encodeStateVersionInput,
  encodeStateVersionQuery,
} from "../wire/jsonapi/state-version.ts"
import type { StateDocument } from "../workspaces/state-version.ts"
import type { StateVersions } from "../workspaces/state-versions.ts"
import type { Calls } from "./calls.ts"
import { path, type Transport } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

const downloads: Record<StateDocument, string> = { state: "download", "json-state": "json-download" }

export function remoteStateVersions(calls: Calls, { download }: Transport): StateVersions {
  const { one, all, page } = calls
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
    download: async (id, document) => download(path`/state-versions/${id}/${downloads[document]}`),
    outputs: async (id, request) => page(decodeStateVersionOutput, path`/state-versions/${id}/outputs`, request),
    currentOutputs: async (ref) =>
      all(decodeStateVersionOutput, {
        method: "GET",
        path: path`/workspaces/${await workspaceId(calls, ref)}/current-state-version-outputs`,
      }),
    output: async (id) => one(decodeStateVersionOutput, { method: "GET", path: path`/state-version-outputs/${id}` }),
  }
}
