// Owners of tags and tag bindings.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const tagOwnersMigration: Migration = {
  name: "0018-tag-owners",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text }: Words): string[] => [
  `alter table workspace_bindings add column owners ${text}`,
  `alter table project_bindings add column owners ${text}`,
]
