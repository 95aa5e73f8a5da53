// Locks that expire.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const lockEndsMigration: Migration = {
  name: "0019-lock-ends",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ integer }: Words): string[] => [
  `alter table workspaces add column lock_ends_at ${integer}`,
  `alter table workspaces add column lock_ttl_ms ${integer}`,
  "create index workspaces_lock_end on workspaces (lock_ends_at) where lock_ends_at is not null",
]
