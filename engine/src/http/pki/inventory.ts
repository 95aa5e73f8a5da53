import type { CertificatePageRequest } from "../../pki/certificates/certificate.ts"
import { inventoryPages, type MountInventoryEntry, searchMaximum } from "../../pki/certificates/inventory.ts"
import {
  decodeInventoryQuery,
  encodeMountInventory,
  inventoryFormatParameters,
  mountInventoryParameters,
} from "../../wire/pki/certificate.ts"
import { inventoryCsv } from "../../wire/pki/inventory-csv.ts"
import { answer, listed, type PkiResponse, type SystemRequest, type SystemRoute } from "../pki-route.ts"

/** Certificates of every mount that the caller may search. */
export const inventoryRoutes: readonly SystemRoute[] = [
  {
    operation: "list",
    path: "/sys/certs/search",
    parameters: [mountInventoryParameters, inventoryFormatParameters],
    handle: async (request) => {
      const { query, page } = decodeInventoryQuery(request.decode(mountInventoryParameters))
      const { certificateInventory } = request.engine
      if (isCsv(request)) return csvAnswer((one) => certificateInventory.search(query, one), page)
      const found = await certificateInventory.search(query, page)
      return found.items.length === 0 && found.next === undefined ? listed([]) : answer(encodeMountInventory(found))
    },
  },
]

export const isCsv = (request: Pick<SystemRequest, "decode">): boolean =>
  request.decode(inventoryFormatParameters).format === "csv"

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
