// Paths below `/.well-known/est` by the mount that serves them.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { words } from "./words.ts"

export const estLabelsMigration: Migration = {
  name: "0057-est-labels",
  async up(session) {
    const { text, plain } = words[session.dialect]
    await session.execute(
      sql.raw(`create table est_labels (
        label ${text} not null primary key,
        mount_id ${text} not null references mounts on delete cascade
      ) ${plain}`),
    )
    await session.execute(sql.raw("create index est_labels_by_mount on est_labels (mount_id)"))
  },
}
