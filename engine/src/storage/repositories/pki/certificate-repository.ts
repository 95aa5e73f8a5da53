import { sql } from "kysely"
import { conflict } from "../../../core/errors.ts"
import type { IssuerId } from "../../../core/ids.ts"
import type { Instant } from "../../../core/time.ts"
import type {
  CertificateCursor,
  CertificateMetadataRecord,
  CertificatePage,
  CertificatePageRequest,
  CertificateQuery,
  CertificateRecord,
  CertificateRepository,
  EndedCertificate,
  CertificateToStore,
  SerialNumberPage,
  StoredCertificate,
} from "../../../pki/issuance/certificate.ts"
import { filedAt, type FilingRange } from "../../../pki/issuance/certificate-partitions.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import { keptSerialNumber, type SerialNumber, serialNumberOctets } from "../../../x509/serial-number.ts"
import { backwards, certificateSearch, cursorOf } from "./certificate-search.ts"
import { among } from "../../sql/dialect.ts"
import { authorityFamily, readCacheVersion } from "../../sql/cache-versions.ts"
import { type QueryRunner, statement, UniqueViolation } from "../../sql/query-runner.ts"
import type { CertificateRow } from "../../schema/tables.ts"

export class SqlCertificateRepository implements CertificateRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async insert(record: CertificateRecord): Promise<void> {
    await rejectTakenSerialNumber(() => this.#insert(record))
  }

