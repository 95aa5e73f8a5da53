import { describe, expect, test } from "vitest"
import { seededRandom } from "../../testing/seeded-random.ts"
import {
  assertJsonBounds,
  defaultJsonBounds,
  type JsonBounds,
  JsonBoundsError,
  parseBoundedJson,
} from "./json-bounds.ts"

const none: JsonBounds = {
  depth: 1_000_000,
  members: 1_000_000,
  elements: 1_000_000,
  stringBytes: 1_000_000,
  values: 1_000_000,
}
const problemOf = (text: string, bounds: Partial<JsonBounds>): string | undefined => {
  try {
    assertJsonBounds(Buffer.from(text), { ...none, ...bounds })
    return undefined
  } catch (error) {
    if (error instanceof JsonBoundsError) return error.message
    throw error
  }
}

describe("[F-S1] assertJsonBounds", () => {
  const cases: readonly [text: string, bounds: Partial<JsonBounds>, problem: string | undefined][] = [
    ["[[1]]", { depth: 2 }, undefined],
    ["[[[1]]]", { depth: 2 }, "nests values deeper than 2 levels (at byte 2)"],
    ['{"a":{"b":[1]}}', { depth: 2 }, "nests values deeper than 2 levels (at byte 10)"],
    ["[[],[],[[]]]", { depth: 2 }, "nests values deeper than 2 levels (at byte 8)"],
    ['["[[[[","{{{{"]', { depth: 1 }, undefined],
    ['["\\"[[[","\\\\",[[1]]]', { depth: 2 }, "nests values deeper than 2 levels (at byte 15)"],
    ["[1,2,3]", { elements: 3 }, undefined],
    ["[1,2,3,4]", { elements: 3 }, "has an array with more than 3 elements (at byte 6)"],
    ["[[1,2],[3,4],[5,6]]", { elements: 3 }, undefined],
    ["[[1,2],3,4,5]", { elements: 3 }, "has an array with more than 3 elements (at byte 10)"],
    ['["1,2,3,4"]', { elements: 1 }, undefined],
    ['{"a":1,"b":2}', { members: 2 }, undefined],
    ['{"a":1,"b":[1,2,3],"c":2}', { members: 2 }, "has an object with more than 2 members (at byte 18)"],
    ['{"a":1,"a":2,"a":3}', { members: 2 }, "has an object with more than 2 members (at byte 12)"],
    ['{"a":[1e5,2,3,4]}', { elements: 3 }, "has an array with more than 3 elements (at byte 13)"],
    ["[true,false,null,true]", { elements: 3 }, "has an array with more than 3 elements (at byte 16)"],
    ['"abc"', { stringBytes: 3 }, undefined],
    ['"abcd"', { stringBytes: 3 }, "has a string longer than 3 bytes (at byte 0)"],
    ['{"abcd":1}', { stringBytes: 3 }, "has a string longer than 3 bytes (at byte 1)"],
    ['["ab\\"c"]', { stringBytes: 4 }, "has a string longer than 4 bytes (at byte 1)"],
    ['["éé"]', { stringBytes: 4 }, undefined],
    ["[[[1]]]", { values: 4 }, undefined],
    ["[[[1]]]", { values: 3 }, "has more than 3 values (at byte 4)"],
    ['[[ ],{\n\t},[1],{"a":2}]', { values: 7 }, undefined],
    ['[[ ],{\n\t},[1],{"a":2}]', { values: 6 }, "has more than 6 values (at byte 20)"],
  ]
  test.each(cases)("of %j within %j", (text, bounds, problem) => {
    expect(problemOf(text, bounds)).toBe(problem)
  })

  test("rejects documents that a parser took seconds for", () => {
    for (const [text, problem] of [
      ["[".repeat(8_000_000), "nests values deeper than 300 levels"],
      [`{${Array.from({ length: 200_000 }, (_, index) => `"m${index}":1`).join(",")}}`, "has an object with more than"],
      [`[${"1,".repeat(200_000)}1]`, "has an array with more than"],
      [`["${"a".repeat(3_000_000)}"]`, "has a string longer than"],
      [`[${`[${"[],".repeat(9_000)}[]],`.repeat(100)}1]`, "has more than 500000 values"],
    ] as const)
      expect(problemOf(text, defaultJsonBounds)).toMatch(new RegExp(`^${problem}`))
  })

  test("counts the same values as a parser in any document", () => {
    const random = seededRandom(31)
    for (let round = 0; round < 3_000; round += 1) {
      const text = written(random, 4)
      const { depth, members, elements, stringBytes, values } = measured(text)
      const exact = { depth, members, elements, stringBytes, values }
      // Bounds of at least 1: a document that is shorter than every bound is accepted without a scan.
      const bounds = Object.fromEntries(Object.entries(exact).map(([name, value]) => [name, Math.max(value, 1)]))
      const missed = (Object.keys(exact) as (keyof JsonBounds)[]).filter(
        (name) => exact[name] > 1 && problemOf(text, { [name]: exact[name] - 1 }) === undefined,
      )
      expect({ text, problem: problemOf(text, bounds), missed }).toEqual({ text, problem: undefined, missed: [] })
    }
  })

  test("does not reject text that is not JSON, which the parser rejects", () => {
    const random = seededRandom(32)
    const alphabet = '{}[]",:\\ \n1e-tfnu'
    for (let round = 0; round < 3_000; round += 1) {
      const text = Array.from({ length: 400 }, () => alphabet[draw(random, alphabet.length)]).join("")
      expect(() => parseBoundedJson(Buffer.from(text), defaultJsonBounds)).toThrow(SyntaxError)
    }
  })
})

