import { notFound } from "../../core/errors.ts"
import { attributePointers } from "../../wire/jsonapi/errors.ts"
import { decodeInclude } from "../../wire/jsonapi/include.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeRollback,
  decodeStateVersion,
  decodeStateVersionQuery,
  downloadPaths,
  encodeStateVersion,
  encodeStateVersionOutput,
} from "../../wire/jsonapi/state-version.ts"
import { decodeWorkspaceSubject } from "../../wire/jsonapi/workspace-subject.ts"
import { encodeWorkspaceResource } from "../../wire/jsonapi/workspace-resource.ts"
import { type StateDocument, stateDocuments, type StateVersionView } from "../../workspaces/state-version.ts"
import type { DocumentContent, StateTransfers, StateVersions } from "../../workspaces/state-versions.ts"
import type { WorkspaceRef } from "../../workspaces/workspace.ts"
import { besideStateVersions, stateVersionParts } from "../included.ts"
import {
  type ApiRequest,
  type ApiResponse,
  baseOf,
  created,
  noContent,
  ok,
  type OpenRoute,
  param,
  type Route,
} from "../route.ts"

const workspaceOf = (request: ApiRequest): WorkspaceRef => ({ id: param(request, "workspace_id") })
const stateVersionId = (request: ApiRequest) => param(request, "state_version_id")

const document = (request: ApiRequest, version: StateVersionView) => ({
  data: encodeStateVersion(version, baseOf(request)),
})

/** One version, with what `include` asks for; the parameter is read first, so that a wrong one costs nothing. */
async function show(request: ApiRequest, find: () => Promise<StateVersionView>) {
  const parts = decodeInclude(request.query, stateVersionParts)
  const version = await find()
  if (parts.size === 0) return ok(document(request, version))
  return ok({ ...document(request, version), included: await besideStateVersions(request.engine, [version], parts) })
}

async function list(request: ApiRequest, workspace: WorkspaceRef) {
  const parts = decodeInclude(request.query, stateVersionParts)
  const query = decodeStateVersionQuery(request.query)
  const page = await request.engine.stateVersions.list(workspace, query, decodePage(request.query))
  const included = parts.size === 0 ? undefined : await besideStateVersions(request.engine, page.items, parts)
  return ok(encodePage(page, (version) => encodeStateVersion(version, baseOf(request)), request.url, included))
}

/** Header that sets the interval of intermediate states during an apply (docs/compatibility.md, "State versions"). */
const snapshotHeaders = ({ snapshotIntervalSeconds: seconds }: ApiRequest): Readonly<Record<string, string>> =>
  seconds === 0 ? {} : { "x-terraform-snapshot-interval": String(seconds) }

const bytesOf = (download: DocumentContent): ApiResponse => ({
  status: 200,
  download,
  headers: {
    "content-type": "application/json",
    "cache-control": "no-store",
    ...(download.sizeBytes !== undefined && { "content-length": String(download.sizeBytes) }),
  },
})

const downloadRoute = (name: StateDocument): Route => ({
  method: "GET",
  path: `/state-versions/:state_version_id/${downloadPaths[name]}`,
  discloses: true,
  handle: async (request) => bytesOf(await request.engine.stateVersions.download(stateVersionId(request), name)),
})

function backingDataRoute(action: string, change: (stateVersions: StateVersions, id: string) => Promise<void>): Route {
  return {
    method: "POST",
    path: `/state-versions/:state_version_id/actions/${action}`,
    handle: async (request) => {
      await change(request.engine.stateVersions, stateVersionId(request))
      return noContent
    },
  }
}