  async insertUnder(version: number, record: CertificateRecord): Promise<boolean> {
    const family = authorityFamily(record.mountId)
    return rejectTakenSerialNumber(async () => {
      if (this.#session.dialect === "postgres") {
        const row = await this.#session.queryOne(insertWithNames, { ...rowOf(record), version, family })
        return row?.count === 1
      }
      if ((await readCacheVersion(this.#session, family)) !== version) return false
      await this.#insert(record)
      return true
    })
  }

  async #insert(record: CertificateRecord): Promise<void> {
    const row = rowOf(record)
    await this.#session.execute(insertCertificate, row)
    if (this.#session.dialect === "postgres") {
      if (row.names.length > 0) await this.#session.execute(insertNames, row)
      return
    }
    const { mountId, filedAt: place } = row
    for (const name of row.names) await this.#session.execute(insertName, { mountId, name, filedAt: place })
  }

  async insertMetadata(record: CertificateMetadataRecord): Promise<void> {
    await this.#session.execute(insertMetadata, { ...record, serialNumber: serialNumberOctets(record.serialNumber) })
  }

  async findMetadata(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateMetadataRecord | undefined> {
    const row = await this.#session.queryOne(metadataOf, { mountId, serialNumber: serialNumberOctets(serialNumber) })
    return (
      row && {
        mountId,
        serialNumber,
        issuerId: row.issuer_id as IssuerId,
        role: row.role,
        expiresAt: row.expires_at,
        metadata: row.metadata,
      }
    )
  }

  async find(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateRecord | undefined> {
    const row = await this.#session.queryOne(bySerialNumber, {
      mountId,
      serialNumber: serialNumberOctets(serialNumber),
    })
    if (row === undefined) return undefined
    const names = await this.#session.queryMany(namesOf, { certificateNumber: row.number, filedAt: row.filed_at })
    return recordOf(
      row,
      names.map(({ name }) => backwards(name)),
    )
  }

  async issued(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateToStore | undefined> {
    const row = await this.#session.queryOne(issued, { mountId, serialNumber: serialNumberOctets(serialNumber) })
    return row && { certificate: row.certificate, issuerId: row.issuer_id as IssuerId | null }
  }

  async issuerIdOf(mountId: MountId, serialNumber: SerialNumber): Promise<IssuerId | null | undefined> {
    const row = await this.#session.queryOne(issuerOf, { mountId, serialNumber: serialNumberOctets(serialNumber) })
    return row && (row.issuer_id as IssuerId | null)
  }

  async serialNumbers(mountId: MountId, page: SerialNumberPage): Promise<readonly SerialNumber[]> {
    const rows = await this.#session.queryMany(serialNumbersAfter, { mountId, ...inOctets(page) })
    return rows.map(({ serial_number }) => keptSerialNumber(serial_number))
  }

  async list(mountId: MountId, page: SerialNumberPage): Promise<readonly StoredCertificate[]> {
    const rows = await this.#session.queryMany(certificatesAfter, { mountId, ...inOctets(page) })
    return rows.map(({ serial_number, certificate }) => ({
      serialNumber: keptSerialNumber(serial_number),
      certificate,
    }))
  }

  async metadataSerialNumbers(mountId: MountId, page: SerialNumberPage): Promise<readonly SerialNumber[]> {
    const rows = await this.#session.queryMany(metadataAfter, { mountId, ...inOctets(page) })
    return rows.map(({ serial_number }) => keptSerialNumber(serial_number))
  }

  async ended(
    mountId: MountId,
    {
      before,
      limit,
      after = beforeAll,
      except = [],
    }: {
      readonly before: Instant
      readonly limit: number
      readonly after?: CertificateCursor
      readonly except?: readonly FilingRange[]
    },
  ): Promise<readonly EndedCertificate[]> {
    const page = { mountId, before, limit, ...after }
    const rows =
      except.length === 0
        ? await this.#session.queryMany(endedBefore, page)
        : await this.#session.queryMany(endedElsewhere(this.#session.db, page, except))
    return rows.map(({ number, not_after: notAfter, revoked_at }) => ({
      number,
      notAfter,
      isRevoked: revoked_at !== null,
    }))
  }

  async page(mountId: MountId, { after, limit }: { readonly after: Uint8Array; readonly limit: number }) {
    const rows = await this.#session.queryMany(storedAfter, { mountId, after, limit })
    return rows.map(({ number, serial_number: serialNumber, certificate }) => ({ number, serialNumber, certificate }))
  }

  async remove(
    mountId: MountId,
    numbers: readonly number[],
  ): Promise<{ readonly certificates: number; readonly metadata: number }> {
    if (numbers.length === 0) return { certificates: 0, metadata: 0 }
    const metadata = await this.#session.execute(removeMetadataOfMany, { mountId, numbers })
    return { metadata, certificates: await this.#session.execute(removeMany, { mountId, numbers }) }
  }

  async removeBySerialNumber(mountId: MountId, serialNumbers: readonly SerialNumber[]): Promise<void> {
    for (const one of serialNumbers) {
      const serialNumber = serialNumberOctets(one)
      await this.#session.execute(removeMetadataOf, { mountId, serialNumber })
      await this.#session.execute(removeOne, { mountId, serialNumber })
    }
  }

  removeMetadata(mountId: MountId, before: Instant, limit: number): Promise<number> {
    return this.#session.execute(removeEndedMetadata, { mountId, before, limit })
  }

  async search(mountId: MountId, query: CertificateQuery, page: CertificatePageRequest): Promise<CertificatePage> {
    const rows = await this.#session.queryMany(certificateSearch(this.#session, mountId, query, page))
    const shown = rows.slice(0, page.limit)
    const named = await this.#session.queryMany(namesOfMany, {
      numbers: shown.map(({ number }) => number),
      places: [...new Set(shown.map(({ filed_at }) => filed_at))],
    })
    const last = shown.at(-1)
    return {
      items: shown.map((row) => ({
        ...recordOf(
          row,
          named.filter((name) => name.certificate_number === row.number).map(({ name }) => backwards(name)),
        ),
        revokedAt: row.revoked_at,
      })),
      next: rows.length > page.limit && last !== undefined ? cursorOf(query, last) : undefined,
    }
  }
}

const recordOf = (
  row: Omit<CertificateRow, "number" | "revoked_at" | "filed_at">,
  names: readonly string[],
): CertificateRecord => ({
  mountId: row.mount_id as MountId,
  serialNumber: keptSerialNumber(row.serial_number),
  certificate: row.certificate,
  issuerId: row.issuer_id as IssuerId | null,
  role: row.role,
  commonName: row.common_name,
  names,
  notBefore: row.not_before,
  notAfter: row.not_after,
})

type InsertedCertificate = InOctets<CertificateRecord> & { readonly filedAt: Instant }

const rowOf = (record: CertificateRecord): InsertedCertificate => ({
  ...record,
  filedAt: filedAt(record),
  serialNumber: serialNumberOctets(record.serialNumber),
  names: record.names.map(backwards),
})

async function rejectTakenSerialNumber<T>(insert: () => Promise<T>): Promise<T> {
  try {
    return await insert()
  } catch (error) {
    if (error instanceof UniqueViolation) throw conflict("A certificate with this serial number already exists.")
    throw error
  }
}

const insertCertificate = statement((db, record: InsertedCertificate) =>
  db.insertInto("certificates").values({
    mount_id: record.mountId,
    serial_number: record.serialNumber,
    certificate: record.certificate,
    issuer_id: record.issuerId,
    role: record.role,
    common_name: record.commonName,
    not_before: record.notBefore,
    not_after: record.notAfter,
    filed_at: record.filedAt,
  }),
)

interface NamesOfCertificate {
  readonly mountId: MountId
  readonly serialNumber: Uint8Array
  readonly names: readonly string[]
  readonly filedAt: Instant
}

const insertNames = statement(
  (_db, { mountId, serialNumber, names, filedAt: place }: NamesOfCertificate) =>
    sql`insert into certificate_names (mount_id, name, certificate_number, filed_at)
    select c.mount_id, n, c.number, c.filed_at from certificates as c, unnest(${sql.val(names)}::text[]) as n
    where c.mount_id = ${mountId} and c.serial_number = ${serialNumber} and c.filed_at = ${place}`,
)

/**
 * SQLite only: inserts a name of the certificate that this connection has just inserted. The table of names has no row ids, so it does not
 * change `last_insert_rowid()`.
 */
const insertName = statement(
  (_db, { mountId, name, filedAt: place }: { mountId: MountId; name: string; filedAt: Instant }) =>
    sql`insert into certificate_names (mount_id, name, certificate_number, filed_at)
    values (${mountId}, ${name}, last_insert_rowid(), ${place})`,
)

/**
 * Inserts a certificate and its names if the version of the mount is unchanged. One statement, because each is a round trip to PostgreSQL.
 */
const insertWithNames = statement<
  InsertedCertificate & { readonly version: number; readonly family: string },
  { count: number }
>(
  (_db, record) => sql`
    with c as (
      insert into certificates
        (mount_id, serial_number, certificate, issuer_id, role, common_name, not_before, not_after, filed_at)
      select ${record.mountId}::text, ${record.serialNumber}::bytea, ${record.certificate}::bytea, ${record.issuerId}::text,
        ${record.role}::text, ${record.commonName}::text, ${record.notBefore}::bigint, ${record.notAfter}::bigint,
        ${record.filedAt}::bigint
      where coalesce((select number from generations where family = ${record.family}), 0) = ${record.version}
      returning mount_id, number, filed_at
    ), n as (
      insert into certificate_names (mount_id, name, certificate_number, filed_at)
      select c.mount_id, name, c.number, c.filed_at from c, unnest(${sql.val(record.names)}::text[]) as name
    )
    select count(*) as count from c`,
)

type InOctets<Record> = Omit<Record, "serialNumber"> & { readonly serialNumber: Uint8Array }

const insertMetadata = statement((db, record: InOctets<CertificateMetadataRecord>) =>
  db.insertInto("certificate_metadata").values({
    mount_id: record.mountId,
    serial_number: record.serialNumber,
    issuer_id: record.issuerId,
    role: record.role,
    expires_at: record.expiresAt,
    metadata: record.metadata,
  }),
)
const metadataOf = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db
    .selectFrom("certificate_metadata")
    .select(["issuer_id", "role", "expires_at", "metadata"])
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber),
)

