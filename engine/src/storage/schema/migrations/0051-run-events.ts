// Events of runs. A run repeats the ids of its events, so that a list of runs needs no query for each run.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const runEventsMigration: Migration = {
  name: "0051-run-events",
  async up(session) {
    for (const text of statements(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const statements = ({ text, integer, keyed }: Words): string[] => [
  `alter table runs add column event_ids ${text}`,
  `create table run_events (
    id ${text} not null primary key,
    run_id ${text} not null references runs on delete cascade,
    number ${integer} not null,
    action ${text} not null,
    description ${text} not null,
    created_at ${integer} not null,
    actor_kind ${text},
    actor_id ${text},
    comment_id ${text}
  ) ${keyed}`,
  `create index run_events_by_run on run_events (run_id, number, id)`,
]
