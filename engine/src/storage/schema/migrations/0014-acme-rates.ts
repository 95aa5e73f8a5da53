// Address from which each ACME account was created, for rate limits. Other limits count orders and authorizations themselves.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const acmeRatesMigration: Migration = {
  name: "0014-acme-rates",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, keyed }: Words): string[] => [
  "create index acme_authorizations_by_name on acme_authorizations (mount_id, type, value)",
  // `id` is that of the account; the row stays when the account is deleted.
  `create table acme_registrations (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    address ${text} not null,
    registered_at ${integer} not null
  ) ${keyed}`,
  "create index acme_registrations_by_address on acme_registrations (mount_id, address, registered_at)",
  "create index acme_registrations_by_time on acme_registrations (registered_at)",
]
