// Inspection of a database while servers may be running. Nothing is written, created or migrated. Callers query tables only if
// `schemaStanding` reports the schema of this release.
import { existsSync } from "node:fs"
import { sql } from "kysely"
import type { Instant } from "../../core/time.ts"
import { type Database, openDatabase, type DatabaseOptions, sqliteFile } from "../sql/database.ts"
import { appliedMigrations } from "../schema/migrate.ts"
import { migrations } from "../schema/migrations/index.ts"
import { roleOf } from "../repositories/pki/role-repository.ts"
import type { QueryRunner } from "../sql/query-runner.ts"
import { openSqliteReader } from "../sqlite/sqlite.ts"
import { noStorageMetrics } from "../sql/storage-metrics.ts"

export type StoreReader = Pick<Database, "dialect" | "read"> & AsyncDisposable

/** Opens a database for reading. Returns undefined if the file of an embedded database does not exist. */
export async function openReader(
  url: string,
  options: Required<Pick<DatabaseOptions, "random" | "log">>,
): Promise<StoreReader | undefined> {
  const file = sqliteFile(url)
  if (file === undefined) return openDatabase(url, options)
  return existsSync(file)
    ? openSqliteReader(file, { ...options, stopwatch: () => performance.now(), metrics: noStorageMetrics })
    : undefined
}

export interface SchemaState {
  readonly appliedCount: number
  /** Migrations of this release that the next start will apply. */
  readonly missing: readonly string[]
  /** First applied migration that this release does not know. A start would fail. */
  readonly unknown: string | undefined
}

export async function schemaStateOf(session: QueryRunner): Promise<SchemaState> {
  const table =
    session.dialect === "sqlite"
      ? sql`select name from sqlite_master where type = 'table' and name = 'migrations'`
      : sql`select 1 as name where to_regclass('migrations') is not null`
  const applied = (await session.queryOne(table)) === undefined ? [] : await appliedMigrations(session)
  const known = migrations.map(({ name }) => name)
  return {
    appliedCount: applied.length,
    missing: known.slice(applied.length),
    unknown: applied.find((name, index) => known[index] !== name),
  }
}

/** Returns up to three problems that `quick_check` finds, in the words of SQLite. Reads the whole file. */
export async function brokenParts(session: QueryRunner): Promise<readonly string[]> {
  const rows = await session.queryMany(sql<{ quick_check: string }>`pragma quick_check(3)`)
  return rows.map((row) => row.quick_check).filter((text) => text !== "ok")
}

export interface ServerFacts {
  readonly version: string
  readonly now: Instant
  readonly standby: boolean
  readonly readOnly: boolean
  /** True if the role may create tables, which migrations need. */
  readonly mayCreate: boolean
  readonly hasTrigrams: boolean
  /** Maximum number of connections of this role: the lowest limit of server, database and role. */
  readonly maxConnection: number
  readonly connectionCount: number
  /** Settings under which an acknowledged write may be lost, as `name = value`. */
  readonly unsafeSettings: readonly string[]
}

/** Reads facts about a PostgreSQL server. */
export async function serverFacts(session: QueryRunner): Promise<ServerFacts> {
  const row = await session.queryOne(sql<{
    version: string
    now: number
    standby: boolean
    read_only: string
    may_create: boolean
    trigrams: boolean
    maximum: number
    role_maximum: number
    database_maximum: number
    count: number
    fsync: string | null
    synchronous_commit: string | null
  }>`
    select current_setting('server_version') as version,
      cast(extract(epoch from clock_timestamp()) * 1000 as double precision) as now,
      pg_is_in_recovery() as standby,
      current_setting('default_transaction_read_only') as read_only,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
      exists (select 1 from pg_extension where extname = 'pg_trgm') as trigrams,
      cast(current_setting('max_connections') as int) - cast(current_setting('superuser_reserved_connections') as int) as maximum,
      (select rolconnlimit from pg_roles where rolname = current_user) as role_maximum,
      (select datconnlimit from pg_database where datname = current_database()) as database_maximum,
      cast((select count(*) from pg_stat_activity where backend_type = 'client backend') as int) as count,
      current_setting('fsync', true) as fsync,
      current_setting('synchronous_commit', true) as synchronous_commit`)
  if (row === undefined) throw new Error("the database server returned no facts")
  // -1 is no limit.
  const maxima = [row.maximum, row.role_maximum, row.database_maximum].filter((maximum) => maximum >= 0)
  return {
    version: row.version,
    now: row.now,
    standby: row.standby,
    readOnly: row.read_only === "on",
    mayCreate: row.may_create,
    hasTrigrams: row.trigrams,
    maxConnection: Math.min(...maxima),
    connectionCount: row.count,
    unsafeSettings: (["fsync", "synchronous_commit"] as const)
      .filter((name) => row[name] === "off")
      .map((name) => `${name} = off`),
  }
}

