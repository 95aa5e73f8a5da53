import { sql } from "kysely"
import type { Migration } from "../migrate.ts"

export const leasesMigration: Migration = {
  name: "0005-leases",
  async up(session) {
    await session.execute(sql.raw(createTable[session.dialect]))
  },
}

const createTable = {
  sqlite: `create table leases (
    name text not null primary key,
    holder text not null,
    fence integer not null,
    expires_at integer not null,
    done_at integer
  ) strict, without rowid`,
  postgres: `create table leases (
    name text collate "C" not null primary key,
    holder text collate "C" not null,
    fence bigint not null,
    expires_at bigint not null,
    done_at bigint
  )`,
} as const
