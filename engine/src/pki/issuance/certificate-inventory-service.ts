import { allowsPath, permissionDenied } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { isEngineError } from "../../core/errors.ts"
import { nextTurn } from "../../core/timers.ts"
import type { MountDirectory } from "../mounts/mount-directory.ts"
import { mountPathOf } from "../mounts/mount.ts"
import type { CertificatePageRequest } from "./certificate.ts"
import type { Certificates, InventoryPage, InventoryQuery } from "./certificate-api.ts"
import {
  type CertificateInventory,
  formatMountCursor,
  type MountInventoryEntry,
  type MountInventoryPage,
  type MountInventoryQuery,
  parseMountCursor,
  searchLimitOf,
} from "./certificate-inventory.ts"

/** Maximum number of mounts searched for a page. Each mount needs its own query. */
const mountsPerPage = 100

export class CertificateInventoryService implements CertificateInventory {
  readonly #mounts: MountDirectory
  readonly #certificates: (mountPath: string) => Pick<Certificates, "search">
  readonly #caller: Caller

  /** `certificates` must act for the same caller. */
  constructor(
    mounts: MountDirectory,
    certificates: (mountPath: string) => Pick<Certificates, "search">,
    caller: Caller,
  ) {
    this.#mounts = mounts
    this.#certificates = certificates
    this.#caller = caller
  }

  async search(
    { mounts: named, ...query }: MountInventoryQuery,
    page: Partial<CertificatePageRequest> = {},
  ): Promise<MountInventoryPage> {
    const limit = searchLimitOf(page)
    const from = page.after === undefined ? undefined : parseMountCursor(page.after)
    const paths = await this.#searchable(named)
    const left = from === undefined ? paths : paths.filter((path) => path >= from.mount)
    const items: MountInventoryEntry[] = []
    for (const [index, mount] of left.entries()) {
      if (index === mountsPerPage || items.length === limit)
        return { items, next: formatMountCursor({ mount, after: undefined }) }
      const after = mount === from?.mount ? from.after : undefined
      const found = await this.#search(mount, query, {
        limit: limit - items.length,
        ...(after === undefined ? {} : { after }),
      })
      items.push(...found.items.map((entry) => ({ ...entry, mount })))
      if (found.next !== undefined) return { items, next: formatMountCursor({ mount, after: found.next }) }
      await nextTurn()
    }
    return { items, next: undefined }
  }

  /** Returns the paths of the mounts to search, sorted and without duplicates. */
  async #searchable(named: readonly string[] | undefined): Promise<readonly string[]> {
    const table = await this.#mounts.current()
    const maySearch = (mount: string) => allowsPath(this.#caller, { path: `${mount}/certs/search`, capability: "list" })
    if (named === undefined || named.length === 0) {
      const paths = table.mounts.map(({ path }) => path).filter(maySearch)
      if (paths.length === 0 && table.mounts.length > 0) throw permissionDenied()
      return paths.toSorted(byCodeUnits)
    }
    const paths = [...new Set(named.map(mountPathOf))]
    if (!paths.every(maySearch)) throw permissionDenied()
    for (const path of paths) table.at(path)
    return paths.toSorted(byCodeUnits)
  }

  /** Searches one mount. Returns an empty page if the mount was deleted, or has no such issuer. */
  async #search(mount: string, query: InventoryQuery, page: CertificatePageRequest): Promise<InventoryPage> {
    try {
      return await this.#certificates(mount).search(query, page)
    } catch (error) {
      if (isEngineError(error, "not-found")) return { items: [], next: undefined }
      throw error
    }
  }
}

/** Compares by code units, as `>=` does, because cursors are compared with it. */
const byCodeUnits = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
