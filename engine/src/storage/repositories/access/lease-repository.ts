import { sql } from "kysely"
import { permissionDenied } from "../../../core/access.ts"
import type { Instant } from "../../../core/time.ts"
import type { FoundLease, StoredLease, LeaseRange, LeaseRepository } from "../../../access/leases/lease.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { keptSerialNumber, serialNumberOctets } from "../../../x509/serial-number.ts"
import { ReferenceViolation, type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlLeaseRepository implements LeaseRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async insert({ id, mountId, serialNumber, issuedAt, expiresAt, tokenId }: StoredLease): Promise<void> {
    const row = { id, mountId, serialNumber: serialNumberOctets(serialNumber), issuedAt, expiresAt, tokenId }
    try {
      await this.#session.execute(insertLease, { ...row, endsWithToken: tokenId === null ? 0 : 1 })
    } catch (error) {
      // The token was revoked after it was checked.
      throw error instanceof ReferenceViolation ? permissionDenied() : error
    }
  }

  async find(id: string, now: Instant): Promise<FoundLease | undefined> {
    const row = await this.#session.queryOne(leaseAt, { id, now })
    return row && leaseOf(row)
  }

  async ids({ prefix, after = "", limit }: LeaseRange, now: Instant): Promise<readonly string[]> {
    const { from, to } = bounds(prefix)
    return (await this.#session.queryMany(idsWithin, { from: later(after, from), to, limit, now })).map(({ id }) => id)
  }

  async within({ prefix, limit }: LeaseRange, now: Instant): Promise<readonly FoundLease[]> {
    const own = await this.find(prefix, now)
    const rows = await this.#session.queryMany(leasesWithin, { ...bounds(prefix), limit, now })
    return [...(own === undefined ? [] : [own]), ...rows.map(leaseOf)].slice(0, limit)
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(removeLease, { id })
  }

  async giveUp({ prefix, limit }: LeaseRange): Promise<number> {
    const own = await this.#session.execute(giveUpOne, { id: prefix })
    return own + (await this.#session.execute(giveUpWithin, { ...bounds(prefix), limit }))
  }

  giveUpOfEndedTokens(now: Instant, limit: number): Promise<number> {
    return this.#session.execute(giveUpOfEnded, { now, limit })
  }

  async givenUp(limit: number): Promise<readonly FoundLease[]> {
    return (await this.#session.queryMany(leasesGivenUp, { limit })).map(leaseOf)
  }

  sweep(now: Instant, limit: number): Promise<number> {
    return this.#session.execute(forget, { now, limit })
  }
}

/** Returns the range of ids below a path. The empty path covers all ids. */
const bounds = (prefix: string) =>
  prefix === "" ? { from: "", to: "\u{10FFFF}" } : { from: `${prefix}/`, to: `${prefix}/\u{10FFFF}` }

/** Returns the greater id in the order of the database: UTF-8 octets, which is code point order. */
const later = (one: string, other: string): string =>
  Buffer.compare(Buffer.from(one), Buffer.from(other)) > 0 ? one : other

interface LeaseColumns {
  readonly id: string
  readonly mount_id: string
  readonly serial_number: Uint8Array
  readonly issued_at: number
  readonly expires_at: number
}

const columns = ["id", "mount_id", "serial_number", "issued_at", "expires_at"] as const

function leaseOf({ id, mount_id, serial_number, issued_at, expires_at }: LeaseColumns): FoundLease {
  const serialNumber = keptSerialNumber(serial_number)
  return { id, mountId: mount_id as MountId, serialNumber, issuedAt: issued_at, expiresAt: expires_at }
}

const insertLease = statement(
  (
    db,
    lease: Omit<StoredLease, "serialNumber"> & { readonly serialNumber: Uint8Array; readonly endsWithToken: number },
  ) =>
    db.insertInto("certificate_leases").values({
      id: lease.id,
      mount_id: lease.mountId,
      serial_number: lease.serialNumber,
      issued_at: lease.issuedAt,
      expires_at: lease.expiresAt,
      token_id: lease.tokenId,
      ends_with_token: lease.endsWithToken,
    }),
)

const leaseAt = statement((db, { id, now }: { id: string; now: number }) =>
  db.selectFrom("certificate_leases").select(columns).where("id", "=", id).where("expires_at", ">", now),
)

interface Bounds {
  readonly from: string
  readonly to: string
  readonly limit: number
}

const idsWithin = statement((db, { from, to, limit, now }: Bounds & { readonly now: number }) =>
  db
    .selectFrom("certificate_leases")
    .select("id")
    .where("id", ">", from)
    .where("id", "<", to)
    .where("expires_at", ">", now)
    .orderBy("id")
    .limit(limit),
)

const leasesWithin = statement((db, { from, to, limit, now }: Bounds & { readonly now: number }) =>
  db
    .selectFrom("certificate_leases")
    .select(columns)
    .where("id", ">", from)
    .where("id", "<", to)
    .where("expires_at", ">", now)
    .orderBy("id")
    .limit(limit),
)

const removeLease = statement((db, { id }: { id: string }) => db.deleteFrom("certificate_leases").where("id", "=", id))

/** Columns of a lease that is to be revoked: it ends with a token, but has none. */
const over = { token_id: null, ends_with_token: 1 } as const
const isOver = sql<boolean>`token_id is null and ends_with_token = 1`

const giveUpOne = statement((db, { id }: { id: string }) =>
  db
    .updateTable("certificate_leases")
    .set(over)
    .where("id", "=", id)
    .where(sql<boolean>`not (${isOver})`),
)

const giveUpWithin = statement((db, { from, to, limit }: Bounds) =>
  db
    .updateTable("certificate_leases")
    .set(over)
    .where(
      "id",
      "in",
      db
        .selectFrom("certificate_leases")
        .select("id")
        .where("id", ">", from)
        .where("id", "<", to)
        .where(sql<boolean>`not (${isOver})`)
        .orderBy("id")
        .limit(limit),
    ),
)

const giveUpOfEnded = statement((db, { now, limit }: { now: number; limit: number }) =>
  db
    .updateTable("certificate_leases")
    .set(over)
    .where(
      "id",
      "in",
      db
        .selectFrom("tokens as t")
        .innerJoin("certificate_leases as l", "l.token_id", "t.id")
        .select("l.id")
        .where("t.expires_at", "<=", now)
        .limit(limit),
    ),
)

const leasesGivenUp = statement((db, { limit }: { limit: number }) =>
  db.selectFrom("certificate_leases").select(columns).where(isOver).orderBy("id").limit(limit),
)

const forget = statement((db, { now, limit }: { now: number; limit: number }) =>
  db
    .deleteFrom("certificate_leases")
    .where(
      "id",
      "in",
      db
        .selectFrom("certificate_leases")
        .select("id")
        .where("expires_at", "<=", now)
        .orderBy("expires_at")
        .limit(limit),
    ),
)