export const stateVersionRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/workspaces/:workspace_id/state-versions",
    longStrings: true,
    pointers: attributePointers(["run"]),
    handle: async (request) => {
      const input = decodeStateVersion(await request.body())
      const version = await request.engine.stateVersions.create(workspaceOf(request), input)
      return { ...created(document(request, version)), headers: snapshotHeaders(request) }
    },
  },
  {
    method: "PATCH",
    path: "/workspaces/:workspace_id/state-versions",
    pointers: attributePointers(["rollbackStateVersion"]),
    handle: async (request) => {
      const target = decodeRollback(await request.body())
      const version = await request.engine.stateVersions.rollback(workspaceOf(request), target)
      return { ...created(document(request, version)), headers: snapshotHeaders(request) }
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/resources",
    handle: async (request) => {
      const page = await request.engine.stateVersions.resources(workspaceOf(request), decodePage(request.query))
      return ok(encodePage(page, encodeWorkspaceResource, request.url))
    },
  },
  backingDataRoute("soft_delete_backing_data", (stateVersions, id) => stateVersions.softDeleteBackingData(id)),
  backingDataRoute("restore_backing_data", (stateVersions, id) => stateVersions.restoreBackingData(id)),
  backingDataRoute("permanently_delete_backing_data", (stateVersions, id) =>
    stateVersions.permanentlyDeleteBackingData(id),
  ),
  {
    method: "GET",
    path: "/workspaces/:workspace_id/state-versions",
    handle: (request) => list(request, workspaceOf(request)),
  },
  {
    method: "GET",
    path: "/state-versions",
    handle: (request) => list(request, decodeWorkspaceSubject(request.query)),
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/current-state-version",
    handle: (request) => show(request, () => request.engine.stateVersions.current(workspaceOf(request))),
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/current-state-version-outputs",
    discloses: true,
    handle: async (request) => {
      const outputs = await request.engine.stateVersions.currentOutputs(workspaceOf(request))
      return ok({ data: outputs.map(encodeStateVersionOutput) })
    },
  },
  {
    method: "GET",
    path: "/state-versions/:state_version_id",
    handle: (request) => show(request, () => request.engine.stateVersions.get(stateVersionId(request))),
  },
  downloadRoute("state"),
  downloadRoute("json-state"),
  {
    method: "GET",
    path: "/state-versions/:state_version_id/outputs",
    discloses: true,
    handle: async (request) => {
      const page = await request.engine.stateVersions.outputs(stateVersionId(request), decodePage(request.query))
      return ok(encodePage(page, encodeStateVersionOutput, request.url))
    },
  },
  {
    method: "GET",
    path: "/state-version-outputs/:output_id",
    discloses: true,
    handle: async (request) =>
      ok({ data: encodeStateVersionOutput(await request.engine.stateVersions.output(param(request, "output_id"))) }),
  },
]

/** The second step of creation: the address is the credential. */
export const stateUploadRoutes = (transfers: StateTransfers): readonly OpenRoute[] => [
  {
    method: "PUT",
    path: "/uploads/state-versions/:state_version_id/:document",
    handle: async (request) => {
      const id = param(request, "state_version_id")
      const name = param(request, "document")
      if (!isStateDocument(name)) throw notFound(id)
      const sizeBytes = Number(request.headers.get("content-length") ?? 0)
      await transfers.upload({ id, document: name, credential: credentialOf(request) }, request.stream(), { sizeBytes })
      return noContent
    },
  },
]

/** What is answered to a download address alone; with a token beside it the route of the same path is asked. */
export const stateDownloadRoutes = (transfers: StateTransfers): readonly OpenRoute[] =>
  stateDocuments.map((document) => ({
    method: "GET",
    path: `/api/v2/state-versions/:state_version_id/${downloadPaths[document]}`,
    discloses: true,
    handle: async (request) => {
      const id = param(request, "state_version_id")
      return bytesOf(await transfers.download({ id, document, credential: credentialOf(request) }))
    },
  }))

const credentialOf = ({ query }: Pick<ApiRequest, "query">): string => query.get("credential") ?? ""

const isStateDocument = (name: string): name is StateDocument => (stateDocuments as readonly string[]).includes(name)
