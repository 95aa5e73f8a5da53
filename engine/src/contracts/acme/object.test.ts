import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import { readObject } from "./object.ts"

const read = (text: string) => readObject(Buffer.from(text), "The body")

describe("a JSON object of a request", () => {
  test.each(["[]", "null", "7", '"a"', "", "{", '{"a":1}{}', '{"a":1,}'])("%s is none, and is refused", (text) => {
    expect(() => read(text)).toThrow("The body is not a JSON object.")
  })

  test("is rejected in an encoding other than UTF-8", () => {
    expect(() => readObject(Uint8Array.of(0x7b, 0xff, 0x7d), "The body")).toThrow("The body is not valid UTF-8.")
  })

  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{ "a" : 1 , "b" : { "c" : [ { "d" : 1 , "d" : 2 } ] } }',
    '{"jwk":{"kty":"EC","kty":"RSA"}}',
    '{"__proto__":1,"__proto__":2}',
    '{"\\\\":1,"\\\\":2}',
  ])("%s is rejected for a duplicate member", (text) => {
    expect(() => read(text)).toThrow("The body contains a member twice.")
  })

  test.each([
    "{}",
    '{"a":":","b":"\\":{","c\\\\":[1,":",{}],"d":{"a":null}}',
    '{"url":"https://ca.example:8200/v1/pki"}',
    '{"__proto__":{"a":1}}',
  ])("%s is read unchanged", (text) => {
    expect(read(text)).toEqual(JSON.parse(text))
  })

  test("is read as written with any content", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (object, isSpaced) => {
        const text = JSON.stringify(object, null, isSpaced ? 2 : 0)
        expect(read(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test("[F-S1] is malformed when it nests deeper than 16 levels", () => {
    const nested = (depth: number) => read(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`)
    expect(Object.keys(nested(15))).toEqual(["a"])
    expect(() => nested(16)).toThrow("The body nests values deeper than 16 levels")
  })
})
