// Searches one page of certificates, at a cost that depends on the page and not on the number of certificates. One condition drives an
// index in page order; the others are checked row by row.
import { sql, type RawBuilder } from "kysely"
import { invalid } from "../../../core/errors.ts"
import type { CertificatePageRequest, CertificateQuery, InventoryStatus } from "../../../pki/issuance/certificate.ts"
import type { MountId } from "../../../pki/mounts/mount.ts"
import type { DialectName, QueryRunner } from "../../sql/query-runner.ts"
import type { CertificateRow } from "../../schema/tables.ts"

export interface FoundCertificate extends CertificateRow {
  /** Value of the first sort column: an instant, a reversed name, or the certificate number. */
  readonly place: number | string
}

/** Sort order of a page, which the cursor of the next page continues. */
type Key = "number" | "named" | "expiry" | "name" | "metadata"

interface Order {
  readonly key: Key
  readonly descending: boolean
}

function orderOf({ name, role, issuerId, metadata, expiresAfter, expiresBefore, status }: CertificateQuery): Order {
  if (name !== undefined) return name.startsWith("*") ? ascending("name") : descending("named")
  const isOfTime = expiresAfter !== undefined || expiresBefore !== undefined || status !== undefined
  if (metadata !== undefined) return { key: "metadata", descending: !isOfTime }
  if (isOfTime) return ascending("expiry")
  return issuerId !== undefined && role === undefined ? descending("number") : descending("expiry")
}

const ascending = (key: Key): Order => ({ key, descending: false })
const descending = (key: Key): Order => ({ key, descending: true })

/** Builds the query of a page. It reads one row more than the page has, to detect a next page. */
export function certificateSearch(
  { dialect }: QueryRunner,
  mountId: MountId,
  query: CertificateQuery,
  { limit, after }: CertificatePageRequest,
): RawBuilder<FoundCertificate> {
  const order = orderOf(query)
  const place: Place = {
    dialect,
    mountId,
    order,
    cursor: after === undefined ? undefined : readCursor(after, order.key),
    limit: limit + 1,
  }
  const { status } = query
  // Revoked certificates have an index of their own. A union of two searches avoids looking for them among all others.
  if (order.key !== "expiry" || status?.of.length !== 2 || !status.of.includes("revoked"))
    return selection(query, place)
  const parts = status.of.map((one, index) => {
    const part = selection({ ...query, status: { ...status, of: [one] } }, place)
    return sql`select * from (${part}) as ${sql.raw(`part_${index}`)}`
  })
  return sql`${sql.join(parts, sql` union all `)} order by not_after, number limit ${place.limit}`
}

interface Place {
  readonly dialect: DialectName
  readonly mountId: MountId
  readonly order: Order
  readonly cursor: Cursor | undefined
  readonly limit: number
}

function selection(
  query: CertificateQuery,
  { dialect, mountId, order, cursor, limit }: Place,
): RawBuilder<FoundCertificate> {
  const { name, role, issuerId, expiresAfter, expiresBefore, metadata, status } = query
  const conditions: RawBuilder<unknown>[] = []
  if (name !== undefined) conditions.push(nameCondition(mountId, name.toLowerCase()))
  else if (order.key === "metadata") conditions.push(sql`d.mount_id = ${mountId} and ${hasMetadata(metadata)}`)
  else conditions.push(sql`c.mount_id = ${mountId}`)
  if (role !== undefined) conditions.push(sql`c.role = ${role}`)
  if (issuerId !== undefined) conditions.push(sql`c.issuer_id = ${issuerId}`)
  if (expiresAfter !== undefined) conditions.push(sql`c.not_after >= ${expiresAfter}`)
  if (expiresBefore !== undefined) conditions.push(sql`c.not_after < ${expiresBefore}`)
  if (status !== undefined) conditions.push(statusCondition(status.of, status.now))
  if (metadata !== undefined && order.key !== "metadata")
    conditions.push(sql`exists (select 1 from certificate_metadata as d where d.mount_id = c.mount_id
      and d.serial_number = c.serial_number and ${hasMetadata(metadata)})`)
  if (cursor !== undefined) conditions.push(beyond(order, cursor))
  const columns = columnsOf[order.key]
  return sql<FoundCertificate>`select c.number, c.mount_id, c.serial_number, c.certificate, c.issuer_id, c.role, c.common_name, c.not_before,
      c.not_after, c.revoked_at, c.filed_at, ${sql.raw(columns[0])} as place
    from ${sql.raw(tablesOf(dialect, query, order))} where ${sql.join(conditions, sql` and `)}
    order by ${sql.raw(columns.map((column) => (order.descending ? `${column} desc` : column)).join(", "))}
    limit ${limit}`
}

/**
 * Returns the tables. SQLite has no statistics to choose an index by, so the index is named; the first table of its cross join is the outer
 * loop.
 */
