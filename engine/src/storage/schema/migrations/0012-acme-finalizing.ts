// Orders whose certificates are being signed. The queue consists of the orders in state `processing`, which are claimed like challenges.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const acmeFinalizingMigration: Migration = {
  name: "0012-acme-finalizing",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer }: Words): string[] => [
  `alter table acme_orders add column error ${text}`,
  `alter table acme_orders add column attempts ${integer} not null default 0`,
  `alter table acme_orders add column attempt_at ${integer}`,
  "create index acme_orders_due on acme_orders (attempt_at) where attempt_at is not null",
]
