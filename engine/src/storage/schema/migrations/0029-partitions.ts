// On PostgreSQL certificates and their names are partitioned by `filed_at`. The existing table, with its rows and indexes, becomes the
// partition of `filed_at` 0. Rows without another partition go to the default one. The others are created and dropped over time
// (`partitions/certificate-partitions.ts`).
// Each partition has its own indexes. The parent has none: a unique one would have to begin with `filed_at` and would serve no query.
import { sql } from "kysely"
import type { Migration } from "../migrate.ts"
import type { QueryRunner } from "../../sql/query-runner.ts"

export const partitionsMigration: Migration = {
  name: "0029-partitions",
  async up(session) {
    if (session.dialect === "sqlite") return
    const run = (text: string) => session.execute(sql.raw(text))
    await run("lock table certificates, certificate_names in access exclusive mode")
    const next = await nextNumber(session)
    await run("drop trigger certificates_take_their_names on certificates")
    await run("alter table certificates alter column number drop identity")
    for (const table of ["certificates", "certificate_names"]) {
      await run(`alter table ${table} rename to ${table}_unfiled`)
      await run(`create table ${table} (like ${table}_unfiled including defaults including storage)
        partition by range (filed_at)`)
      if (table === "certificates") {
        await run(`alter table certificates alter column number add generated always as identity (start with ${next})`)
        await run("alter table certificates add foreign key (mount_id) references mounts on delete cascade")
      }
      await run(`alter table ${table} attach partition ${table}_unfiled for values from (minvalue) to (1)`)
      await run(`alter table ${table}_unfiled drop constraint ${table}_unfiled`)
      await run(
        `create table ${table}_default (like ${table}_unfiled including defaults including indexes including storage)`,
      )
      // Index for the search of rows to move into a new partition.
      await run(`create index ${table}_default_places on ${table}_default (filed_at)`)
      await run(`alter table ${table} attach partition ${table}_default default`)
    }
    for (const text of trigger) await run(text)
  },
}

async function nextNumber(session: QueryRunner): Promise<number> {
  const row = await session.queryOne(
    sql<{ sequence: string }>`select pg_get_serial_sequence('certificates', 'number') as sequence`,
  )
  const drawn = await session.queryOne<{ next: number }>(
    sql.raw(`select case when is_called then last_value + 1 else last_value end as next from ${row?.sequence ?? ""}`),
  )
  if (drawn === undefined) throw new Error("certificates have no numbers")
  return drawn.next
}

/** Defined on the parent only. Deleting a certificate from a partition deletes its names, and moving it between partitions does not. */
const trigger: readonly string[] = [
  `create or replace function remove_names_of_certificates() returns trigger language plpgsql as $$
    begin
      delete from certificate_names as n using gone
        where n.certificate_number = gone.number and n.filed_at = gone.filed_at;
      return null;
    end $$`,
  `create trigger certificates_take_their_names after delete on certificates
    referencing old table as gone for each statement execute function remove_names_of_certificates()`,
]
