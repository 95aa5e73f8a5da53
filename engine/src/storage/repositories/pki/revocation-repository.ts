import { sql } from "kysely"
import { conflict } from "../../../core/errors.ts"
import type { IssuerId } from "../../../core/ids.ts"
import type { Instant } from "../../../core/time.ts"
import { type CrlListId, listOfUnknownIssuers } from "../../../pki/crl/crl-list.ts"
import { shardKeyOf } from "../../../pki/crl/shard.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import type {
  EndedRevocation,
  EntryRange,
  NewRevocation,
  NumberedEntry,
  Revocation,
  RevocationCursor,
  RevocationRepository,
} from "../../../pki/revocation/revocation.ts"
import { encodeRevokedEntry, type RevocationReason } from "../../../x509/certificate-list.ts"
import { keptSerialNumber, type SerialNumber, serialNumberOctets } from "../../../x509/serial-number.ts"
import { nextCacheVersion, readCacheVersion, revocationsFamily } from "../../sql/cache-versions.ts"
import { type QueryRunner, statement, UniqueViolation } from "../../sql/query-runner.ts"
import type { RevocationRow } from "../../schema/tables.ts"

export class SqlRevocationRepository implements RevocationRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(mountId: MountId, serialNumber: SerialNumber): Promise<Revocation | undefined> {
    const row = await this.#session.queryOne(bySerialNumber, {
      mountId,
      serialNumber: serialNumberOctets(serialNumber),
    })
    return (
      row && {
        mountId,
        serialNumber,
        issuerId: row.issuer_id as IssuerId | null,
        revokedAt: row.revoked_at,
        reason: row.reason as RevocationReason,
        notAfter: row.not_after,
      }
    )
  }

  async insert(revocation: NewRevocation): Promise<void> {
    const { mountId, list, issuerId, revokedAt, reason, invalidityDate, notAfter } = revocation
    const serialNumber = serialNumberOctets(revocation.serialNumber)
    // The row of the version stays locked until the commit, so that numbers become visible in ascending order.
    const row: RevocationRow = {
      mount_id: mountId,
      list,
      number: await nextCacheVersion(this.#session, revocationsFamily(mountId)),
      serial_number: serialNumber,
      shard_key: shardKeyOf(revocation.serialNumber),
      issuer_id: issuerId,
      revoked_at: revokedAt,
      reason,
      not_after: notAfter,
      entry: encodeRevokedEntry({
        serialNumber,
        revokedAt,
        reason,
        ...(invalidityDate === undefined ? {} : { invalidityDate }),
      }),
    }
    try {
      await this.#session.execute(insertRevocation, row)
    } catch (error) {
      if (error instanceof UniqueViolation) throw conflict("A certificate with this serial number is already revoked.")
      throw error
    }
    await this.#session.execute(markCertificate, { mountId, serialNumber, revokedAt })
  }

  async registered(
    mountId: MountId,
    { serialNumber: serial, revokedAt, notAfter }: Pick<Revocation, "serialNumber" | "revokedAt" | "notAfter">,
  ): Promise<void> {
    const serialNumber = serialNumberOctets(serial)
    await this.#session.execute(endsAt, { mountId, serialNumber, notAfter })
    await this.#session.execute(markCertificate, { mountId, serialNumber, revokedAt })
  }

  async touch(mountId: MountId): Promise<void> {
    await nextCacheVersion(this.#session, revocationsFamily(mountId))
  }

  cacheVersion(mountId: MountId): Promise<number> {
    return readCacheVersion(this.#session, revocationsFamily(mountId))
  }

  async serialNumbers(
    mountId: MountId,
    { after, limit }: { readonly after?: SerialNumber | undefined; readonly limit: number },
  ): Promise<readonly SerialNumber[]> {
    const from = after === undefined ? new Uint8Array() : serialNumberOctets(after)
    return (await this.#session.queryMany(serialNumbersAfter, { mountId, from, limit })).map((row) =>
      keptSerialNumber(row.serial_number),
    )
  }

  async latest(mountId: MountId, list: CrlListId): Promise<number> {
    return (await this.#session.queryOne(latestNumber, { mountId, list }))?.number ?? 0
  }

  entries({ mountId, list, after, shard, limit }: EntryRange): Promise<readonly NumberedEntry[]> {
    return shard.count === 1
      ? this.#session.queryMany(entriesOfList, { mountId, list, after, limit })
      : this.#session.queryMany(entriesOfShard, { mountId, list, after, limit, count: shard.count, index: shard.index })
  }

  async adopt(mountId: MountId, list: CrlListId, limit: number): Promise<number> {
    const unlisted = { mountId, list: listOfUnknownIssuers, after: 0, limit }
    const found = await this.#session.queryMany(entriesOfList, unlisted)
    for (const { number: before } of found) {
      const number = await nextCacheVersion(this.#session, revocationsFamily(mountId))
      await this.#session.execute(adoptOne, { mountId, list, before, number })
    }
    return found.length
  }

  async ended(
    mountId: MountId,
    {
      before,
      limit,
      after = beforeAll,
    }: { readonly before: Instant; readonly limit: number; readonly after?: RevocationCursor },
  ): Promise<readonly EndedRevocation[]> {
    const rows = await this.#session.queryMany(endedBefore, { mountId, before, limit, ...after })
    return rows.map((row) => ({
      serialNumber: keptSerialNumber(row.serial_number),
      list: row.list as CrlListId,
      number: row.number,
      notAfter: row.not_after,
    }))
  }

  async page(
    mountId: MountId,
    { after, limit }: { readonly after: Uint8Array; readonly limit: number },
  ): Promise<readonly Pick<Revocation, "serialNumber" | "issuerId">[]> {
    const rows = await this.#session.queryMany(issuersAfter, { mountId, from: after, limit })
    return rows.map((row) => ({
      serialNumber: keptSerialNumber(row.serial_number),
      issuerId: row.issuer_id as IssuerId | null,
    }))
  }

  async associate(
    mountId: MountId,
    serialNumber: SerialNumber,
    { issuerId, list }: { readonly issuerId: IssuerId; readonly list: CrlListId },
  ): Promise<void> {
    const octets = serialNumberOctets(serialNumber)
    if ((await this.#session.execute(nameIssuer, { mountId, serialNumber: octets, issuerId, list })) > 0) return
    const known = await this.#session.queryOne(listOf, { mountId, serialNumber: octets })
    if (known === undefined) return
    const number = await nextCacheVersion(this.#session, revocationsFamily(mountId))
    await this.#session.execute(moveToList, { mountId, serialNumber: octets, issuerId, list, number })
    await this.#session.execute(countRemoval, { mountId, list: known.list })
  }

  async remove(mountId: MountId, serialNumbers: readonly SerialNumber[]): Promise<number> {
    const lists = new Set<string>()
    let count = 0
    for (const serialNumber of serialNumbers) {
      const removed = await this.#session.queryOne(removeOne, {
        mountId,
        serialNumber: serialNumberOctets(serialNumber),
      })
      if (removed === undefined) continue
      await this.#session.execute(markCertificate, {
        mountId,
        serialNumber: serialNumberOctets(serialNumber),
        revokedAt: null,
      })
      lists.add(removed.list)
      count += 1
    }
    for (const list of lists) await this.#session.execute(countRemoval, { mountId, list })
    if (count > 0) await nextCacheVersion(this.#session, revocationsFamily(mountId))
    return count
  }
}

const bySerialNumber = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db
    .selectFrom("revocations")
    .select(["issuer_id", "revoked_at", "reason", "not_after"])
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber),
)

const insertRevocation = statement((db, row: RevocationRow) =>
  db.insertInto("revocations").values({
    mount_id: row.mount_id,
    list: row.list,
    number: row.number,
    serial_number: row.serial_number,
    shard_key: row.shard_key,
    issuer_id: row.issuer_id,
    revoked_at: row.revoked_at,
    reason: row.reason,
    not_after: row.not_after,
    entry: row.entry,
  }),
)

const endsAt = statement(
  (db, { mountId, serialNumber, notAfter }: { mountId: string; serialNumber: Uint8Array; notAfter: number }) =>
    db
      .updateTable("revocations")
      .set({ not_after: notAfter })
      .where("mount_id", "=", mountId)
      .where("serial_number", "=", serialNumber),
)

/** Copies the time of revocation to the certificate, where searches filter by it. */
const markCertificate = statement(
  (db, { mountId, serialNumber, revokedAt }: { mountId: string; serialNumber: Uint8Array; revokedAt: number | null }) =>
    db
      .updateTable("certificates")
      .set({ revoked_at: revokedAt })
      .where("mount_id", "=", mountId)
      .where("serial_number", "=", serialNumber),
)

const serialNumbersAfter = statement(
  (db, { mountId, from, limit }: { mountId: string; from: Uint8Array; limit: number }) =>
    db
      .selectFrom("revocations")
      .select("serial_number")
      .where("mount_id", "=", mountId)
      .where("serial_number", ">", from)
      .orderBy("serial_number")
      .limit(limit),
)

interface OfList {
  readonly mountId: string
  readonly list: string
}

const latestNumber = statement((db, { mountId, list }: OfList) =>
  db
    .selectFrom("revocations")
    .select("number")
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .orderBy("number", "desc")
    .limit(1),
)

interface After extends OfList {
  readonly after: number
  readonly limit: number
}

const entriesOfList = statement((db, { mountId, list, after, limit }: After) =>
  db
    .selectFrom("revocations")
    .select(["number", "entry"])
    .where("mount_id", "=", mountId)
    .where("list", "=", list)
    .where("number", ">", after)
    .orderBy("number")
    .limit(limit),
)

const entriesOfShard = statement((db, parameters: After & { readonly count: number; readonly index: number }) =>
  db
    .selectFrom("revocations")
    .select(["number", "entry"])
    .where("mount_id", "=", parameters.mountId)
    .where("list", "=", parameters.list)
    .where("number", ">", parameters.after)
    .where(sql<boolean>`shard_key % ${parameters.count} = ${parameters.index}`)
    .orderBy("number")
    .limit(parameters.limit),
)

const adoptOne = statement(
  (db, { mountId, list, before, number }: OfList & { readonly before: number; readonly number: number }) =>
    db
      .updateTable("revocations")
      .set({ list, number })
      .where("mount_id", "=", mountId)
      .where("list", "=", listOfUnknownIssuers)
      .where("number", "=", before),
)

/** Cursor before all revocations. */
const beforeAll: RevocationCursor = { notAfter: Number.MIN_SAFE_INTEGER, number: 0 }

const endedBefore = statement(
  (
    db,
    {
      mountId,
      before,
      notAfter,
      number,
      limit,
    }: RevocationCursor & { readonly mountId: string; readonly before: number; readonly limit: number },
  ) =>
    db
      .selectFrom("revocations")
      .select(["serial_number", "list", "number", "not_after"])
      .where("mount_id", "=", mountId)
      .where("not_after", "<", before)
      .where(sql<boolean>`(not_after, number) > (${notAfter}, ${number})`)
      .orderBy("not_after")
      .orderBy("number")
      .limit(limit),
)

interface SerialPage {
  readonly mountId: string
  readonly from: Uint8Array
  readonly limit: number
}

const issuersAfter = statement((db, { mountId, from, limit }: SerialPage) =>
  db
    .selectFrom("revocations")
    .select(["serial_number", "issuer_id"])
    .where("mount_id", "=", mountId)
    .where("serial_number", ">", from)
    .orderBy("serial_number")
    .limit(limit),
)

interface Association extends OfList {
  readonly serialNumber: Uint8Array
  readonly issuerId: string
}

const nameIssuer = statement((db, { mountId, serialNumber, issuerId, list }: Association) =>
  db
    .updateTable("revocations")
    .set({ issuer_id: issuerId })
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber)
    .where("list", "=", list),
)

const listOf = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db.selectFrom("revocations").select("list").where("mount_id", "=", mountId).where("serial_number", "=", serialNumber),
)

const moveToList = statement(
  (db, { mountId, serialNumber, issuerId, list, number }: Association & { readonly number: number }) =>
    db
      .updateTable("revocations")
      .set({ issuer_id: issuerId, list, number })
      .where("mount_id", "=", mountId)
      .where("serial_number", "=", serialNumber),
)

const removeOne = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db
    .deleteFrom("revocations")
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber)
    .returning("list"),
)

const countRemoval = statement((db, { mountId, list }: OfList) =>
  db
    .updateTable("crls")
    .set({ removals: sql<number>`removals + 1` })
    .where("mount_id", "=", mountId)
    .where("list", "=", list),
)
