import type { SiteSettings } from "./site-settings.ts"

/** Site-wide choices of the administrators. */
export interface SettingsRepository {
  get(): Promise<SiteSettings>
  save(settings: SiteSettings): Promise<void>
}
