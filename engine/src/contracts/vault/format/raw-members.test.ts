import { array, assert, dictionary, integer, json, jsonValue, property, string } from "fast-check"
import { expect, test } from "vitest"
import { rawMembers } from "./raw-members.ts"

test("members are the texts they came as: long numbers, spaces, escapes and depth included", () => {
  const text = ` { "a" : 12345678901234567890.10 ,"b":"x,\\"}\\u00e9", "c":{ "d": [1, {"e":"}"}] } , "f":null,"":1e2 } `
  expect([...(rawMembers(text) ?? [])]).toEqual([
    ["a", "12345678901234567890.10"],
    ["b", '"x,\\"}\\u00e9"'],
    ["c", '{ "d": [1, {"e":"}"}] }'],
    ["f", "null"],
    ["", "1e2"],
  ])
})

test("of a name that comes twice the last counts", () => {
  expect(rawMembers('{"csr":1,"\\u0063sr":2}')).toEqual(new Map([["csr", "2"]]))
})

test.each(["", "1", "[]", "null", "{", '{"a":1', '{"a":1}}', "{a:1}", '"{}"'])("%s is no object", (text) => {
  expect(rawMembers(text)).toBeUndefined()
})

test("a value as deep as a body can hold is no trouble", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000)
  expect(rawMembers(`{"a":${deep}}`)?.get("a")).toBe(deep)
})

test("put together again they are the object that they came from", () => {
  assert(
    property(dictionary(string(), jsonValue()), integer({ min: 0, max: 4 }), (object, indent) => {
      const members = rawMembers(JSON.stringify(object, undefined, indent)) ?? new Map<string, string>()
      const again = `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`
      expect(JSON.parse(again)).toEqual(JSON.parse(JSON.stringify(object)))
    }),
  )
})

test("whatever is no JSON object is refused, and nothing else", () => {
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
