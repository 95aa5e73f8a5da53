import { siteSettingsContract } from "../../contracts/tfe/site-settings.ts"
import { implement } from "../implement.ts"

export const siteSettingsRoutes = implement(siteSettingsContract, {
  get: ({ engine }) => engine.siteSettings.get(),
  update: ({ engine }, patch) => engine.siteSettings.update(patch),
})
