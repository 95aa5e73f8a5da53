import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import * as types from "../types.ts"
import { decodeAnswer, decodeDocument, encodeMembers, type Kind, kindOf, parameters } from "./parameters.ts"

const [text, flag, integer, duration] = [
  kindOf(types.text),
  kindOf(types.flag),
  kindOf(types.integer),
  kindOf(types.duration),
] as const
const [texts, pairs, instant, anything] = [
  kindOf(types.texts),
  kindOf(types.stringMap),
  kindOf(types.instant),
  kindOf(types.anything),
] as const
const [durationText, durationSeconds] = [kindOf(types.durationText), kindOf(types.seconds)] as const
const textUpTo = (maximumBytes: number) => kindOf(types.textUpTo(maximumBytes))
const word = (...words: readonly string[]) => kindOf(types.enumOf(...words))
const words = (...known: readonly string[]) => kindOf(types.someOf(...known))
const nullable = <T>(type: types.ParameterType<T>) => kindOf(types.nullable(type))
const unsupported = <T>(type: types.ParameterType<T>, remedy?: string) => kindOf(types.unsupported(type, remedy))

type Reading = Pick<Kind<unknown>, "decode" | "expected">

/** Returns the decoded value, or the error text without the parameter's name. */
function read(reading: Reading, given: unknown): unknown {
  const member: Kind<unknown> = { ...reading, encode: (value) => value, type: "string" }
  const { value, faults } = decodeDocument(parameters({ member }), { member: given })
  return faults[0] === undefined ? value.member : { refused: faults[0].detail.replace('"member" ', "") }
}
const refused = (detail: unknown) => ({ refused: detail })

describe("a parameter is decoded", () => {
  test.each<[kind: string, of: Reading, given: unknown, value: unknown]>([
    ["text", text, "a", "a"],
    ["text", text, "", ""],
    ["text", text, 12, "12"],
    ["text", text, true, "true"],
    ["a flag", flag, true, true],
    ["a flag", flag, "true", true],
    ["a flag", flag, "1", true],
    ["a flag", flag, 1, true],
    ["a flag", flag, "T", true],
    ["a flag", flag, "false", false],
    ["a flag", flag, "F", false],
    ["a flag", flag, 0, false],
    ["an integer", integer, 12, 12],
    ["an integer", integer, "12", 12],
    ["an integer", integer, "-1", -1],
    ["a duration", duration, 90, 90_000],
    ["a duration", duration, "90", 90_000],
    ["a duration", duration, "", 0],
    ["a duration", duration, "1h30m", 5_400_000],
    ["a duration", duration, "2160h0m0s", 7_776_000_000],
    ["a duration", duration, "7d", 604_800_000],
    ["a list", texts, ["a", "b,c"], ["a", "b,c"]],
    ["a list", texts, "a, b ,,c", ["a", "b", "c"]],
    ["a list", texts, "", []],
    ["some words", words("a", "b", "c"), ["c", "a"], ["c", "a"]],
    ["some words", words("a", "b", "c"), "b, a", ["b", "a"]],
    ["some words", words("a", "b", "c"), "", []],
    ["a list", texts, [], []],
    ["a list", texts, [1], ["1"]],
    ["pairs", pairs, { a: "b", c: 1 }, { a: "b", c: "1" }],
    ["pairs", pairs, ["a=b", "c=d=e"], { a: "b", c: "d=e" }],
    ["pairs", pairs, "a=b,c=d", { a: "b", c: "d" }],
    ["an instant", instant, "2030-01-31T12:00:00Z", Date.UTC(2030, 0, 31, 12)],
    ["an instant", instant, "9999-12-31T23:59:59Z", Date.UTC(9999, 11, 31, 23, 59, 59)],
    ["an instant", instant, "", null],
    ["a word", word("pem", "der"), "der", "der"],
    ["anything", anything, { a: [1] }, { a: [1] }],
    ["null", nullable(types.text), null, null],
  ])("as %s", (_kind, of, given, value) => {
    expect(read(of, given)).toEqual(value)
  })

  test.each<[kind: string, of: Reading, given: unknown, detail: string]>([
    ["text", text, ["a"], "must be a string"],
    ["text", text, "a\0b", "must not contain the character U+0000"],
    ["text", text, "\ud800", "must not contain an unpaired surrogate"],
    ["text", textUpTo(1_024), "é".repeat(513), "must not be longer than 1 KiB"],
    ["text", text, "a".repeat(65_537), "must not be longer than 64 KiB"],
    ["a flag", flag, "yes", "must be a boolean"],
    ["a flag", flag, 2, "must be a boolean"],
    ["a flag", flag, "", "must be a boolean"],
    ["an integer", integer, 1.5, "must be an integer"],
    ["an integer", integer, "1e3", "must be an integer"],
    ["an integer", integer, 2 ** 60, "must be an integer"],
    ["an integer", integer, true, "must be an integer"],
    ["a duration", duration, -1, 'must be a duration, such as 90, "90s", "1h30m" or "7d"'],
    ["a duration", duration, "1 hour", 'must be a duration, such as 90, "90s", "1h30m" or "7d"'],
    ["a duration", duration, "9007199254740991", 'must be a duration, such as 90, "90s", "1h30m" or "7d"'],
    ["a duration", duration, {}, 'must be a duration, such as 90, "90s", "1h30m" or "7d"'],
    ["a list", texts, { a: 1 }, "must be an array of strings, or a comma-separated string"],
    ["a list", texts, ["a", ["b"]], "must be an array of strings, or a comma-separated string"],
    ["a list", texts, ["a\0"], "must not contain the character U+0000"],
    ["a list", texts, ",a".repeat(100_001), "must not have more than 100000 entries"],
    ["pairs", pairs, ["a"], "must be an object of strings"],
    ["pairs", pairs, { a: {} }, "must be an object of strings"],
    ["pairs", pairs, 1, "must be an object of strings"],
    ["an instant", instant, "2030-02-30T00:00:00Z", 'must be a timestamp, such as "2030-01-31T12:00:00Z"'],
    ["an instant", instant, 1, 'must be a timestamp, such as "2030-01-31T12:00:00Z"'],
    ["a word", word("pem", "der", "pem_bundle"), "PEM", 'must be "pem", "der" or "pem_bundle"'],
    ["some words", words("a", "b"), "a,d", 'must be any of "a" or "b"'],
    ["some words", words("a", "b"), [1], 'must be any of "a" or "b"'],
    ["some words", words("a", "b"), {}, 'must be any of "a" or "b"'],
  ])("unless it is not a valid %s", (_kind, of, given, detail) => {
    expect(read(of, given)).toEqual(refused(detail))
  })

  test("without throwing for any value", () => {
    const kinds: Reading[] = [text, flag, integer, duration, texts, pairs, instant, word("a"), nullable(types.texts)]
    fc.assert(
      fc.property(fc.anything(), fc.constantFrom(...kinds), (given, kind) => {
        expect(() => read(kind, given)).not.toThrow()
      }),
    )
  })
})

