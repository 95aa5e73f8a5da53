import { describe, expect, test } from "vitest"
import { decodeCommaList, decodePage } from "./query.ts"

describe("a page", () => {
  test.each([
    { query: "", number: 1, size: 20, why: "both parameters have defaults" },
    { query: "page[number]=3&page[size]=50", number: 3, size: 50, why: "both parameters are set" },
    { query: "page%5Bnumber%5D=2", number: 2, size: 20, why: "brackets may be percent-encoded" },
    { query: "page[size]=1000", number: 1, size: 100, why: "larger sizes are reduced to the maximum" },
    { query: "page[number]=", number: 1, size: 20, why: "an empty value means absent" },
  ])("of '$query' is $number by $size: $why", ({ query, number, size }) => {
    expect(decodePage(new URLSearchParams(query))).toEqual({ number, size })
  })

  test.each(["0", "-1", "1.5", "x", "1e3", "99999999999999999999"])(
    "number %s is rejected with its parameter",
    (text) => {
      const query = new URLSearchParams({ "page[number]": text, "page[size]": text })
      const faults = ["page[number]", "page[size]"].map((parameter) => expect.objectContaining({ parameter }))
      expect(() => decodePage(query)).toThrow(expect.objectContaining({ code: "bad-request", faults }))
    },
  )
})

test.each([
  { text: null, expected: undefined },
  { text: "", expected: undefined },
  { text: "a", expected: ["a"] },
  { text: "a, b,,c", expected: ["a", "b", "c"] },
])("the comma list '$text' reads as $expected", ({ text, expected }) => {
  expect(decodeCommaList(text)).toEqual(expected)
})
