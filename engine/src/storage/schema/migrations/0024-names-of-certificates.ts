// On PostgreSQL a trigger deletes the names of a certificate, instead of a cascading foreign key. With the foreign key, every insert of a
// name reads the end of the index of certificate numbers, where all other certificates are inserted. A serializable transaction treats that
// read as a dependency, so that concurrent inserts would be retried one after another.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"

export const namesOfCertificatesMigration: Migration = {
  name: "0024-names-of-certificates",
  async up(session) {
    if (session.dialect === "sqlite") return
    for (const text of changes) await session.execute(sql.raw(text))
  },
}

const changes: readonly string[] = [
  `create function remove_names_of_certificates() returns trigger language plpgsql as $$
    begin
      delete from certificate_names as n using gone where n.certificate_number = gone.number;
      return null;
    end $$`,
  `create trigger certificates_take_their_names after delete on certificates
    referencing old table as gone for each statement execute function remove_names_of_certificates()`,
  "alter table certificate_names drop constraint certificate_names_certificate_number_fkey",
]