const table = parameters(
  { maxTtlMs: duration, expiryMs: durationText, waitMs: durationSeconds, issuerRef: text, isOn: flag },
  { isOn: "enabled" },
)

describe("a table", () => {
  test("decodes members by wire name and lists unknown ones", () => {
    const document = { max_ttl: "1h", issuer_ref: null, enabled: "perhaps", maxTtlMs: 1, constructor: 1 }
    expect(decodeDocument(table, document)).toEqual({
      value: { maxTtlMs: 3_600_000 },
      faults: [{ field: ["isOn"], detail: '"enabled" must be a boolean' }],
      removed: ["issuerRef"],
      ignored: ["maxTtlMs", "constructor"],
    })
  })

  test("encodes durations in the form of each dialect", () => {
    const value = { maxTtlMs: 5_400_000, expiryMs: 5_400_000, waitMs: 5_400_000 }
    expect(encodeMembers(table, value, "native")).toEqual({ max_ttl: "1h30m", expiry: "1h30m", wait: 5_400 })
    expect(encodeMembers(table, value, "vault")).toEqual({ max_ttl: 5_400, expiry: "1h30m", wait: 5_400 })
  })

  test("decodes its own output of either dialect to the same values", () => {
    const whole = fc.record({
      maxTtlMs: fc.nat().map((seconds) => seconds * 1_000),
      expiryMs: fc.nat().map((seconds) => seconds * 1_000),
      waitMs: fc.nat().map((seconds) => seconds * 1_000),
      issuerRef: fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0")),
      isOn: fc.boolean(),
    })
    fc.assert(
      fc.property(whole, fc.constantFrom("native", "vault"), (value, dialect) => {
        expect(decodeAnswer(table, encodeMembers(table, value, dialect))).toEqual(value)
      }),
    )
  })

  test.each([
    ["lacks a member", { max_ttl: 1 }, '"expiry" is missing'],
    ["has one of another kind", { max_ttl: "x" }, '"max_ttl" must be a duration'],
    ["is no object", [], '"data" must be an object'],
  ])("rejects an answer that %s", (_why, document, message) => {
    expect(() => decodeAnswer(table, document)).toThrow(
      expect.objectContaining({ code: "unavailable", message: expect.stringContaining(message) }),
    )
  })
})

describe("[F-W8] an unsupported member", () => {
  const table = parameters({
    version: unsupported(types.text, ": remove it"),
    pinned: unsupported(types.flag),
    names: unsupported(types.texts),
    options: unsupported(types.anything),
  })

  test("is accepted when it is empty", () => {
    for (const document of [{}, { version: "", pinned: false, names: [], options: {} }, { pinned: "false", names: "" }])
      expect(decodeDocument(table, document).faults).toEqual([])
    const nulls = Object.fromEntries([...table.byWireName.keys()].map((name) => [name, null]))
    expect(decodeDocument(table, nulls).faults).toEqual([])
  })

  test("is rejected by name when it has a value", () => {
    const document = { version: "1", pinned: true, names: ["a"], options: { a: 1 } }
    expect(decodeDocument(table, document).faults.map(({ detail }) => detail)).toEqual([
      '"version" is not supported: remove it',
      '"pinned" is not supported',
      '"names" is not supported',
      '"options" is not supported',
    ])
    expect(decodeDocument(table, { version: {} }).faults.map(({ detail }) => detail)).toEqual([
      '"version" must be a string',
    ])
  })
})
