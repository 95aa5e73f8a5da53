// Keys that no mount certifies: one list per server.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const blockedKeysMigration: Migration = {
  name: "0043-blocked-keys",
  async up(session) {
    await session.execute(sql.raw(change(words[session.dialect])))
  },
}

const change = ({ text, integer, blob, keyed }: Words): string =>
  `create table blocked_keys (
    digest ${text} not null primary key,
    source ${text} not null,
    mount ${text} not null,
    serial_number ${blob},
    comment ${text} not null,
    created_at ${integer} not null
  ) ${keyed}`
