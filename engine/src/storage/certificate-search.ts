// One page of the certificates that conditions ask for, at a cost that follows the page and not the store: one condition
// drives an index in the order of the page, the others are looked at row by row.
import { sql, type RawBuilder } from "kysely"
import { invalid } from "../core/errors.ts"
import type { CertificatePageRequest, CertificateQuery } from "../pki/certificates/certificate.ts"
import type { MountId } from "../pki/mount.ts"
import type { Session } from "./session.ts"
import type { CertificateRow } from "./tables.ts"

export interface FoundCertificate extends CertificateRow {
  /** By which a page over open names goes on; backwards. */
  readonly found_name: string | null
}

/** How the rows of a page are ordered, and where the next begins. */
type Order = "number" | "expiry" | "name"

const orderOf = ({ name, expiresAfter, expiresBefore }: CertificateQuery): Order =>
  name?.startsWith("*") === true
    ? "name"
    : name === undefined && (expiresAfter !== undefined || expiresBefore !== undefined)
      ? "expiry"
      : "number"

/** One more row than the page has tells whether there is a next. */
export function certificateSearch(
  { dialect }: Session,
  mountId: MountId,
  query: CertificateQuery,
  { limit, after }: CertificatePageRequest,
): RawBuilder<FoundCertificate> {
  const order = orderOf(query)
  const cursor = after === undefined ? undefined : readCursor(after, order)
  // Keeps SQLite from taking the index of a column that is not to drive.
  const held = (column: string) => (dialect === "sqlite" ? sql.raw(`+${column}`) : sql.raw(column))
  const drives = (name: "role" | "issuer") =>
    order === "number" && query.name === undefined && (name === "role" || query.role === undefined)
  const conditions: RawBuilder<unknown>[] = []
  const { name, role, issuerId, expiresAfter, expiresBefore, metadata } = query
  if (name !== undefined) conditions.push(nameCondition(mountId, name.toLowerCase()))
  else conditions.push(sql`c.mount_id = ${mountId}`)
  if (role !== undefined) conditions.push(sql`${drives("role") ? sql.raw("c.role") : held("c.role")} = ${role}`)
  if (issuerId !== undefined)
    conditions.push(sql`${drives("issuer") ? sql.raw("c.issuer_id") : held("c.issuer_id")} = ${issuerId}`)
  const expiry = order === "expiry" ? sql.raw("c.not_after") : held("c.not_after")
  if (expiresAfter !== undefined) conditions.push(sql`${expiry} >= ${expiresAfter}`)
  if (expiresBefore !== undefined) conditions.push(sql`${expiry} < ${expiresBefore}`)
  if (metadata !== undefined)
    conditions.push(sql`exists (select 1 from certificate_metadata as d where d.mount_id = c.mount_id
      and d.serial_number = c.serial_number and substr(d.metadata, 1, 64) = substr(${metadata}, 1, 64)
      and d.metadata = ${metadata})`)
  if (cursor !== undefined) conditions.push(beyond(order, cursor))
  const foundName = name === undefined ? sql`null` : sql.raw("n.name")
  const from =
    name === undefined
      ? sql`certificates as c`
      : sql`certificate_names as n join certificates as c on c.number = n.certificate_number`
  return sql<FoundCertificate>`select c.number, c.mount_id, c.serial_number, c.certificate, c.issuer_id, c.role,
      c.common_name, c.not_before, c.not_after, ${foundName} as found_name
    from ${from} where ${sql.join(conditions, sql` and `)} order by ${sql.raw(orderings[order])} limit ${limit + 1}`
}

const orderings: Readonly<Record<Order, string>> = {
  number: "c.number desc",
  expiry: "c.not_after, c.number",
  name: "n.name, n.certificate_number",
}

/** Of names that end alike, a certificate is found by the first. */
function nameCondition(mountId: MountId, name: string): RawBuilder<unknown> {
  if (!name.startsWith("*")) return sql`n.mount_id = ${mountId} and n.name = ${backwards(name)}`
  const beginning = backwards(name.slice(1))
  // Nothing that a name holds comes after it.
  const end = `${beginning}\u{10ffff}`
  return sql`n.mount_id = ${mountId} and n.name >= ${beginning} and n.name < ${end} and not exists (
    select 1 from certificate_names as m where m.certificate_number = n.certificate_number
      and m.name >= ${beginning} and m.name < n.name)`
}

interface Cursor {
  readonly number: number
  /** A time or a name, where that comes first in the order. */
  readonly first: number | string
}

function beyond(order: Order, { number, first }: Cursor): RawBuilder<unknown> {
  switch (order) {
    case "number":
      return sql`c.number < ${number}`
    case "expiry":
      return sql`(c.not_after, c.number) > (${first}, ${number})`
    default:
      return sql`(n.name, n.certificate_number) > (${first}, ${number})`
  }
}

export function cursorOf(query: CertificateQuery, { number, not_after, found_name }: FoundCertificate): string {
  const order = orderOf(query)
  const first = order === "expiry" ? not_after : order === "name" ? (found_name ?? "") : 0
  return Buffer.from(JSON.stringify([order, number, first])).toString("base64url")
}

function readCursor(text: string, order: Order): Cursor {
  try {
    const [kind, number, first] = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown[]
    const isFirst = typeof first === (order === "name" ? "string" : "number")
    if (kind === order && Number.isSafeInteger(number) && isFirst)
      return { number: number as number, first: first as number | string }
  } catch {
    // Refused below.
  }
  throw invalid([{ field: ["after"], detail: "is not where a page of this search ended" }])
}

/** By characters, so that a name written so and back again is the same. */
export const backwards = (name: string): string => Array.from(name).toReversed().join("")
