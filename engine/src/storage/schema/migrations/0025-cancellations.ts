// Time at which the executor of a run was requested to cancel it.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { words } from "./words.ts"

export const cancellationsMigration: Migration = {
  name: "0025-cancellations",
  async up(session) {
    const { integer } = words[session.dialect]
    await session.execute(sql.raw(`alter table runs add column cancel_requested_at ${integer}`))
  },
}
