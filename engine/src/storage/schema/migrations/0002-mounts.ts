// Mounts of certificate authorities. Everything of a mount refers to it and is deleted with it.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { words } from "./words.ts"

export const mountsMigration: Migration = {
  name: "0002-mounts",
  async up(session) {
    const { text, integer, keyed } = words[session.dialect]
    await session.execute(
      sql.raw(`create table mounts (
        id ${text} not null primary key,
        path ${text} not null unique,
        type ${text} not null,
        description ${text} not null,
        config ${text} not null,
        accessor ${text} not null unique,
        uuid ${text} not null unique,
        created_at ${integer} not null
      ) ${keyed}`),
    )
  },
}