export interface LeaseFacts {
  readonly name: string
  readonly holder: string
  /** 0 if no server holds the lease. */
  readonly expiresAt: Instant
  readonly doneAt: Instant | null
}

export async function leaseFacts(session: QueryRunner): Promise<readonly LeaseFacts[]> {
  const rows = await session.queryMany(
    session.db.selectFrom("leases").select(["name", "holder", "expires_at", "done_at"]),
  )
  return rows.map(({ name, holder, expires_at, done_at }) => ({ name, holder, expiresAt: expires_at, doneAt: done_at }))
}

/** Returns when the database was created, which is when its first user was. Returns 0 if there are no users. */
export async function storeMadeAt(session: QueryRunner): Promise<Instant> {
  const query = session.db.selectFrom("users").select((user) => user.fn.min("created_at").as("made_at"))
  return (await session.queryOne(query))?.made_at ?? 0
}

export interface WebhookFacts {
  readonly organization: string
  readonly name: string
  readonly disabledReason: string | null
  readonly failingSince: Instant | null
  readonly deadLetterCount: number
}

/** Returns the webhooks that are disabled, are failing or have dead letters. */
export async function troubledWebhooks(session: QueryRunner): Promise<readonly WebhookFacts[]> {
  const rows = await session.queryMany(
    session.db
      .selectFrom("webhooks as w")
      .innerJoin("organizations as o", "o.id", "w.organization_id")
      .select(["o.name as organization", "w.name as name", "w.disabled_reason", "w.failing_since"])
      .select((webhook) =>
        webhook
          .selectFrom("webhook_dead_letters as l")
          .select((letter) => letter.fn.countAll<number>().as("count"))
          .whereRef("l.webhook_id", "=", "w.id")
          .as("letter_count"),
      )
      .orderBy("o.name")
      .orderBy("w.name"),
  )
  return rows
    .map((row) => ({
      organization: row.organization,
      name: row.name,
      disabledReason: row.disabled_reason,
      failingSince: row.failing_since,
      deadLetterCount: row.letter_count ?? 0,
    }))
    .filter((each) => each.disabledReason !== null || each.failingSince !== null || each.deadLetterCount > 0)
}

export interface RoleFacts {
  readonly mount: string
  readonly name: string
}

export interface UnboundedRoles {
  /** Sorted by mount and name. */
  readonly roles: readonly RoleFacts[]
  /** Number of further roles. */
  readonly leftOut: number
}

/** A longer list would not be read. */
const maxRoles = 100

/** Returns the roles whose requests may name any end of validity. */
export async function unboundedRoles(session: QueryRunner): Promise<UnboundedRoles> {
  const rows = await session.queryMany(
    session.db
      .selectFrom("roles as r")
      .innerJoin("mounts as m", "m.id", "r.mount_id")
      .select(["m.path as mount", "r.name as name", "r.definition as definition"])
      .orderBy("m.path")
      .orderBy("r.name"),
  )
  const found = rows.filter(({ definition }) => roleOf(definition).notAfterBound === "permit")
  return {
    roles: found.slice(0, maxRoles).map(({ mount, name }) => ({ mount, name })),
    leftOut: Math.max(0, found.length - maxRoles),
  }
}

/** Returns the names of organizations that are older than the setting `remote-operations`, in which it was never made. */
export async function undecidedOrganizations(session: QueryRunner): Promise<readonly string[]> {
  const rows = await session.queryMany(
    session.db.selectFrom("organizations").select("name").where("remote_operations", "is", null).orderBy("name_folded"),
  )
  return rows.map(({ name }) => name)
}
