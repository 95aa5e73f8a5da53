import { describe, expect, test } from "vitest"
import { z } from "zod"
import { isEngineError } from "../../../core/errors.ts"
import { decodeBody, decodeDocument, decodeList } from "./document.ts"
import { rejectUnstorableQuery, unstorableFaults } from "./storable-text.ts"

function refusal(attempt: () => unknown) {
  try {
    attempt()
  } catch (error) {
    if (isEngineError(error)) return { code: error.code, faults: error.faults }
    throw error
  }
  return undefined
}

describe("unstorable text", () => {
  test("is U+0000 or a lone surrogate, at any position", () => {
    const data: unknown = JSON.parse(String.raw`{"name":"a\u0000","tags":["fine","\ud83d"],"a/b~":"\uDC00"}`)
    expect(unstorableFaults(data, "/data")).toEqual([
      { detail: "name must not contain the character U+0000", pointer: "/data/name" },
      { detail: "1 must not contain an unpaired surrogate", pointer: "/data/tags/1" },
      { detail: "a~1b~0 must not contain an unpaired surrogate", pointer: "/data/a~1b~0" },
    ])
  })

  test.each([String.raw`"\ud83d\ude00"`, String.raw`"\\u0000"`, `"💥"`, `{"__proto__":{"constructor":"x"}}`])(
    "does not include %s",
    (source) => {
      expect(unstorableFaults(JSON.parse(source), "/data")).toEqual([])
    },
  )

  test("is found in values deeper than the stack", () => {
    const nested: unknown = JSON.parse(`${"[".repeat(20_000)}"\\u0000"${"]".repeat(20_000)}`)
    expect(unstorableFaults(nested, "/data")).toHaveLength(1)
  })

  test("is reported up to a maximum of faults", () => {
    const many = Array.from({ length: 5_000 }, () => "\0")
    expect(unstorableFaults(many, "/data")).toHaveLength(100)
  })
})

describe("a document", () => {
  const named = z.object({ attributes: z.object({ name: z.string(), size: z.number() }) })
  const fault = { detail: "name must not contain the character U+0000", pointer: "/data/attributes/name" }

  test("is rejected for unstorable text", () => {
    const body = { data: { type: "things", attributes: { name: "\0", size: 1 } } }
    expect(refusal(() => decodeDocument(body, named, { types: ["things"] }))).toEqual({
      code: "invalid",
      faults: [fault],
    })
  })

  test("is rejected for unstorable text together with its other faults", () => {
    const body = { data: { type: "other", attributes: { name: "\0", size: "large" } } }
    expect(
      refusal(() => decodeDocument(body, named, { types: ["things"] }))?.faults.map(({ pointer }) => pointer),
    ).toEqual(["/data/type", "/data/attributes/size", "/data/attributes/name"])
  })

  test("may contain unstorable text in members that are ignored", () => {
    const body = { data: { type: "things", attributes: { name: "fine", size: 1, unknown: "\0" } } }
    expect(decodeDocument(body, named, { types: ["things"] })).toEqual({ attributes: { name: "fine", size: 1 } })
  })

  test("with a list is rejected for each such element", () => {
    const body = { data: ["a", "\0", "\ud800"].map((id) => ({ type: "things", id })) }
    const identified = z.object({ id: z.string() })
    expect(refusal(() => decodeList(body, identified, { types: ["things"] }))?.faults).toEqual([
      { detail: "id must not contain the character U+0000", pointer: "/data/1/id" },
      { detail: "id must not contain an unpaired surrogate", pointer: "/data/2/id" },
    ])
  })

  test("of another structure is rejected as well", () => {
    expect(refusal(() => decodeBody({ reason: "\0" }, z.object({ reason: z.string() })))?.faults).toEqual([
      { detail: "reason must not contain the character U+0000", pointer: "/reason" },
    ])
  })
})

test("a query is rejected for each such parameter", () => {
  const query = new URLSearchParams("q=a%00&page%5Bsize%5D=1&n%00=x")
  expect(refusal(() => rejectUnstorableQuery(query))).toEqual({
    code: "bad-request",
    faults: [
      { detail: "q must not contain the character U+0000", parameter: "q" },
      { detail: "n must not contain the character U+0000", parameter: "n" },
    ],
  })
})