const inOctets = ({ limit, after }: SerialNumberPage) => ({
  limit,
  after: after === undefined ? new Uint8Array() : serialNumberOctets(after),
})

interface PageOfMount {
  readonly mountId: string
  readonly after: Uint8Array
  readonly limit: number
}

const serialNumbersAfter = statement((db, { mountId, after, limit }: PageOfMount) =>
  db
    .selectFrom("certificates")
    .select("serial_number")
    .where("mount_id", "=", mountId)
    .where("serial_number", ">", after)
    .orderBy("serial_number")
    .limit(limit),
)
const certificatesAfter = statement((db, { mountId, after, limit }: PageOfMount) =>
  db
    .selectFrom("certificates")
    .select(["serial_number", "certificate"])
    .where("mount_id", "=", mountId)
    .where("serial_number", ">", after)
    .orderBy("serial_number")
    .limit(limit),
)
const metadataAfter = statement((db, { mountId, after, limit }: PageOfMount) =>
  db
    .selectFrom("certificate_metadata")
    .select("serial_number")
    .where("mount_id", "=", mountId)
    .where("serial_number", ">", after)
    .orderBy("serial_number")
    .limit(limit),
)
interface NamesOfMany {
  readonly numbers: readonly number[]
  /** Values of `filed_at` of these certificates, which select the partitions. */
  readonly places: readonly Instant[]
}

