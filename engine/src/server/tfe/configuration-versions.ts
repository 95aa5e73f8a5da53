import { configurationVersions, withUploadAddress } from "../../contracts/tfe/configuration-version.ts"
import { signedAddresses } from "../../contracts/tfe/open-address.ts"
import { notFound } from "../../core/errors.ts"
import { mapPage } from "../../core/page.ts"
import type { ConfigurationUploads } from "../../workspaces/configuration-versions/configuration-version-api.ts"
import { implement } from "./implement.ts"
import { addressOf, baseOf, noContent, type OpenRoute, param } from "./route.ts"

export const configurationVersionRoutes = implement(configurationVersions, {
  create: async (request, id, input) =>
    withUploadAddress(await request.engine.configurationVersions.create({ id }, input), baseOf(request)),
  list: async (request, id, page) =>
    mapPage(await request.engine.configurationVersions.list({ id }, page), (version) =>
      withUploadAddress(version, baseOf(request)),
    ),
  readme: ({ engine }, id) => engine.configurationVersions.readme({ id }),
  get: async (request, id) => withUploadAddress(await request.engine.configurationVersions.get(id), baseOf(request)),
  upload: ({ engine }, id, archive) => engine.configurationVersions.upload(id, archive),
  download: ({ engine }, id) => engine.configurationVersions.download(id),
  async downloadOfRun({ engine }, runId) {
    const { id, configurationVersionId } = await engine.runs.get(runId)
    if (configurationVersionId === null) throw notFound(id)
    return engine.configurationVersions.download(configurationVersionId)
  },
  ingressAttributes: ({ engine }, id) => engine.configurationVersions.ingressAttributes(id),
  archive: ({ engine }, id) => engine.configurationVersions.archive(id),
  softDeleteBackingData: ({ engine }, id) => engine.configurationVersions.softDeleteBackingData(id),
  restoreBackingData: ({ engine }, id) => engine.configurationVersions.restoreBackingData(id),
  permanentlyDeleteBackingData: ({ engine }, id) => engine.configurationVersions.permanentlyDeleteBackingData(id),
  delete: ({ engine }, id) => engine.configurationVersions.delete(id),
})

/** Second step of creation: the upload. The address is the credential. */
export const configurationUploadRoutes = (uploads: ConfigurationUploads): readonly OpenRoute[] => [
  {
    ...addressOf(signedAddresses.uploadConfiguration),
    handle: async (request) => {
      const id = param(request, "configuration_version_id")
      await uploads.upload({ id, credential: request.query.get("credential") ?? "" }, () => request.bytes())
      return noContent
    },
  },
]
