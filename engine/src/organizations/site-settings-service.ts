import type { Caller } from "../core/caller.ts"
import { notFound } from "../core/errors.ts"
import type { Storage } from "../core/storage.ts"
import type { SettingsStore } from "./settings-store.ts"
import type { SiteSettings, SiteSettingsFamily } from "./site-settings.ts"

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