const namesOfMany = statement((db, { numbers, places }: NamesOfMany, dialect) =>
  db
    .selectFrom("certificate_names")
    .select(["name", "certificate_number"])
    .where(among(dialect, sql.ref("certificate_number"), numbers))
    .where(among(dialect, sql.ref("filed_at"), places))
    .orderBy("name"),
)

const bySerialNumber = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db
    .selectFrom("certificates")
    .select([
      "number",
      "mount_id",
      "serial_number",
      "certificate",
      "issuer_id",
      "role",
      "common_name",
      "not_before",
      "not_after",
      "filed_at",
    ])
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber),
)
const issued = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db
    .selectFrom("certificates")
    .select(["certificate", "issuer_id"])
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber),
)
const issuerOf = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db
    .selectFrom("certificates")
    .select("issuer_id")
    .where("mount_id", "=", mountId)
    .where("serial_number", "=", serialNumber),
)
const namesOf = statement(
  (db, { certificateNumber, filedAt: place }: { certificateNumber: number; filedAt: Instant }) =>
    db
      .selectFrom("certificate_names")
      .select("name")
      .where("certificate_number", "=", certificateNumber)
      .where("filed_at", "=", place)
      .orderBy("name"),
)

/** Cursor before all certificates. */
const beforeAll: CertificateCursor = { notAfter: Number.MIN_SAFE_INTEGER, number: 0 }

interface EndedPage extends CertificateCursor {
  readonly mountId: string
  readonly before: number
  readonly limit: number
}

const endedPage = (db: QueryRunner["db"], { mountId, before, notAfter, number, limit }: EndedPage) =>
  db
    .selectFrom("certificates as c")
    .select(["c.number", "c.not_after", "c.revoked_at"])
    .where("c.mount_id", "=", mountId)
    .where("c.not_after", "<", before)
    .where(sql<boolean>`(c.not_after, c.number) > (${notAfter}, ${number})`)
    .orderBy("c.not_after")
    .orderBy("c.number")
    .limit(limit)

const endedBefore = statement(endedPage)

/** Builds the query for these ranges. It is built each time, so that PostgreSQL excludes partitions before it opens any. */
const endedElsewhere = (db: QueryRunner["db"], page: EndedPage, except: readonly FilingRange[]) =>
  except.reduce(
    (query, { from, to }) => query.where(sql<boolean>`(c.filed_at < ${from} or c.filed_at >= ${to})`),
    endedPage(db, page),
  )

interface SerialPage {
  readonly mountId: string
  readonly after: Uint8Array
}

const storedAfter = statement((db, { mountId, after, limit }: SerialPage & { readonly limit: number }) =>
  db
    .selectFrom("certificates")
    .select(["number", "serial_number", "certificate"])
    .where("mount_id", "=", mountId)
    .where("serial_number", ">", after)
    .orderBy("serial_number")
    .limit(limit),
)
interface Numbers {
  readonly mountId: string
  readonly numbers: readonly number[]
}

const removeMetadataOfMany = statement(
  (_db, { mountId, numbers }: Numbers, dialect) =>
    sql`delete from certificate_metadata where mount_id = ${mountId} and serial_number in
      (select serial_number from certificates where mount_id = ${mountId}
        and ${among(dialect, sql.ref("number"), numbers)})`,
)
const removeMany = statement((db, { mountId, numbers }: Numbers, dialect) =>
  db
    .deleteFrom("certificates")
    .where("mount_id", "=", mountId)
    .where(among(dialect, sql.ref("number"), numbers)),
)
const removeMetadataOf = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db.deleteFrom("certificate_metadata").where("mount_id", "=", mountId).where("serial_number", "=", serialNumber),
)
const removeOne = statement((db, { mountId, serialNumber }: { mountId: string; serialNumber: Uint8Array }) =>
  db.deleteFrom("certificates").where("mount_id", "=", mountId).where("serial_number", "=", serialNumber),
)
const removeEndedMetadata = statement(
  (_db, { mountId, before, limit }: { mountId: string; before: number; limit: number }) =>
    sql`delete from certificate_metadata where mount_id = ${mountId} and serial_number in
      (select serial_number from certificate_metadata where mount_id = ${mountId} and expires_at < ${before}
        order by expires_at limit ${limit})`,
)
