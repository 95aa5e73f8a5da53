// Partitions of certificates on PostgreSQL (docs/scale.md). Each range consists of two tables, for certificates and for their names. Each
// table is created or dropped in a transaction of its own. This prevents deadlocks with sessions that hold one table and wait for the
// other. A range exists once its table of certificates does, so an interrupted operation is repeated.
import { sql } from "kysely"
import type { FilingCursor, FilingRange, FilingRanges } from "../../pki/issuance/certificate-partitions.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { Database } from "../sql/database.ts"
import type { QueryRunner } from "../sql/query-runner.ts"

const tables = ["certificate_names", "certificates"] as const
type PartitionedTable = (typeof tables)[number]

const columns: Readonly<Record<PartitionedTable, string>> = {
  certificates:
    "number, mount_id, serial_number, certificate, issuer_id, role, common_name, not_before, not_after, revoked_at, filed_at",
  certificate_names: "mount_id, name, certificate_number, filed_at",
}

/** Maximum number of rows moved while all queries wait: one or two seconds in a large table. */
const maxMoved: Readonly<Record<PartitionedTable, number>> = { certificates: 20_000, certificate_names: 100_000 }

export function filingRangesOver(database: Pick<Database, "dialect" | "read" | "transact" | "alter">): FilingRanges {
  return {
    list: async () =>
      database.dialect === "sqlite" ? undefined : database.read((session) => rangesOf(session, "certificates")),

    async make(range, signal) {
      for (const table of tables)
        while (!(await database.alter((session) => make(session, table, range)))) await unfile(database, range, signal)
    },

    clearBefore: (instant, signal) => unfile(database, { from: 1, to: instant }, signal),

    mountsIn: (range) => database.read((session) => mountsIn(session, range)),

    count: (range, mountId, limit, after = beforeAll) =>
      database.read(async (session) => {
        const within = sql`from ${partition("certificates", range)} where mount_id = ${mountId}
          and (not_after, number) > (${after.notAfter}, ${after.number})`
        const last = await session.queryOne(
          sql<{ not_after: number; number: number }>`select not_after, number ${within}
            order by not_after, number limit 1 offset ${limit - 1}`,
        )
        if (last !== undefined) return { count: limit, next: { notAfter: last.not_after, number: last.number } }
        const rest = await session.queryOne(sql<{ count: number }>`select count(*) as count ${within}`)
        return { count: rest?.count ?? 0, next: undefined }
      }),

    removeMetadata: (range, mountId, { from, limit }) =>
      database.transact(async (session) => {
        const rows = await session.queryMany(sql<{ expires_at: number }>`
          delete from certificate_metadata where (mount_id, serial_number) in (
            select d.mount_id, d.serial_number from certificate_metadata as d
            where d.mount_id = ${mountId} and d.expires_at >= ${from} and d.expires_at < ${range.to}
              and exists (select 1 from ${partition("certificates", range)} as c
                where c.mount_id = d.mount_id and c.serial_number = d.serial_number)
            order by d.expires_at limit ${limit}
          ) returning expires_at`)
        const last = rows.length === 0 ? undefined : Math.max(...rows.map(({ expires_at }) => expires_at))
        return { count: rows.length, last }
      }),

    async drop(range, mountIds) {
      for (const table of tables) {
        const isDropped = await database.alter(async (session) => {
          // Locks the parent table first, as every writer of a partition does.
          await session.execute(sql`lock table only ${sql.table(table)} in access exclusive mode`)
          if (!(await isThere(session, table, range))) return table === "certificate_names"
          const present = await mountsIn(session, range)
          if (!present.every((id) => mountIds.includes(id))) return false
          await session.execute(sql`drop table ${partition(table, range)}`)
          return true
        })
        if (!isDropped) return false
      }
      return true
    },
  }
}

const beforeAll: FilingCursor = { notAfter: Number.MIN_SAFE_INTEGER, number: 0 }

const partition = (table: PartitionedTable, range: FilingRange) => sql.table(partitionName(table, range))

const partitionName = (table: PartitionedTable, { from }: FilingRange): string =>
  `${table}_${new Date(from).toISOString().slice(0, 10).replaceAll("-", "_")}`

