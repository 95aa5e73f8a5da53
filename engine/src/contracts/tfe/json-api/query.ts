// Query parameters. Unknown ones are ignored: public clients send some (docs/compatibility.md, "Query parameters").
import { badRequest } from "../../../core/errors.ts"
import { commaSeparated } from "../../../core/text.ts"
import { defaultPageSize, maximumPageSize, type PageRequest } from "../../../core/page.ts"

/** Decodes the page. Numbers are positive integers; a size above the maximum is reduced to it. */
export function decodePage(query: URLSearchParams): PageRequest {
  const faults = []
  const number = positiveInteger(query.get("page[number]"), 1)
  if (number === undefined)
    faults.push({ detail: "page[number] must be a positive integer", parameter: "page[number]" })
  const size = positiveInteger(query.get("page[size]"), defaultPageSize)
  if (size === undefined) faults.push({ detail: "page[size] must be a positive integer", parameter: "page[size]" })
  if (number === undefined || size === undefined) throw badRequest("The page is not valid.", faults)
  return { number, size: Math.min(size, maximumPageSize) }
}

function positiveInteger(text: string | null, absent: number): number | undefined {
  if (text === null || text === "") return absent
  if (!/^\d{1,15}$/.test(text)) return undefined
  const number = Number(text)
  return number > 0 ? number : undefined
}

/** Decodes `a,b` to `["a", "b"]` without blank items. Returns undefined if the list is absent or empty. */
export function decodeCommaList(text: string | null): string[] | undefined {
  const parts = commaSeparated(text ?? "")
  return parts.length === 0 ? undefined : parts
}

/** Value that matches nothing, because names cannot contain a slash. */
const namesNothing = "/"

/** Returns whether a list can contain the value. Names cannot contain commas either, so other values match nothing. */
const isSayable = (value: string): boolean => value.trim() === value && value !== "" && !value.includes(",")

/** Encodes a list of alternatives for `decodeCommaList`. An empty list becomes a value that matches nothing. */
export function encodeCommaList(values: readonly string[]): string {
  const sayable = values.filter(isSayable)
  return sayable.length === 0 ? namesNothing : sayable.join(",")
}

/** Encodes a list of which every item must match. An empty list filters nothing and is undefined. */
export function encodeEvery(values: readonly string[]): string | undefined {
  if (values.length === 0) return undefined
  return values.every(isSayable) ? values.join(",") : namesNothing
}

export function encodePageRequest(page: PageRequest): [string, string][] {
  return [
    ["page[number]", String(page.number)],
    ["page[size]", String(page.size)],
  ]
}
