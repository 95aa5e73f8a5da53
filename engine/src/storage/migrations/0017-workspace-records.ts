// State that a workspace shares with its project.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const workspaceRecordsMigration: Migration = {
  name: "0017-workspace-records",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.run(sql.raw(text))
  },
}

const changes = ({ flag }: Words): string[] => [
  `alter table workspaces add column project_remote_state ${flag} not null default 0`,
]
