// What reading certificates back asks of them: by whether they are revoked, by role and expiry, and by what was kept with them
// in the order of their expiry. Certificates that are not revoked pay for one index as before.
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
  // With all that a count looks at.
  "create index certificates_revoked on certificates (mount_id, not_after, number, revoked_at) where revoked_at is not null",
  "drop index certificate_metadata_by_content",
  "create index certificate_metadata_by_content on certificate_metadata (mount_id, substr(metadata, 1, 64), expires_at, serial_number)",
  // What was counted last of each mount: a JSON text.
  `create table mount_statistics (
    mount_id ${text} not null primary key references mounts on delete cascade,
    counted_at ${integer} not null,
    counts ${text} not null
  ) ${keyed}`,
]
