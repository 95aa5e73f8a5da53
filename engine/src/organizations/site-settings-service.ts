import type { Caller } from "../core/caller.ts"
import { notFound, refuseFaults } from "../core/errors.ts"
import type { Storage } from "../core/storage.ts"
import type { SettingsStore } from "./settings-store.ts"
import { type SiteSettings, type SiteSettingsFamily, siteSettingsFaults } from "./site-settings.ts"

interface UsedStores {
  readonly settings: SettingsStore
}

export class SiteSettingsService implements SiteSettingsFamily {
  readonly #storage: Storage<UsedStores>
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, caller: Caller) {
    this.#storage = storage
    this.#caller = caller
  }

  async get(): Promise<SiteSettings> {
    this.#requireSiteAdmin()
    return this.#storage.read(({ settings }) => settings.get())
  }

  async update(patch: Partial<SiteSettings>): Promise<SiteSettings> {
    this.#requireSiteAdmin()
    refuseFaults(siteSettingsFaults(patch))
    return this.#storage.transact(async ({ settings }) => {
      const after = { ...(await settings.get()), ...patch }
      await settings.save(after)
      return after
    })
  }

  #requireSiteAdmin(): void {
    if (this.#caller.kind !== "user" || !this.#caller.siteAdmin) throw notFound()
  }
}