type Random = ReturnType<typeof seededRandom>
const draw = (random: Random, below: number): number => (random.bytes(2)[0] as number) % below

/** Returns a document with every type of value, blanks and escapes. */
function written(random: Random, depth: number): string {
  const blank = () => ["", "", " ", "\n        ", "\t\r\n", " ".repeat(20)][draw(random, 6)] ?? ""
  const string = () =>
    JSON.stringify(
      Array.from(
        { length: draw(random, 30) },
        () => ["a", '"', "\\", "[", "{", ",", "é", "\n", "]"][draw(random, 9)],
      ).join(""),
    )
  const value = (left: number): string => {
    const count = draw(random, 4)
    switch (draw(random, left > 0 ? 7 : 5)) {
      case 0:
        return string()
      case 1:
        return String([0, -12.5, 1e5, 3e-7][count])
      case 2:
        return "true"
      case 3:
        return "false"
      case 4:
        return "null"
      case 5:
        return `[${blank()}${Array.from({ length: count }, () => `${value(left - 1)}${blank()}`).join(`,${blank()}`)}]`
      default:
        return `{${blank()}${Array.from({ length: count }, () => `${string()}${blank()}:${blank()}${value(left - 1)}${blank()}`).join(`,${blank()}`)}}`
    }
  }
  return `${blank()}[${value(depth)},${value(depth)}]${blank()}`
}

/** Reference implementation that counts character by character. */
function measured(text: string) {
  const bytes = Buffer.from(text)
  const found = { depth: 0, members: 0, elements: 0, stringBytes: 0, values: 0 }
  let at = 0
  const blanks = () => {
    while (" \n\r\t".includes(String.fromCharCode(bytes[at] ?? 0x21))) at += 1
  }
  const string = () => {
    const start = at + 1
    for (at = start; bytes[at] !== 0x22; at += bytes[at] === 0x5c ? 2 : 1);
    found.stringBytes = Math.max(found.stringBytes, at - start)
    at += 1
  }
  const value = (depth: number): void => {
    found.values += 1
    blanks()
    const first = String.fromCharCode(bytes[at] ?? 0)
    if (first === '"') string()
    else if (first === "[" || first === "{") {
      found.depth = Math.max(found.depth, depth + 1)
      let count = 0
      for (at += 1, blanks(); bytes[at] !== 0x5d && bytes[at] !== 0x7d; blanks()) {
        if (bytes[at] === 0x2c) at += 1
        blanks()
        if (first === "{") {
          string()
          blanks()
          at += 1
        }
        value(depth + 1)
        count += 1
      }
      at += 1
      const kind = first === "[" ? "elements" : "members"
      found[kind] = Math.max(found[kind], count)
    } else while (at < bytes.length && !",]} \n\r\t".includes(String.fromCharCode(bytes[at] ?? 0))) at += 1
  }
  value(0)
  return found
}
