import type { SettingsRepository } from "../organizations/settings-store.ts"
import { initialSiteSettings, type SiteSettings } from "../organizations/site-settings.ts"
import { type QueryRunner, statement } from "./session.ts"

const siteSettings = "site"

export class SqlSettingRepository implements SettingsRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async get(): Promise<SiteSettings> {
    const row = await this.#session.queryOne(settingsByName, { name: siteSettings })
    return { ...initialSiteSettings, ...(row && (JSON.parse(row.value) as Partial<SiteSettings>)) }
  }

  async save(settings: SiteSettings): Promise<void> {
    await this.#session.execute(save, { name: siteSettings, value: JSON.stringify(settings) })
  }
}

const settingsByName = statement((db, { name }: { name: string }) =>
  db.selectFrom("settings").select("value").where("name", "=", name),
)
const save = statement((db, { name, value }: { name: string; value: string }) =>
  db
    .insertInto("settings")
    .values({ name, value })
    .onConflict((taken) => taken.column("name").doUpdateSet({ value })),
)
