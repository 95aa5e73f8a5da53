// Tidy runs, and leases that end with a token. One step of a run and its deletions are one transaction, so each mount has one row for its
// run. Queries for expired rows use an index in order of expiry.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const tidyMigration: Migration = {
  name: "0010-tidy",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, keyed }: Words): string[] => [
  `create table tidy_runs (
    mount_id ${text} not null primary key references mounts on delete cascade,
    number ${integer} not null,
    step ${integer} not null,
    state ${text} not null,
    run ${text} not null,
    automatic_finished_at ${integer}
  ) ${keyed}`,
  "drop index revocations_by_expiry",
  "create index revocations_by_expiry on revocations (mount_id, not_after, number)",
  "create index certificate_metadata_by_expiry on certificate_metadata (mount_id, expires_at)",
  // Deleting a token sets `token_id` to null, and its leases are then revoked. `ends_with_token` distinguishes them from leases that never
  // had a token.
  `alter table certificate_leases add column token_id ${text} references tokens on delete set null`,
  `alter table certificate_leases add column ends_with_token ${integer} not null default 0`,
  "create index certificate_leases_by_expiry on certificate_leases (expires_at)",
  "create index certificate_leases_by_token on certificate_leases (token_id) where token_id is not null",
  "create index tokens_end on tokens (expires_at) where expires_at is not null",
  "create index certificate_leases_ended on certificate_leases (id) where token_id is null and ends_with_token = 1",
]
