import {
  decodeConfigurationVersion,
  encodeConfigurationVersion,
  encodeIngressAttributes,
  encodeReadme,
} from "../../wire/jsonapi/configuration-version.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { notFound } from "../../core/errors.ts"
import type { ConfigurationUploads, ConfigurationVersions } from "../../workspaces/configuration-versions.ts"
import { type ApiRequest, baseOf, created, noContent, ok, type OpenRoute, param, type Route } from "../route.ts"

const workspaceOf = (request: ApiRequest) => ({ id: param(request, "workspace_id") })
const idOf = (request: ApiRequest) => param(request, "configuration_version_id")

async function download({ engine }: ApiRequest, id: string) {
  const bytes = await engine.configurationVersions.download(id)
  return {
    status: 200,
    stream: piece(bytes),
    headers: { "content-type": "application/octet-stream", "cache-control": "no-store" },
  }
}

async function* piece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const backingDataRoute = (
  action: string,
  change: (versions: ConfigurationVersions, id: string) => Promise<void>,
): Route => ({
  method: "POST",
  path: `/configuration-versions/:configuration_version_id/actions/${action}`,
  handle: async (request) => {
    await change(request.engine.configurationVersions, idOf(request))
    return noContent
  },
})

export const configurationVersionRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/workspaces/:workspace_id/configuration-versions",
    handle: async (request) => {
      const input = decodeConfigurationVersion(await request.body())
      const version = await request.engine.configurationVersions.create(workspaceOf(request), input)
      return created({ data: encodeConfigurationVersion(version, baseOf(request)) })
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/configuration-versions",
    handle: async (request) => {
      const page = await request.engine.configurationVersions.list(workspaceOf(request), decodePage(request.query))
      return ok(encodePage(page, (version) => encodeConfigurationVersion(version, baseOf(request)), request.url))
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/readme",
    handle: async (request) =>
      ok({ data: encodeReadme(await request.engine.configurationVersions.readme(workspaceOf(request))) }),
  },
  {
    method: "GET",
    path: "/configuration-versions/:configuration_version_id",
    handle: async (request) =>
      ok({
        data: encodeConfigurationVersion(
          await request.engine.configurationVersions.get(idOf(request)),
          baseOf(request),
        ),
      }),
  },
  {
    method: "PUT",
    path: "/configuration-versions/:configuration_version_id/upload",
    handle: async (request) => {
      await request.engine.configurationVersions.upload(idOf(request), await request.bytes())
      return noContent
    },
  },
  {
    method: "GET",
    path: "/configuration-versions/:configuration_version_id/download",
    handle: async (request) => download(request, idOf(request)),
  },
  {
    method: "GET",
    path: "/runs/:run_id/configuration-version/download",
    handle: async (request) => {
      const { id, configurationVersionId } = await request.engine.runs.get(param(request, "run_id"))
      if (configurationVersionId === null) throw notFound(id)
      return download(request, configurationVersionId)
    },
  },
  {
    method: "GET",
    path: "/configuration-versions/:configuration_version_id/ingress-attributes",
    handle: async (request) =>
      ok({
        data: encodeIngressAttributes(await request.engine.configurationVersions.ingressAttributes(idOf(request))),
      }),
  },
  {
    method: "POST",
    path: "/configuration-versions/:configuration_version_id/actions/archive",
    handle: async (request) => {
      await request.engine.configurationVersions.archive(idOf(request))
      return { status: 202 }
    },
  },
  backingDataRoute("soft_delete_backing_data", (versions, id) => versions.softDeleteBackingData(id)),
  backingDataRoute("restore_backing_data", (versions, id) => versions.restoreBackingData(id)),
  backingDataRoute("permanently_delete_backing_data", (versions, id) => versions.permanentlyDeleteBackingData(id)),
  {
    method: "DELETE",
    path: "/configuration-versions/:configuration_version_id",
    handle: async (request) => {
      await request.engine.configurationVersions.delete(idOf(request))
      return noContent
    },
  },
]

/** The second step of creation: the address is the credential. */
export const configurationUploadRoutes = (uploads: ConfigurationUploads): readonly OpenRoute[] => [
  {
    method: "PUT",
    path: "/uploads/configuration-versions/:configuration_version_id",
    handle: async (request) => {
      const id = param(request, "configuration_version_id")
      await uploads.upload({ id, credential: request.query.get("credential") ?? "" }, () => request.bytes())
      return noContent
    },
  },
]
