// Pages of a list by key, as OpenBao's `after` and `limit`. The key that a page starts after may have been deleted
// (docs/compatibility.md, "Requests to the certificate API").

export interface KeyPage {
  /** What comes after it in the order of the keys; all where it is left out or empty. */
  readonly after?: string
  /** As many as there may be at once where it is left out or below 1. */
  readonly limit?: number
}

/** Keys in one answer, which they make 6 MB long. */
export const keysMaximum = 100_000

export const limitOf = ({ limit = 0 }: KeyPage, maximum: number): number =>
  limit < 1 ? maximum : Math.min(limit, maximum)

/** Of a list that is whole in memory, in the order of its keys; a list that is asked for whole keeps its own order. */
export function pageOfKeys<T>(items: readonly T[], keyOf: (item: T) => string, page: KeyPage = {}): readonly T[] {
  const { after = "", limit = 0 } = page
  if (after === "" && limit < 1) return items
  return items
    .filter((item) => keyOf(item) > after)
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    .slice(0, limitOf(page, items.length))
}
