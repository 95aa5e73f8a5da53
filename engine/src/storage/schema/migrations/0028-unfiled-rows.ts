// Scans all certificates once while servers are live, so that no query waits when they become the first partition.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"

export const unfiledRowsMigration: Migration = {
  name: "0028-unfiled-rows",
  async up(session) {
    if (session.dialect === "sqlite") return
    for (const table of ["certificates", "certificate_names"])
      await session.execute(sql.raw(`alter table ${table} validate constraint ${table}_unfiled`))
  },
}
