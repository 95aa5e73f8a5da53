import { signedAddresses } from "../../contracts/tfe/open-address.ts"
import { type stateVersionParts, stateVersions, withDocumentAddresses } from "../../contracts/tfe/state-version.ts"
import { notFound } from "../../core/errors.ts"
import { mapPage, type Page } from "../../core/page.ts"
import { type StateDocument, stateDocuments, type StateVersionView } from "../../workspaces/state/state-version.ts"
import type { StateTransfers } from "../../workspaces/state/state-version-api.ts"
import type { StateVersionQuery } from "../../workspaces/state/state-version-repository.ts"
import { besideStateVersions } from "./included.ts"
import { bytesAnswer, implement } from "./implement.ts"
import { addressOf, type ApiRequest, baseOf, noContent, type OpenRoute, param } from "./route.ts"

type Include = readonly (typeof stateVersionParts)[number][] | undefined
interface ListQuery {
  readonly statuses?: readonly unknown[]
  readonly include?: Include
}

const shown = (request: ApiRequest, version: StateVersionView) => withDocumentAddresses(version, baseOf(request))

const includedIn = async ({ engine }: ApiRequest, versions: readonly StateVersionView[], include: Include) =>
  include === undefined ? {} : { included: await besideStateVersions(engine, versions, new Set(include)) }

const one = async (request: ApiRequest, version: StateVersionView, include: Include) => ({
  data: shown(request, version),
  ...(await includedIn(request, [version], include)),
})
const several = async (request: ApiRequest, page: Page<StateVersionView>, include: Include) => ({
  ...mapPage(page, (version) => shown(request, version)),
  ...(await includedIn(request, page.items, include)),
})
const queryOf = ({ statuses }: ListQuery) => ({ ...(statuses && { statuses }) }) as StateVersionQuery

export const stateVersionRoutes = implement(stateVersions, {
  create: async (request, id, input) => shown(request, await request.engine.stateVersions.create({ id }, input)),
  rollback: async (request, id, { rollbackStateVersion }) =>
    shown(request, await request.engine.stateVersions.rollback({ id }, rollbackStateVersion)),
  resources: ({ engine }, id, page) => engine.stateVersions.resources({ id }, page),
  softDeleteBackingData: ({ engine }, id) => engine.stateVersions.softDeleteBackingData(id),
  restoreBackingData: ({ engine }, id) => engine.stateVersions.restoreBackingData(id),
  permanentlyDeleteBackingData: ({ engine }, id) => engine.stateVersions.permanentlyDeleteBackingData(id),
  list: async (request, id, query, page) =>
    several(request, await request.engine.stateVersions.list({ id }, queryOf(query), page), query.include),
  listOfNamed: async (request, { organization, name, ...query }, page) =>
    several(
      request,
      await request.engine.stateVersions.list({ organization, name }, queryOf(query), page),
      query.include,
    ),
  current: async (request, id, { include }) =>
    one(request, await request.engine.stateVersions.current({ id }), include),
  currentOutputs: ({ engine }, id) => engine.stateVersions.currentOutputs({ id }),
  get: async (request, id, { include }) => one(request, await request.engine.stateVersions.get(id), include),
  downloadState: ({ engine }, id) => engine.stateVersions.download(id, "state"),
  downloadJsonState: ({ engine }, id) => engine.stateVersions.download(id, "json-state"),
  outputs: ({ engine }, id, page) => engine.stateVersions.outputs(id, page),
  output: ({ engine }, id) => engine.stateVersions.output(id),
})

/** Second step of creation: the upload. The address is the credential. */
export const stateUploadRoutes = (transfers: StateTransfers): readonly OpenRoute[] => [
  {
    ...addressOf(signedAddresses.uploadState),
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

/** Serves downloads by credential. A request with a token uses the route of the same path in `stateVersionRoutes`. */
export const stateDownloadRoutes = (transfers: StateTransfers): readonly OpenRoute[] =>
  stateDocuments.map((document) => ({
    method: "GET",
    path: `/api/v2${stateVersions[document === "state" ? "downloadState" : "downloadJsonState"].path}`,
    discloses: true,
    handle: async (request) => {
      const id = param(request, "state_version_id")
      const content = await transfers.download({ id, document, credential: credentialOf(request) })
      return bytesAnswer(content, { mediaType: "application/json" })
    },
  }))

const credentialOf = ({ query }: Pick<ApiRequest, "query">): string => query.get("credential") ?? ""

const isStateDocument = (name: string): name is StateDocument => (stateDocuments as readonly string[]).includes(name)
