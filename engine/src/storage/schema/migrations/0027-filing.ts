// `filed_at` will be the partition key of certificates on PostgreSQL: their expiry, so that expired ones are dropped together. Existing
// rows, and those that servers of the previous release still insert, get 0. Adding a column with a constant default rewrites no row.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { words } from "./words.ts"

export const filingMigration: Migration = {
  name: "0027-filing",
  async up(session) {
    const { integer } = words[session.dialect]
    for (const table of ["certificates", "certificate_names"]) {
      await session.execute(sql.raw(`alter table ${table} add column filed_at ${integer} not null default 0`))
      if (session.dialect === "postgres")
        await session.execute(
          sql.raw(`alter table ${table} add constraint ${table}_unfiled check (filed_at < 1) not valid`),
        )
    }
  },
}
