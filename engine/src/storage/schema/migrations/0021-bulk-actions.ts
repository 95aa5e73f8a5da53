// Bulk actions that a client can resume with an idempotency key: their workspaces and results.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const bulkActionsMigration: Migration = {
  name: "0021-bulk-actions",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, keyed, plain }: Words): string[] => [
  `create table bulk_actions (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    by_kind ${text} not null,
    by_id ${text} not null,
    idempotency_key ${text} not null,
    request ${text} not null,
    total_count ${integer} not null,
    created_at ${integer} not null,
    expires_at ${integer} not null,
    unique (organization_id, by_kind, by_id, idempotency_key)
  ) ${plain}`,
  "create index bulk_actions_end on bulk_actions (expires_at)",
  // JSON. `results` is null until the part is done.
  `create table bulk_action_parts (
    bulk_action_id ${text} not null references bulk_actions on delete cascade,
    position ${integer} not null,
    workspace_ids ${text} not null,
    results ${text},
    primary key (bulk_action_id, position)
  ) ${keyed}`,
]
