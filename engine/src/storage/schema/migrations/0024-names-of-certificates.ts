// On PostgreSQL the names of a certificate go with it by a trigger. As a foreign key, every insert of a name looks its certificate
// up in the index of numbers, at the end of which every other certificate is being added: to a serializable transaction that is a
// dependency, so that of certificates that are stored at the same time one after the other would be stored again.
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
