import {
  decodeConfigurationVersionView,
  decodeIngressAttributes,
  decodeReadme,
  encodeConfigurationVersionInput,
} from "../wire/jsonapi/configuration-version.ts"
import type { ConfigurationVersions } from "../workspaces/configuration-versions.ts"
import type { Calls } from "./calls.ts"
import { path, type Transport } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

export function remoteConfigurationVersions(calls: Calls, { download }: Transport): ConfigurationVersions {
  const { one, page, done } = calls
  return {
    create: async (ref, input) =>
      one(decodeConfigurationVersionView, {
        method: "POST",
        path: path`/workspaces/${await workspaceId(calls, ref)}/configuration-versions`,
        document: encodeConfigurationVersionInput(input),
      }),
    get: async (id) =>
      one(decodeConfigurationVersionView, { method: "GET", path: path`/configuration-versions/${id}` }),
    list: async (ref, request) =>
      page(
        decodeConfigurationVersionView,
        path`/workspaces/${await workspaceId(calls, ref)}/configuration-versions`,
        request,
      ),
    upload: async (id, archive) =>
      done({
        method: "PUT",
        path: path`/configuration-versions/${id}/upload`,
        octets: { mediaType: "application/octet-stream", body: archive },
      }),
    download: async (id) => download(path`/configuration-versions/${id}/download`),
    archive: async (id) => done({ method: "POST", path: path`/configuration-versions/${id}/actions/archive` }),
    softDeleteBackingData: async (id) =>
      done({ method: "POST", path: path`/configuration-versions/${id}/actions/soft_delete_backing_data` }),
    restoreBackingData: async (id) =>
      done({ method: "POST", path: path`/configuration-versions/${id}/actions/restore_backing_data` }),
    permanentlyDeleteBackingData: async (id) =>
      done({ method: "POST", path: path`/configuration-versions/${id}/actions/permanently_delete_backing_data` }),
    delete: async (id) => done({ method: "DELETE", path: path`/configuration-versions/${id}` }),
    ingressAttributes: async (id) =>
      one(decodeIngressAttributes, {
        method: "GET",
        path: path`/configuration-versions/${id}/ingress-attributes`,
      }),
    readme: async (ref) =>
      one(decodeReadme, { method: "GET", path: path`/workspaces/${await workspaceId(calls, ref)}/readme` }),
  }
}
