import { array, assert, dictionary, integer, json, jsonValue, property, string } from "fast-check"
import { expect, test } from "vitest"
import { rawMembers } from "./raw-members.ts"

test("rawMembers returns original texts with long numbers, spaces, escapes and nesting", () => {
  const text = ` { "a" : 12345678901234567890.10 ,"b":"x,\\"}\\u00e9", "c":{ "d": [1, {"e":"}"}] } , "f":null,"":1e2 } `
  expect([...(rawMembers(text) ?? [])]).toEqual([
    ["a", "12345678901234567890.10"],
    ["b", '"x,\\"}\\u00e9"'],
    ["c", '{ "d": [1, {"e":"}"}] }'],
    ["f", "null"],
    ["", "1e2"],
  ])
})

test("rawMembers returns the last of two members with one name", () => {
  expect(rawMembers('{"csr":1,"\\u0063sr":2}')).toEqual(new Map([["csr", "2"]]))
})

test.each(["", "1", "[]", "null", "{", '{"a":1', '{"a":1}}', "{a:1}", '"{}"'])("rawMembers rejects %s", (text) => {
  expect(rawMembers(text)).toBeUndefined()
})

test("rawMembers reads a value of any depth", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000)
  expect(rawMembers(`{"a":${deep}}`)?.get("a")).toBe(deep)
})

test("rawMembers returns members that form the same object again", () => {
  assert(
    property(dictionary(string(), jsonValue()), integer({ min: 0, max: 4 }), (object, indent) => {
      const members = rawMembers(JSON.stringify(object, undefined, indent)) ?? new Map<string, string>()
      const again = `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`
      expect(JSON.parse(again)).toEqual(JSON.parse(JSON.stringify(object)))
    }),
  )
})

test("rawMembers returns undefined if and only if the text is not a JSON object", () => {
  assert(
    property(array(json(), { maxLength: 3 }), (texts) => {
      const text = texts.join("")
      expect(rawMembers(text) !== undefined).toBe(isObject(text))
    }),
  )
})

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
