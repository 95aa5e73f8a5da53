// Certificates whose orders were deleted before they expired, with the accounts that ordered them. An account may revoke and replace what
// it ordered even after the order is deleted (RFC 8555, section 7.6; RFC 9773, section 5).
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const acmeCertificatesMigration: Migration = {
  name: "0045-acme-certificates",
  async up(session) {
    for (const text of changes(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const changes = ({ text, integer, blob, keyed }: Words): string[] => [
  `create table acme_certificates (
    mount_id ${text} not null references mounts on delete cascade,
    serial_number ${blob} not null,
    account_id ${text} not null references acme_accounts on delete cascade,
    expires_at ${integer} not null,
    primary key (mount_id, serial_number)
  ) ${keyed}`,
  "create index acme_certificates_by_account on acme_certificates (account_id)",
  "create index acme_certificates_by_expiry on acme_certificates (mount_id, expires_at)",
]
