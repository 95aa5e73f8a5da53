import { certificateInventory, mountInventory } from "../../contracts/vault/stored-certificate.ts"
import type { CertificatePageRequest } from "../../pki/certificates/certificate.ts"
import { inventoryPages, type MountInventoryEntry, searchMaximum } from "../../pki/certificates/inventory.ts"
import { inventoryCsv } from "../../wire/pki/inventory-csv.ts"
import { implement } from "../implement-vault.ts"
import { answer, listed, type PkiResponse, type SystemRequest } from "../pki-route.ts"

/** Certificates of every mount that the caller may search. */
export const inventoryRoutes = implement(certificateInventory, {
  async search({ engine }: SystemRequest, { query, page, format }) {
    if (format === "csv") return csvAnswer((one) => engine.certificateInventory.search(query, one), page)
    const found = await engine.certificateInventory.search(query, page)
    return found.items.length === 0 && found.next === undefined ? listed([]) : answer(mountInventory.encode(found))
  },
})

type Search = (page: CertificatePageRequest) => Promise<{
  readonly items: readonly MountInventoryEntry[]
  readonly next: string | undefined
}>

/** Streams every page, or one page if there is a limit. Reads the first page before the response starts, so that errors have a status. */
export async function csvAnswer(search: Search, page: Partial<CertificatePageRequest>): Promise<PkiResponse> {
  const { limit = searchMaximum } = page
  const pages = inventoryPages(
    page.limit === undefined ? search : async (one) => ({ ...(await search(one)), next: undefined }),
    { ...page, limit },
  )
  const first = await pages.next()
  async function* all() {
    if (first.done !== true) yield first.value
    yield* pages
  }
  return {
    kind: "stream",
    status: 200,
    body: inventoryCsv(all()),
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": 'attachment; filename="certificates.csv"',
      "cache-control": "no-store",
    },
  }
}
