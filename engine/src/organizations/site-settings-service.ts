import type { Caller } from "../core/caller.ts"
import { rejectFaults } from "../core/errors.ts"
import type { Storage } from "../core/storage.ts"
import { requireSiteAdmin } from "./authorization.ts"
import {
  type SettingsRepository,
  type SiteSettings,
  type SiteSettingsFamily,
  siteSettingsFaults,
} from "./site-settings.ts"

interface UsedRepositories {
  readonly settings: SettingsRepository
}

export class SiteSettingsService implements SiteSettingsFamily {
  readonly #storage: Storage<UsedRepositories>
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, caller: Caller) {
    this.#storage = storage
    this.#caller = caller
  }

  async get(): Promise<SiteSettings> {
    requireSiteAdmin(this.#caller)
    return this.#storage.read(({ settings }) => settings.get())
  }

  async update(patch: Partial<SiteSettings>): Promise<SiteSettings> {
    requireSiteAdmin(this.#caller)
    rejectFaults(siteSettingsFaults(patch))
    return this.#storage.transact(async ({ settings }) => {
      const after = { ...(await settings.get()), ...patch }
      await settings.save(after)
      return after
    })
  }
}
