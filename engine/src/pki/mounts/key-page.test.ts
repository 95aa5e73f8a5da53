import { expect, test } from "vitest"
import { type KeyPage, limitOf, pageOfKeys } from "./key-page.ts"

const items = ["d", "a", "c", "b"].map((key) => ({ key }))

test.each<{ page: KeyPage; keys: string; why: string }>([
  { page: {}, keys: "dacb", why: "the whole list keeps its order" },
  { page: { after: "", limit: 0 }, keys: "dacb", why: "no limit" },
  { page: { limit: -1 }, keys: "dacb", why: "a limit below one is ignored" },
  { page: { limit: 2 }, keys: "ab", why: "a page is sorted by key" },
  { page: { after: "b", limit: 1 }, keys: "c", why: "it continues after the given key" },
  { page: { after: "bb" }, keys: "cd", why: "the given key need not exist" },
  { page: { after: "d" }, keys: "", why: "nothing follows the last key" },
  { page: { limit: 9 }, keys: "abcd", why: "the limit exceeds the list" },
])("page $page returns $keys: $why", ({ page, keys }) => {
  expect(pageOfKeys(items, ({ key }) => key, page).map(({ key }) => key)).toEqual(keys.split(""))
})

test.each([
  { limit: undefined, count: 10 },
  { limit: 0, count: 10 },
  { limit: -3, count: 10 },
  { limit: 7, count: 7 },
  { limit: 11, count: 10 },
])("a limit of $limit gives $count when the maximum is 10", ({ limit, count }) => {
  expect(limitOf(limit === undefined ? {} : { limit }, 10)).toBe(count)
})
