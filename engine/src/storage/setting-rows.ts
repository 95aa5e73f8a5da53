import type { SettingsStore } from "../organizations/settings-store.ts"
import { initialSiteSettings, type SiteSettings } from "../organizations/site-settings.ts"
import { type Session, statement } from "./session.ts"

const siteSettings = "site"

export class SettingRows implements SettingsStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async get(): Promise<SiteSettings> {
    const row = await this.#session.first(byName, { name: siteSettings })
    return { ...initialSiteSettings, ...(row && (JSON.parse(row.value) as Partial<SiteSettings>)) }
  }

  async save(settings: SiteSettings): Promise<void> {
    await this.#session.run(save, { name: siteSettings, value: JSON.stringify(settings) })
  }
}

const byName = statement((db, { name }: { name: string }) =>
  db.selectFrom("settings").select("value").where("name", "=", name),
)
const save = statement((db, { name, value }: { name: string; value: string }) =>
  db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((taken) => taken.column("name").doUpdateSet({ value })),
)
