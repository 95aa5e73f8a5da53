import {
  decodeConfigurationVersion,
  encodeConfigurationVersion,
  encodeIngressAttributes,
  encodeReadme,
} from "../../wire/jsonapi/configuration-version.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const workspaceOf = (request: ApiRequest) => ({ id: param(request, "workspace_id") })
const idOf = (request: ApiRequest) => param(request, "configuration_version_id")

export const configurationVersionRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/workspaces/:workspace_id/configuration-versions",
    handle: async (request) => {
      const input = decodeConfigurationVersion(await request.body())
      const version = await request.engine.configurationVersions.create(workspaceOf(request), input)
      return created({ data: encodeConfigurationVersion(version) })
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/configuration-versions",
    handle: async (request) => {
      const page = await request.engine.configurationVersions.list(workspaceOf(request), decodePage(request.query))
      return ok(encodePage(page, encodeConfigurationVersion, request.url))
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
      ok({ data: encodeConfigurationVersion(await request.engine.configurationVersions.get(idOf(request))) }),
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
  {
    method: "DELETE",
    path: "/configuration-versions/:configuration_version_id",
    handle: async (request) => {
      await request.engine.configurationVersions.delete(idOf(request))
      return noContent
    },
  },
]
