// By when a certificate ends is how PostgreSQL is to file it, so that what has ended goes at once. What is there, and what
// servers of the release before go on writing, is filed at 0: nothing is written anew, and a constant costs no row anything.
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
