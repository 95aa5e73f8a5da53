// Events in commit order (`repositories/events/event-repository.ts`).
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import type { DialectName } from "../../sql/query-runner.ts"
import { words } from "./words.ts"

export const eventsMigration: Migration = {
  name: "0020-events",
  async up(session) {
    for (const text of changes(session.dialect)) await session.execute(sql.raw(text))
  },
}

function changes(dialect: DialectName): string[] {
  const { text, integer, plain } = words[dialect]
  const [place, key] =
    dialect === "sqlite"
      ? [`number integer primary key, transaction_id integer not null default 0`, ""]
      : [
          `number bigint generated always as identity,
          transaction_id bigint not null default (pg_current_xact_id()::text::bigint)`,
          ", primary key (transaction_id, number)",
        ]
  return [
    // No foreign keys: an event outlives its subject. `workspace_id` is empty if the event concerns no workspace.
    `create table events (
      ${place},
      organization_id ${text} not null,
      workspace_id ${text} not null,
      kind ${text} not null,
      at ${integer} not null,
      details ${text} not null,
      tags ${text},
      readers ${text}${key}
    ) ${plain}`,
    `create index events_by_organization on events (organization_id${dialect === "sqlite" ? "" : ", transaction_id"}, number)`,
    // One row, written when events are first swept.
    `create table swept_events (
      id ${integer} not null primary key,
      transaction_id ${integer} not null,
      number ${integer} not null,
      at ${integer} not null
    ) ${plain}`,
  ]
}
