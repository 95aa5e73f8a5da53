// Why a run waits for an executor, and when its log and its events recorded it.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { words } from "./words.ts"

export const waitingReasonsMigration: Migration = {
  name: "0053-waiting-reasons",
  async up(session) {
    const { integer, text } = words[session.dialect]
    await session.execute(sql.raw(`alter table runs add column waiting_reason ${text}`))
    await session.execute(sql.raw(`alter table runs add column wait_recorded_at ${integer}`))
  },
}
