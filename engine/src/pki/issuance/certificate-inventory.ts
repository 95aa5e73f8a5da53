// Inventory of certificates over all mounts that a caller may search.
import { invalid } from "../../core/errors.ts"
import { parseSerialNumber, type SerialNumber } from "../../x509/serial-number.ts"
import { type KeyPage, limitOf } from "../mounts/key-page.ts"
import type { InventoryEntry, InventoryQuery } from "./certificate-api.ts"
import type { CertificatePageRequest, SerialNumberPage } from "./certificate.ts"

export interface MountInventoryQuery extends InventoryQuery {
  /** Paths of mounts. Default: every mount that the caller may search. */
  readonly mounts?: readonly string[]
}

export interface MountInventoryEntry extends InventoryEntry {
  /** Path of the mount. */
  readonly mount: string
}

export interface MountInventoryPage {
  readonly items: readonly MountInventoryEntry[]
  /** Cursor of the next page; undefined on the last page. */
  readonly next: string | undefined
}

export interface CertificateInventory {
  /**
   * Searches mounts one after another, ordered by path. Leaves out mounts without the issuer of the query. A page may have fewer
   * certificates than its limit, or none, and still have a `next`. Throws `forbidden` if the caller may search none of the mounts,
   * or may not search one that the query names.
   */
  search(query: MountInventoryQuery, page?: Partial<CertificatePageRequest>): Promise<MountInventoryPage>
}

const searchDefault = 100
/** Maximum number of certificates in a page. */
export const maxSearch = 1_000

/** Returns the limit of a page. Throws `invalid`. */
export function searchLimitOf({ limit = searchDefault }: Partial<CertificatePageRequest>): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxSearch)
    throw invalid([{ field: ["limit"], detail: `"limit" must be an integer from 1 to ${maxSearch}` }])
  return limit
}

/** Start of a page over several mounts: after this position in the mount, or at the next mount if this one was deleted. */
export interface MountCursor {
  readonly mount: string
  readonly after: string | undefined
}

export const formatMountCursor = ({ mount, after }: MountCursor): string =>
  Buffer.from(JSON.stringify(after === undefined ? [mount] : [mount, after])).toString("base64url")

/** Parses the `next` of a page. Throws `invalid`. */
export function parseMountCursor(text: string): MountCursor {
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(text, "base64url").toString())
  } catch {
    parts = undefined
  }
  const [mount, after, ...rest] = Array.isArray(parts) ? (parts as unknown[]) : []
  if (typeof mount !== "string" || (after !== undefined && typeof after !== "string") || rest.length > 0)
    throw invalid([{ field: ["after"], detail: '"after" must be the "next" of a previous page' }])
  return { mount, after }
}

/** Yields every page of a search, from `after` on. */
export async function* inventoryPages<T>(
  search: (
    page: CertificatePageRequest,
  ) => Promise<{ readonly items: readonly T[]; readonly next: string | undefined }>,
  { limit, after: from }: CertificatePageRequest,
): AsyncGenerator<readonly T[]> {
  let after = from
  do {
    const page = await search({ limit, ...(after === undefined ? {} : { after }) })
    yield page.items
    after = page.next
  } while (after !== undefined)
}

/** Returns a page request for serial numbers. Throws `invalid` if `after` is not a serial number. */
export const serialNumberPageOf = (page: KeyPage, maxLimit: number): SerialNumberPage => ({
  limit: limitOf(page, maxLimit),
  after: page.after === undefined || page.after === "" ? undefined : serialNumberIn(page.after, "after"),
})

/** Parses a serial number. Throws `invalid` naming the field. */
export function serialNumberIn(text: string, field: string): SerialNumber {
  const serialNumber = parseSerialNumber(text)
  if (serialNumber !== undefined) return serialNumber
  throw invalid([{ field: [field], detail: "must be a serial number in hexadecimal, with colons or hyphens" }])
}
