import { expect, test } from "vitest"
import { contentBytesOf, layoutOf } from "./output-layout.ts"

test.each([
  { what: "text", value: "eu-west-1", text: "eu-west-1" },
  { what: "text that looks like JSON", value: '{"a":1}', text: '{"a":1}' },
  { what: "no text", value: "", text: "" },
  { what: "a number", value: 3, text: "3" },
  { what: "a truth", value: true, text: "true" },
  { what: "nothing", value: null, text: "null" },
  { what: "a list", value: ["a", 1], text: '["a",1]' },
  { what: "an object", value: { a: { b: null } }, text: '{"a":{"b":null}}' },
])("the output $what is published as $text", ({ value, text }) => {
  for (const sensitive of [false, true]) {
    const { plain, sensitive: hidden, unfit } = layoutOf([{ name: "x", sensitive, value }])
    expect(sensitive ? hidden : plain).toEqual({ x: text })
    expect(sensitive ? plain : hidden).toEqual({})
    expect(unfit).toEqual([])
  }
})

test.each([
  { names: ["vpc_id"], keys: ["vpc_id"], unfit: [] },
  { names: ["with-dash"], keys: ["with-dash"], unfit: [] },
  { names: ["größe"], keys: ["gr__e"], unfit: [] },
  { names: ["名前"], keys: ["__"], unfit: [] },
  { names: ["𝒳"], keys: ["_"], unfit: [] },
  { names: ["k".repeat(253)], keys: ["k".repeat(253)], unfit: [] },
  { names: ["k".repeat(254)], keys: [], unfit: ["k".repeat(254)] },
  { names: [""], keys: [], unfit: [""] },
  { names: ["."], keys: [], unfit: ["."] },
  { names: ["..a"], keys: [], unfit: ["..a"] },
  { names: [".a"], keys: [".a"], unfit: [] },
  // Both names map to the same key, so neither is published.
  { names: ["gröe", "gräe", "other"], keys: ["other"], unfit: ["gräe", "gröe"] },
  { names: ["gr_e", "gröe"], keys: [], unfit: ["gr_e", "gröe"] },
  { names: ["__proto__"], keys: ["__proto__"], unfit: [] },
])("outputs of the names $names have the keys $keys", ({ names, keys, unfit }) => {
  const layout = layoutOf(names.map((name) => ({ name, sensitive: false, value: name })))
  expect(Object.keys(layout.plain)).toEqual(keys)
  expect(layout.unfit).toEqual(unfit)
})

test("a sensitive and a plain output may share a key, because they are in two objects", () => {
  const { plain, sensitive, unfit } = layoutOf([
    { name: "gröe", sensitive: true, value: "1" },
    { name: "gräe", sensitive: false, value: "2" },
  ])
  expect([plain, sensitive, unfit]).toEqual([{ gr_e: "2" }, { gr_e: "1" }, []])
})

test("the content size is the bytes of all values, as in the API server", () => {
  expect(contentBytesOf({ name: "ü", other: "abc" })).toBe(5)
})
