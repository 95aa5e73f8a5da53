import type { Fault } from "../core/errors.ts"

/** What administrators choose for the whole site. */
export interface SiteSettings {
  /** Default of `global-remote-state` for new workspaces, in the self-hosted edition. */
  readonly defaultGlobalRemoteState: boolean
  /** Releases of the infrastructure tool beyond those this program knows, as exact versions. */
  readonly engineReleases: readonly string[]
}

export function siteSettingsFaults({ engineReleases = [] }: Partial<SiteSettings>): Fault[] {
  if (engineReleases.length > releasesMaximum)
    return [{ field: ["engineReleases"], detail: `Engine releases are too many (maximum is ${releasesMaximum})` }]
  return engineReleases.flatMap((release, index) =>
    /^\d{1,5}\.\d{1,5}\.\d{1,5}$/.test(release)
      ? []
      : [{ field: ["engineReleases", index], detail: "Engine release must be an exact version" }],
  )
}

const releasesMaximum = 1_000

export const initialSiteSettings: SiteSettings = { defaultGlobalRemoteState: false, engineReleases: [] }

/** The site settings as the engine offers them, to site administrators. */
export interface SiteSettingsFamily {
  get(): Promise<SiteSettings>
  update(patch: Partial<SiteSettings>): Promise<SiteSettings>
}

/** Site-wide choices of the administrators. */
export interface SettingsRepository {
  get(): Promise<SiteSettings>
  save(settings: SiteSettings): Promise<void>
}
