// Migrations are numbered, forward-only, and named in one static array. The caller holds the database exclusively: if two replicas start
// together, one applies the migrations and the other finds them applied.
// Servers of the previous release may run at the same time. Each migration then commits separately, so that its locks are released before
// the next one begins.
import { sql } from "kysely"
import type { QueryRunner } from "../sql/query-runner.ts"
import { UnusableStore } from "../sql/unusable-store.ts"

export interface Migration {
  readonly name: string
  up(session: QueryRunner): Promise<void>
}

/**
 * Applies the missing migrations and returns their names. On PostgreSQL, applies only the next one if the database has any already. Throws
 * `NewerDatabase` if the schema is newer than this code.
 */
export async function migrate(session: QueryRunner, migrations: readonly Migration[]): Promise<readonly string[]> {
  await session.execute(sql.raw(createTable[session.dialect]))
  const applied = await appliedMigrations(session)
  rejectNewer(applied, migrations)
  const isShared = session.dialect === "postgres" && applied.length > 0
  const next = migrations.slice(applied.length, isShared ? applied.length + 1 : undefined)
  for (const [index, migration] of next.entries()) {
    await migration.up(session)
    await session.execute(
      sql`insert into migrations (position, name) values (${applied.length + index + 1}, ${migration.name})`,
    )
  }
  return next.map(({ name }) => name)
}

export async function appliedMigrations(session: QueryRunner): Promise<readonly string[]> {
  const rows = await session.queryMany(sql<{ name: string }>`select name from migrations order by position`)
  return rows.map(({ name }) => name)
}

export function rejectNewer(applied: readonly string[], migrations: readonly Migration[]): void {
  const unknown = applied.find((name, index) => migrations[index]?.name !== name)
  if (unknown === undefined) return
  throw applied.includes(unfinishedCopy) ? new UnfinishedCopy() : new NewerDatabase(unknown)
}

/** Name of the migration that marks an unfinished copy. No release knows it, so no server uses the database. */
export const unfinishedCopy = "unfinished-copy"

class UnfinishedCopy extends UnusableStore {
  override readonly name = "UnfinishedCopy"

  constructor() {
    super("It is an unfinished copy. Run `chancery storage copy` with the same stores to continue it, or remove it.")
  }
}

export class NewerDatabase extends UnusableStore {
  override readonly name = "NewerDatabase"

  constructor(migration: string) {
    super(
      `The database was written by a newer release of Chancery (it has the migration "${migration}", ` +
        "which this release does not know). Start that release or a later one, or restore a backup.",
    )
  }
}

const createTable = {
  sqlite: "create table if not exists migrations (position integer not null primary key, name text not null) strict",
  postgres: "create table if not exists migrations (position bigint not null primary key, name text not null)",
} as const
