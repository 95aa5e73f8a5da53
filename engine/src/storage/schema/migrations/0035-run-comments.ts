// Comments on runs, and the state version that a run planned from. A run repeats the ids of its comments, so that a list of runs needs no
// query for each run.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const runCommentsMigration: Migration = {
  name: "0035-run-comments",
  async up(session) {
    for (const text of statements(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const statements = ({ text, integer, keyed }: Words): string[] => [
  `alter table runs add column input_state_version_id ${text}`,
  `alter table runs add column comment_ids ${text}`,
  `create table run_comments (
    id ${text} not null primary key,
    run_id ${text} not null references runs on delete cascade,
    body ${text} not null,
    created_at ${integer} not null,
    created_by_kind ${text},
    created_by_id ${text}
  ) ${keyed}`,
  `create index run_comments_by_run on run_comments (run_id, created_at, id)`,
]
