import { expect, test } from "vitest"
import { type KeyPage, limitOf, pageOfKeys } from "./key-page.ts"

const items = ["d", "a", "c", "b"].map((key) => ({ key }))

test.each<{ page: KeyPage; keys: string; why: string }>([
  { page: {}, keys: "dacb", why: "the whole list has its own order" },
  { page: { after: "", limit: 0 }, keys: "dacb", why: "nothing is asked for" },
  { page: { limit: -1 }, keys: "dacb", why: "less than one is no limit" },
  { page: { limit: 2 }, keys: "ab", why: "a page is in the order of its keys" },
  { page: { after: "b", limit: 1 }, keys: "c", why: "it goes on after the one that is given" },
  { page: { after: "bb" }, keys: "cd", why: "which need not be there" },
  { page: { after: "d" }, keys: "", why: "the last has nothing after it" },
  { page: { limit: 9 }, keys: "abcd", why: "there are no more" },
])("of $page there is $keys: $why", ({ page, keys }) => {
  expect(pageOfKeys(items, ({ key }) => key, page).map(({ key }) => key)).toEqual(keys.split(""))
})

test.each([
  { limit: undefined, count: 10 },
  { limit: 0, count: 10 },
  { limit: -3, count: 10 },
  { limit: 7, count: 7 },
  { limit: 11, count: 10 },
])("of at most 10, a limit of $limit gives $count", ({ limit, count }) => {
  expect(limitOf(limit === undefined ? {} : { limit }, 10)).toBe(count)
})
