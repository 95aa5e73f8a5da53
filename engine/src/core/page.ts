/** Requested page. Both numbers are positive integers, `size` is at most `maximumPageSize`. */
export interface PageRequest {
  readonly number: number
  readonly size: number
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly number: number
  readonly size: number
  readonly totalCount: number
}

export const defaultPageSize = 20
export const maximumPageSize = 100
export const firstPage: PageRequest = { number: 1, size: defaultPageSize }

export const offsetOf = (page: PageRequest): number => (page.number - 1) * page.size

export const pageOf = <T>(items: readonly T[], request: PageRequest, totalCount: number): Page<T> => ({
  items,
  number: request.number,
  size: request.size,
  totalCount,
})

export const mapPage = <T, U>(page: Page<T>, change: (item: T) => U): Page<U> => ({
  ...page,
  items: page.items.map(change),
})

/** Returns at least 1: an empty list has one empty page. */
export const totalPages = (page: { readonly size: number; readonly totalCount: number }): number =>
  Math.max(1, Math.ceil(page.totalCount / page.size))
