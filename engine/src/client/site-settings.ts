import type { SiteSettingsFamily } from "../organizations/site-settings.ts"
import { decodeSiteSettings, encodeSiteSettingsPatch } from "../wire/jsonapi/site-settings.ts"
import type { Calls } from "./calls.ts"

const path = "/admin/general-settings"

export const remoteSiteSettings = ({ one }: Calls): SiteSettingsFamily => ({
  get: () => one(decodeSiteSettings, { method: "GET", path }),
  update: (patch) => one(decodeSiteSettings, { method: "PATCH", path, document: encodeSiteSettingsPatch(patch) }),
})
