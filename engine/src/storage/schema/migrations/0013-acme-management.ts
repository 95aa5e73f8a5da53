// Certificates that administrators want renewed early, and indexes to list accounts and orders by id.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const acmeManagementMigration: Migration = {
  name: "0013-acme-management",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, blob, keyed }: Words): string[] => [
  "create index acme_accounts_by_mount on acme_accounts (mount_id, id)",
  "create index acme_orders_by_mount on acme_orders (mount_id, id)",
  `create table acme_renewal_signals (
    id ${text} not null primary key,
    mount_id ${text} not null references mounts on delete cascade,
    issuer_id ${text} references issuers on delete cascade,
    explanation_url ${text},
    raised_at ${integer} not null,
    renew_by ${integer} not null
  ) ${keyed}`,
  "create index acme_renewal_signals_by_mount on acme_renewal_signals (mount_id, issuer_id, raised_at)",
  "create index acme_renewal_signals_by_issuer on acme_renewal_signals (issuer_id) where issuer_id is not null",
  `create table acme_renewal_serial_numbers (
    mount_id ${text} not null references mounts on delete cascade,
    serial_number ${blob} not null,
    signal_id ${text} not null references acme_renewal_signals on delete cascade,
    primary key (mount_id, serial_number, signal_id)
  ) ${keyed}`,
  "create index acme_renewal_serial_numbers_by_signal on acme_renewal_serial_numbers (signal_id)",
]
