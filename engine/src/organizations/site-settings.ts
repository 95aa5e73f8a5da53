import type { Fault } from "../core/errors.ts"

/** Settings of the whole site, which site administrators write. */
export interface SiteSettings {
  /** Default of `global-remote-state` for new workspaces, in the self-hosted edition. */
  readonly defaultGlobalRemoteState: boolean
  /** Exact versions of Terraform releases, in addition to the built-in ones. */
  readonly engineReleases: readonly string[]
}

export function siteSettingsFaults({ engineReleases = [] }: Partial<SiteSettings>): Fault[] {
  if (engineReleases.length > maxReleases)
    return [{ field: ["engineReleases"], detail: `engine-releases has too many entries (maximum is ${maxReleases})` }]
  return engineReleases.flatMap((release, index) =>
    /^\d{1,5}\.\d{1,5}\.\d{1,5}$/.test(release)
      ? []
      : [{ field: ["engineReleases", index], detail: "engine-releases must contain exact versions" }],
  )
}

const maxReleases = 1_000

export const initialSiteSettings: SiteSettings = { defaultGlobalRemoteState: false, engineReleases: [] }

/** Operations on site settings, for site administrators. */
export interface SiteSettingsFamily {
  get(): Promise<SiteSettings>
  update(patch: Partial<SiteSettings>): Promise<SiteSettings>
}

export interface SettingsRepository {
  get(): Promise<SiteSettings>
  save(settings: SiteSettings): Promise<void>
}
