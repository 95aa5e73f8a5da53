// Indexes for queries of certificates by revocation, by role and expiry, and by metadata in order of expiry. Certificates that are not
// revoked still cost one index.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import { type Words, words } from "./words.ts"

export const readingMigration: Migration = {
  name: "0009-reading",
  async up(session) {
    for (const text of steps(words[session.dialect])) await session.execute(sql.raw(text))
  },
}

const steps = ({ text, integer, keyed }: Words): string[] => [
  `alter table certificates add column revoked_at ${integer}`,
  `update certificates set revoked_at = (select r.revoked_at from revocations as r
     where r.mount_id = certificates.mount_id and r.serial_number = certificates.serial_number)
   where exists (select 1 from revocations as r
     where r.mount_id = certificates.mount_id and r.serial_number = certificates.serial_number)`,
  "drop index certificates_by_role",
  "create index certificates_by_role on certificates (mount_id, role, not_after, number)",
  // Covers all columns that counting reads.
  "create index certificates_revoked on certificates (mount_id, not_after, number, revoked_at) where revoked_at is not null",
  "drop index certificate_metadata_by_content",
  "create index certificate_metadata_by_content on certificate_metadata (mount_id, substr(metadata, 1, 64), expires_at, serial_number)",
  // Last counts of each mount, JSON text.
  `create table mount_statistics (
    mount_id ${text} not null primary key references mounts on delete cascade,
    counted_at ${integer} not null,
    counts ${text} not null
  ) ${keyed}`,
]
