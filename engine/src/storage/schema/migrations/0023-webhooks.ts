// Webhooks, their positions in the event feed, and undeliverable events.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const webhooksMigration: Migration = {
  name: "0023-webhooks",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, flag, blob, plain }: Words): string[] => [
  `create table webhooks (
    id ${text} not null primary key,
    organization_id ${text} not null references organizations on delete cascade,
    name ${text} not null,
    url ${text} not null,
    secret_sealed ${blob} not null,
    enabled ${flag} not null,
    disabled_reason ${text},
    filter ${text} not null,
    cursor_transaction ${integer} not null,
    cursor_number ${integer} not null,
    pending_transaction ${integer},
    pending_number ${integer},
    pending_attempts ${integer},
    pending_at ${integer},
    dead_in_a_row ${integer} not null,
    last_delivered_at ${integer},
    last_error ${text},
    failing_since ${integer},
    created_at ${integer} not null,
    unique (organization_id, name)
  ) ${plain}`,
  "create index webhooks_enabled on webhooks (id) where enabled = 1",
  `create table webhook_dead_letters (
    id ${text} not null primary key,
    webhook_id ${text} not null references webhooks on delete cascade,
    event_id ${text} not null,
    kind ${text} not null,
    document ${text} not null,
    attempts ${integer} not null,
    last_error ${text} not null,
    failed_at ${integer} not null,
    redelivering ${flag} not null
  ) ${plain}`,
  "create index webhook_dead_letters_of on webhook_dead_letters (webhook_id, failed_at)",
  "create index webhook_dead_letters_by_age on webhook_dead_letters (failed_at)",
  "create index webhook_dead_letters_redelivering on webhook_dead_letters (id) where redelivering = 1",
]
