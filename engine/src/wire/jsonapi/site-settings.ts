import { z } from "zod"
import type { SiteSettings } from "../../organizations/site-settings.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource } from "./document.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"

export const encodeSiteSettings = (settings: SiteSettings): Resource => ({
  id: "general-settings",
  type: "general-settings",
  attributes: {
    "default-remote-state-access": settings.defaultGlobalRemoteState,
    "engine-releases": settings.engineReleases,
  },
})

const schema = z.object({
  attributes: z
    .object({
      "default-remote-state-access": z.boolean().optional(),
      "engine-releases": z.array(z.string()).optional(),
    })
    .prefault({}),
})

export function decodeSiteSettingsPatch(body: unknown): Partial<SiteSettings> {
  const { attributes } = decodeDocument(body, schema, { types: ["general-settings"] })
  return given({
    defaultGlobalRemoteState: attributes["default-remote-state-access"],
    engineReleases: attributes["engine-releases"],
  })
}

/** The other direction of `encodeSiteSettings`. */
export function decodeSiteSettings(resource: unknown): SiteSettings {
  const { attributes: own } = readResource(resource, "general-settings")
  return {
    defaultGlobalRemoteState: own.flag("defaultRemoteStateAccess"),
    engineReleases: own.texts("engineReleases"),
  }
}

export const encodeSiteSettingsPatch = ({
  defaultGlobalRemoteState,
  engineReleases,
}: Partial<SiteSettings>): RequestDocument =>
  encodeDocument(
    "general-settings",
    dashedMembers({ defaultRemoteStateAccess: defaultGlobalRemoteState, engineReleases }),
  )