/** Returns undefined if the table is not partitioned yet. */
async function rangesOf(session: QueryRunner, table: PartitionedTable): Promise<readonly FilingRange[] | undefined> {
  const parents = await session.queryMany(
    sql`select 1 from pg_partitioned_table where partrelid = to_regclass(${table})`,
  )
  if (parents.length === 0) return undefined
  const rows = await session.queryMany(sql<{ bounds: string }>`
    select pg_get_expr(c.relpartbound, c.oid) as bounds from pg_inherits as i join pg_class as c on c.oid = i.inhrelid
    where i.inhparent = to_regclass(${table})`)
  return rows
    .flatMap(({ bounds }) => {
      const [, from, to] = /^FOR VALUES FROM \('?(\d+)'?\) TO \('?(\d+)'?\)$/.exec(bounds) ?? []
      return from === undefined || to === undefined ? [] : [{ from: Number(from), to: Number(to) }]
    })
    .toSorted((one, other) => one.from - other.from)
}

async function isThere(session: QueryRunner, table: PartitionedTable, { from }: FilingRange): Promise<boolean> {
  return ((await rangesOf(session, table)) ?? []).some((one) => one.from === from)
}

const unfiledPerWrite = 500

/** Moves rows of a range from the default partition to the unfiled one (`filed_at` 0), in small batches while servers are live. */
async function unfile(
  database: Pick<Database, "transact">,
  { from, to }: FilingRange,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const count = await database.transact(async (session) => {
      const rows = await session.queryMany(sql<{ number: number }>`
        update certificates set filed_at = 0 where filed_at >= ${from} and filed_at < ${to} and number in (
          select number from certificates_default where filed_at >= ${from} and filed_at < ${to}
          order by filed_at limit ${unfiledPerWrite})
        returning number`)
      const numbers = rows.map(({ number }) => number)
      await session.execute(sql`update certificate_names set filed_at = 0
        where certificate_number = any(${sql.val(numbers)}::bigint[]) and filed_at >= ${from} and filed_at < ${to}`)
      return rows.length
    })
    if (count < unfiledPerWrite) return
  }
}

/** Creates the partition of a range and moves its rows there. Returns false if too many rows would have to be moved. */
async function make(session: QueryRunner, table: PartitionedTable, range: FilingRange): Promise<boolean> {
  if (await isThere(session, table, range)) return true
  const [whole, made] = [sql.table(table), partition(table, range)]
  const [unfiled, others] = [sql.table(`${table}_unfiled`), sql.table(`${table}_default`)]
  await session.execute(
    sql`create table ${made} (like ${unfiled} including defaults including indexes including storage)`,
  )
  // Concurrent inserts wait here and then find the new partition.
  await session.execute(sql`lock table ${others} in access exclusive mode`)
  const place = sql`filed_at >= ${range.from} and filed_at < ${range.to}`
  const most = maxMoved[table]
  const found = await session.queryOne(
    sql<{
      count: number
    }>`select count(*) as count from (select 1 from ${others} where ${place} limit ${most + 1}) as f`,
  )
  if ((found?.count ?? 0) > most) {
    await session.execute(sql`drop table ${made}`)
    return false
  }
  await session.execute(sql`with moved as (delete from ${others} where ${place} returning ${sql.raw(columns[table])})
    insert into ${made} (${sql.raw(columns[table])}) select ${sql.raw(columns[table])} from moved`)
  await session.execute(
    sql`alter table ${whole} attach partition ${made}
      for values from (${sql.lit(range.from)}) to (${sql.lit(range.to)})`,
  )
  return true
}

// Queries the parent table, because another server may drop the partition concurrently.
async function mountsIn(session: QueryRunner, { from, to }: FilingRange): Promise<readonly MountId[]> {
  const rows = await session.queryMany(sql<{ id: string }>`select m.id from mounts as m cross join lateral (
    select 1 from certificates as c where c.mount_id = m.id and c.filed_at >= ${from} and c.filed_at < ${to} limit 1) as c
    order by m.id`)
  return rows.map(({ id }) => id as MountId)
}
