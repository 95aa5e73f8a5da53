import { sql } from "kysely"
import type { MountId } from "../../../pki/mounts/mount.ts"
import type {
  CountedPart,
  ExpiryPlace,
  ExpiryRange,
  MountStatistics,
  StatisticsRepository,
} from "../../../pki/statistics/mount-statistics.ts"
import { type DialectName, type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlStatisticsRepository implements StatisticsRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async countPart({ mountId, revoked, after, before }: ExpiryRange, limit: number): Promise<CountedPart> {
    const { placeAt, countOf } = revoked ? ofRevoked : ofAll
    const range = { mountId, ...after, before }
    const last = await this.#session.queryOne(placeAt, { ...range, offset: limit - 1 })
    if (last !== undefined) return { count: limit, next: { notAfter: last.not_after, number: last.number } }
    const counted = await this.#session.queryOne(countOf, range)
    return { count: counted?.count ?? 0, next: undefined }
  }

  async nextRole(mountId: MountId, after: string): Promise<string | undefined> {
    return (await this.#session.queryOne(roleAfter, { mountId, after }))?.role
  }

  async ofRole(mountId: MountId, role: string, after: ExpiryPlace, limit: number) {
    const rows = await this.#session.queryMany(roleExpiries, { mountId, role, ...after, limit })
    return rows.map(({ not_after: notAfter, number, revoked_at }) => ({
      notAfter,
      number,
      isRevoked: revoked_at !== null,
    }))
  }

  async save(mountId: MountId, { countedAt, ...counts }: MountStatistics): Promise<void> {
    await this.#session.execute(saveStatistics, { mountId, countedAt, counts: JSON.stringify(counts) })
  }

  async find(mountId: MountId): Promise<MountStatistics | undefined> {
    const row = await this.#session.queryOne(statisticsOf, { mountId })
    return row && { countedAt: row.counted_at, ...(JSON.parse(row.counts) as Omit<MountStatistics, "countedAt">) }
  }
}

interface Range extends ExpiryPlace {
  readonly mountId: string
  readonly before: number
}

/** Builds the counting queries. They read only the index, which SQLite needs to have named. */
function counting(index: string, condition: string) {
  const from = (dialect: DialectName) =>
    sql.raw(`certificates as c ${dialect === "sqlite" ? `indexed by ${index}` : ""} where ${condition}`)
  const within = ({ mountId, notAfter, number, before }: Range) =>
    sql`c.mount_id = ${mountId} and (c.not_after, c.number) > (${notAfter}, ${number}) and c.not_after < ${before}`
  return {
    placeAt: statement(
      (_db, range: Range & { readonly offset: number }, dialect) =>
        sql<{ not_after: number; number: number }>`select c.not_after, c.number from ${from(dialect)} ${within(range)}
          order by c.not_after, c.number limit 1 offset ${range.offset}`,
    ),
    countOf: statement(
      (_db, range: Range, dialect) =>
        sql<{ count: number }>`select count(*) as count from ${from(dialect)} ${within(range)}`,
    ),
  }
}

const ofAll = counting("certificates_by_expiry", "")
const ofRevoked = counting("certificates_revoked", "c.revoked_at is not null and ")

const byRole = (dialect: DialectName) =>
  sql.raw(`certificates as c ${dialect === "sqlite" ? "indexed by certificates_by_role" : ""}`)

const roleAfter = statement(
  (_db, { mountId, after }: { readonly mountId: string; readonly after: string }, dialect) =>
    sql<{ role: string }>`select c.role from ${byRole(dialect)} where c.mount_id = ${mountId} and c.role > ${after}
      order by c.role limit 1`,
)

interface ExpiryRow {
  readonly not_after: number
  readonly number: number
  readonly revoked_at: number | null
}

interface OfRole extends ExpiryPlace {
  readonly mountId: string
  readonly role: string
  readonly limit: number
}

const roleExpiries = statement(
  (_db, { mountId, role, notAfter, number, limit }: OfRole, dialect) =>
    sql<ExpiryRow>`select c.not_after, c.number, c.revoked_at from ${byRole(dialect)}
      where c.mount_id = ${mountId} and c.role = ${role} and (c.not_after, c.number) > (${notAfter}, ${number})
      order by c.not_after, c.number limit ${limit}`,
)

const saveStatistics = statement(
  (db, { mountId, countedAt, counts }: { mountId: string; countedAt: number; counts: string }) =>
    db
      .insertInto("mount_statistics")
      .values({ mount_id: mountId, counted_at: countedAt, counts })
      .onConflict((known) => known.column("mount_id").doUpdateSet({ counted_at: countedAt, counts })),
)

const statisticsOf = statement((db, { mountId }: { readonly mountId: string }) =>
  db.selectFrom("mount_statistics").select(["counted_at", "counts"]).where("mount_id", "=", mountId),
)
