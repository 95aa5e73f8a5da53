import { notFound } from "../../core/errors.ts"
import { attributePointers } from "../../wire/jsonapi/errors.ts"
import { decodeInclude } from "../../wire/jsonapi/include.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeStateVersion,
  decodeStateVersionQuery,
  decodeStateVersionSubject,
  encodeStateVersion,
  encodeStateVersionOutput,
} from "../../wire/jsonapi/state-version.ts"
import { type StateDocument, stateDocuments, type StateVersionView } from "../../workspaces/state-version.ts"
import type { StateUploads } from "../../workspaces/state-versions.ts"
import type { WorkspaceRef } from "../../workspaces/workspace.ts"
import { besideStateVersions, stateVersionParts } from "../included.ts"
import { type ApiRequest, baseOf, created, noContent, ok, type OpenRoute, param, type Route } from "../route.ts"

/** Asks the tool to save its state this often during a long apply (workspace-facts 1.9). */
const snapshotIntervalSeconds = 60

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

async function download(request: ApiRequest, name: StateDocument) {
  const bytes = await request.engine.stateVersions.download(stateVersionId(request), name)
  return { status: 200, bytes, headers: { "content-type": "application/json", "cache-control": "no-store" } }
}

export const stateVersionRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/workspaces/:workspace_id/state-versions",
    pointers: attributePointers(["run"]),
    handle: async (request) => {
      const input = decodeStateVersion(await request.body())
      const version = await request.engine.stateVersions.create(workspaceOf(request), input)
      return {
        ...created(document(request, version)),
        headers: { "x-terraform-snapshot-interval": String(snapshotIntervalSeconds) },
      }
    },
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/state-versions",
    handle: (request) => list(request, workspaceOf(request)),
  },
  {
    method: "GET",
    path: "/state-versions",
    handle: (request) => list(request, decodeStateVersionSubject(request.query)),
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/current-state-version",
    handle: (request) => show(request, () => request.engine.stateVersions.current(workspaceOf(request))),
  },
  {
    method: "GET",
    path: "/workspaces/:workspace_id/current-state-version-outputs",
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
  {
    method: "GET",
    path: "/state-versions/:state_version_id/download",
    handle: (request) => download(request, "state"),
  },
  {
    method: "GET",
    path: "/state-versions/:state_version_id/json-download",
    handle: (request) => download(request, "json-state"),
  },
  {
    method: "GET",
    path: "/state-versions/:state_version_id/outputs",
    handle: async (request) => {
      const page = await request.engine.stateVersions.outputs(stateVersionId(request), decodePage(request.query))
      return ok(encodePage(page, encodeStateVersionOutput, request.url))
    },
  },
  {
    method: "GET",
    path: "/state-version-outputs/:output_id",
    handle: async (request) =>
      ok({ data: encodeStateVersionOutput(await request.engine.stateVersions.output(param(request, "output_id"))) }),
  },
]

/** The second step of creation: the address is the credential. */
export const stateUploadRoutes = (uploads: StateUploads): readonly OpenRoute[] => [
  {
    method: "PUT",
    path: "/uploads/state-versions/:state_version_id/:document",
    handle: async (request) => {
      const id = param(request, "state_version_id")
      const name = param(request, "document")
      if (!isStateDocument(name)) throw notFound(id)
      const credential = request.query.get("credential") ?? ""
      await uploads.upload({ id, document: name, credential }, () => request.bytes())
      return noContent
    },
  },
]

const isStateDocument = (name: string): name is StateDocument => (stateDocuments as readonly string[]).includes(name)
