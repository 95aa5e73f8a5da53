import { mapPage, type Page, totalPages } from "../../../core/page.ts"
import type { Document } from "./document.ts"

/** Encodes a page with absolute links and `meta.pagination`. `url` is the absolute URL of the request. */
export function encodePage<T>(
  page: Page<T>,
  encode: (item: T) => unknown,
  url: URL,
  included?: readonly unknown[],
): Document {
  const pages = totalPages(page)
  const next = page.number < pages ? page.number + 1 : null
  const previous = page.number > 1 ? page.number - 1 : null
  const link = (number: number | null) => (number === null ? null : pageUrl(url, number, page.size))
  return {
    data: mapPage(page, encode).items,
    ...(included === undefined ? {} : { included }),
    links: {
      self: link(page.number),
      first: link(1),
      prev: link(previous),
      next: link(next),
      last: link(pages),
    },
    meta: {
      pagination: {
        "current-page": page.number,
        "page-size": page.size,
        "prev-page": previous,
        "next-page": next,
        "total-pages": pages,
        "total-count": page.totalCount,
      },
    },
  }
}

function pageUrl(url: URL, number: number, size: number): string {
  const page = new URL(url)
  page.searchParams.set("page[number]", String(number))
  page.searchParams.set("page[size]", String(size))
  return page.href
}