function tablesOf(dialect: DialectName, { name, role, status }: CertificateQuery, { key }: Order): string {
  if (name !== undefined)
    return dialect === "sqlite"
      ? "certificate_names as n cross join certificates as c on c.number = n.certificate_number"
      : // Names have the `filed_at` of their certificate, which selects its partition.
        "certificate_names as n join certificates as c on c.number = n.certificate_number and c.filed_at = n.filed_at"
  if (key === "metadata") {
    const isTheirs = "on c.mount_id = d.mount_id and c.serial_number = d.serial_number"
    return dialect === "sqlite"
      ? `certificate_metadata as d indexed by certificate_metadata_by_content cross join certificates as c ${isTheirs}`
      : `certificate_metadata as d join certificates as c ${isTheirs}`
  }
  if (dialect !== "sqlite") return "certificates as c"
  if (key === "number") return "certificates as c indexed by certificates_by_issuer"
  if (status?.of.length === 1 && status.of[0] === "revoked") return "certificates as c indexed by certificates_revoked"
  return `certificates as c indexed by ${role === undefined ? "certificates_by_expiry" : "certificates_by_role"}`
}

const columnsOf: Readonly<Record<Key, readonly [string, ...string[]]>> = {
  number: ["c.number"],
  named: ["n.certificate_number"],
  expiry: ["c.not_after", "c.number"],
  name: ["n.name", "n.certificate_number"],
  metadata: ["d.expires_at", "d.serial_number"],
}

const hasMetadata = (metadata: string | undefined): RawBuilder<unknown> =>
  sql`substr(d.metadata, 1, 64) = substr(${metadata}, 1, 64) and d.metadata = ${metadata}`

function statusCondition(statuses: readonly InventoryStatus[], now: number): RawBuilder<unknown> {
  const conditions: Readonly<Record<InventoryStatus, RawBuilder<unknown>>> = {
    valid: sql`(c.not_after >= ${now} and c.revoked_at is null)`,
    expired: sql`(c.not_after < ${now} and c.revoked_at is null)`,
    revoked: sql`c.revoked_at is not null`,
  }
  if (statuses.length === 2 && !statuses.includes("revoked")) return sql`c.revoked_at is null`
  const selected = statuses.map((one) => conditions[one])
  return selected.length === 1 ? sql`${selected[0]}` : sql`(${sql.join(selected, sql` or `)})`
}

/** Builds the condition on names. A certificate with several matching names is found by the first of them. */
function nameCondition(mountId: MountId, name: string): RawBuilder<unknown> {
  if (!name.startsWith("*")) return sql`n.mount_id = ${mountId} and n.name = ${backwards(name)}`
  const beginning = backwards(name.slice(1))
  // No character of a name sorts after it.
  const end = `${beginning}\u{10ffff}`
  return sql`n.mount_id = ${mountId} and n.name >= ${beginning} and n.name < ${end} and not exists (
    select 1 from certificate_names as m where m.certificate_number = n.certificate_number and m.filed_at = n.filed_at
      and m.name >= ${beginning} and m.name < n.name)`
}

interface Cursor {
  readonly place: number | string
  /** Number of the certificate; its serial number in hexadecimal if the page is sorted by metadata. */
  readonly last: number | string
}

function beyond({ key, descending: isDescending }: Order, { place, last }: Cursor): RawBuilder<unknown> {
  const columns = sql.raw(columnsOf[key].join(", "))
  const comparison = sql.raw(isDescending ? "<" : ">")
  if (key === "number" || key === "named") return sql`${columns} ${comparison} ${last}`
  const second = key === "metadata" ? Buffer.from(String(last), "hex") : last
  return sql`(${columns}) ${comparison} (${place}, ${second})`
}

/** Returns the cursor of the page after a certificate. It is valid only for queries with the same sort order. */
export function cursorOf(query: CertificateQuery, { number, serial_number, place }: FoundCertificate): string {
  const { key } = orderOf(query)
  const last = key === "metadata" ? Buffer.from(serial_number).toString("hex") : number
  return Buffer.from(JSON.stringify([key, place, last])).toString("base64url")
}

function readCursor(text: string, key: Key): Cursor {
  try {
    const [kind, place, last] = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown[]
    const isPlace = key === "name" ? typeof place === "string" : Number.isSafeInteger(place)
    const isLast =
      key === "metadata" ? typeof last === "string" && /^([0-9a-f]{2}){1,20}$/.test(last) : Number.isSafeInteger(last)
    if (kind === key && isPlace && isLast) return { place: place as Cursor["place"], last: last as Cursor["last"] }
  } catch {
    // Reported below as an invalid cursor.
  }
  throw invalid([{ field: ["after"], detail: "is not a cursor of this search" }])
}

/** Reverses a text by code points, so that reversing it twice returns the same text. */
export const backwards = (name: string): string => Array.from(name).toReversed().join("")
