import { z } from "zod"
import type { SiteSettings } from "../../organizations/site-settings.ts"
import { decodeDocument, type Resource } from "./document.ts"
import { given } from "./given.ts"

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
      "engine-releases": z
        .array(z.string().regex(/^\d{1,5}\.\d{1,5}\.\d{1,5}$/, "must be an exact version"))
        .max(1_000)
        .optional(),
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
