import { decodeSiteSettingsPatch, encodeSiteSettings } from "../../wire/jsonapi/site-settings.ts"
import { ok, type Route } from "../route.ts"

/** For site administrators. */
export const siteSettingsRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/admin/general-settings",
    handle: async ({ engine }) => ok({ data: encodeSiteSettings(await engine.siteSettings.get()) }),
  },
  {
    method: "PATCH",
    path: "/admin/general-settings",
    handle: async (request) => {
      const patch = decodeSiteSettingsPatch(await request.body())
      return ok({ data: encodeSiteSettings(await request.engine.siteSettings.update(patch)) })
    },
  },
]
