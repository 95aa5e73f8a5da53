import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  integer,
  jsonValue,
  nat,
  oneof,
  property,
  tuple,
} from "fast-check"
import { describe, expect, test } from "vitest"
import { JsonFault, maxJsonDepth, type JsonKind, type JsonPath, JsonReader } from "./json-reader.ts"

/** Reads a document in chunks of these lengths, repeated. */
function read(bytes: Uint8Array, lengths: readonly number[], reader: JsonReader): void {
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const length = Math.max(1, lengths[piece % lengths.length] ?? 1)
    // Each chunk is overwritten after use, as a socket may reuse its buffer.
    const shared = Buffer.from(bytes.slice(at, at + length))
    reader.write(shared)
    shared.fill(0x21)
    at += length
  }
  reader.end()
}

/** Enters every object and array, and collects all values. */
class Everything {
  readonly found: [string, unknown][] = []
  visit(_path: JsonPath, _kind: JsonKind): "enter" {
    return "enter"
  }
  captured(path: JsonPath, value: unknown): void {
    this.found.push([JSON.stringify(path), value])
  }
}

const scalarsOf = (value: unknown, path: readonly (string | number)[] = []): [string, unknown][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, member]) =>
        scalarsOf(member, [...path, Array.isArray(value) ? Number(name) : name]),
      )
    : [[JSON.stringify(path), value]]

const text = new TextEncoder()
const accepts = (bytes: Uint8Array, lengths: readonly number[]): boolean => {
  try {
    read(bytes, lengths, new JsonReader({ visit: () => "skip", captured: () => {} }))
    return true
  } catch (error) {
    if (error instanceof JsonFault) return false
    throw error
  }
}
const parses = (bytes: Uint8Array): boolean => {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

const pieces = array(oneof(integer({ min: 1, max: 9 }), constant(10_000)), { minLength: 1, maxLength: 5 })

describe("a document that arrives in chunks", () => {
  test("has the same values wherever it is split", () => {
    assert(
      property(jsonValue(), boolean(), pieces, (value, spaced, lengths) => {
        const everything = new Everything()
        read(text.encode(JSON.stringify(value, null, spaced ? 2 : 0)), lengths, new JsonReader(everything))
        expect(everything.found).toEqual(scalarsOf(JSON.parse(JSON.stringify(value))))
      }),
    )
  })

  test("is accepted exactly when JSON.parse accepts it, after any mutation", () => {
    const damaged = tuple(
      jsonValue(),
      nat(),
      constantFrom(...Array.from('{}[]":,\\u0eE+-.t \u0001\u00fc'), ""),
      nat({ max: 2 }),
    ).map(([value, at, put, removed]) => {
      const json = JSON.stringify(value)
      const place = at % (json.length + 1)
      return json.slice(0, place) + put + json.slice(place + removed)
    })
    assert(
      property(damaged, pieces, (json, lengths) => {
        const bytes = text.encode(json)
        expect(accepts(bytes, lengths)).toBe(parses(bytes))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    "",
    " ",
    "01",
    "-",
    "-0",
    "1.",
    "1.5e",
    "1E+5",
    "tru",
    "truex",
    "nul",
    '"',
    '"\\x"',
    '"\\u12g4"',
    '"\u0000"',
    "[1,]",
    "[,1]",
    "{,}",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{1:1}",
    "[1}",
    "1 2",
    "[]]",
    '"\\ud800"',
    " [ ] ",
    "\ufeff1",
    "[1 2]",
  ])("%j is accepted or rejected as by JSON.parse", (json) => {
    const bytes = text.encode(json)
    expect(accepts(bytes, [1])).toBe(parses(bytes))
  })

  test.each([[0xff], [0x22, 0xc3, 0x22], [0x22, 0xe2, 0x82]])(
    "bytes that are not UTF-8 are rejected: %j",
    (...bytes) => {
      expect(accepts(Uint8Array.from(bytes.flat()), [1])).toBe(false)
    },
  )

  test("accepts the same characters as a UTF-8 decoder", () => {
    const edges = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]
    const leads = Array.from({ length: 0x80 }, (_, index) => 0x80 + index)
    const sequences = leads.flatMap((lead) => [
      [lead],
      ...edges.flatMap((second) => [
        [lead, second],
        ...[0x7f, 0x80, 0xbf, 0xc0].flatMap((third) => [
          [lead, second, third],
          [lead, second, third, 0x80],
          [lead, second, third, 0xc0],
        ]),
      ]),
    ])
    const agrees = (bytes: Uint8Array) => accepts(bytes, [1]) === parses(bytes)
    expect(sequences.filter((bytes) => !agrees(Uint8Array.from([0x22, ...bytes, 0x22])))).toEqual([])
  })

  test("may be nested up to the bound", () => {
    const nested = (depth: number) => text.encode("[".repeat(depth) + "]".repeat(depth))
    expect([accepts(nested(maxJsonDepth), [64]), accepts(nested(maxJsonDepth + 1), [64])]).toEqual([true, false])
  })
})

describe("a visitor", () => {
  const json = '{ "a": {"b": [1, {"c": "x"}]}, "n": -1.5e2 , "long": "0123456789"}'

  test("receives captured values with their offsets, and the end of entered values", () => {
    const captures: unknown[] = []
    const reader = new JsonReader({
      visit: (path) => (path.length < 2 ? "enter" : "capture"),
      captured: (path, value, { start, end }) => captures.push([path.join("."), value, json.slice(start, end)]),
      left: (path) => captures.push(["left", path.join(".")]),
    })
    read(text.encode(json), [3], reader)
    expect(captures).toEqual([
      ["a.b", [1, { c: "x" }], '[1, {"c": "x"}]'],
      ["left", "a"],
      ["n", -150, "-1.5e2"],
      ["long", "0123456789", '"0123456789"'],
      ["left", ""],
    ])
  })

  test("receives each of many similar texts, in any order", () => {
    // "Aa" and "BB" have the same hash under the common multiply-by-31 hash function.
    const texts = Array.from({ length: 600 }, (_, index) => [
      "Aa",
      "BB",
      "C#",
      `${index % 300}`,
      `é${index % 7}`,
    ]).flat()
    const everything = new Everything()
    read(text.encode(JSON.stringify(texts)), [1_000], new JsonReader(everything))
    expect(everything.found.map(([, value]) => value)).toEqual(texts)
  })

  test.each([[4], [1_000]])("receives undefined for a value over the limit, in chunks of %i bytes", (length) => {
    const captures: unknown[] = []
    const reader = new JsonReader(
      {
        visit: (path) => (path.length === 0 ? "enter" : "capture"),
        captured: (path, value) => captures.push([...path, value]),
      },
      { captureMaximumBytes: 11 },
    )
    read(text.encode(json), [length], reader)
    expect(captures).toEqual([
      ["a", undefined],
      ["n", -150],
      ["long", undefined],
    ])
  })
})
