// Pages of a list by key, as OpenBao's `after` and `limit`. The key that a page starts after may have been deleted
// (docs/compatibility.md, "Requests to the certificate API").

export interface KeyPage {
  /** Key that the page starts after. Empty or absent: the page starts at the first key. */
  readonly after?: string
  /** Maximum number of keys. Absent or below 1: the maximum of the list. */
  readonly limit?: number
}

/** Maximum number of keys in one response: 100,000 keys make 6 MB. */
export const maxListedKeys = 100_000

export const limitOf = ({ limit = 0 }: KeyPage, maxLimit: number): number =>
  limit < 1 ? maxLimit : Math.min(limit, maxLimit)

/** Returns a page of a list that is in memory, ordered by key. Without `after` and `limit`, it returns the list in its own order. */
export function pageOfKeys<T>(items: readonly T[], keyOf: (item: T) => string, page: KeyPage = {}): readonly T[] {
  const { after = "", limit = 0 } = page
  if (after === "" && limit < 1) return items
  return items
    .filter((item) => keyOf(item) > after)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    .slice(0, limitOf(page, items.length))
}
