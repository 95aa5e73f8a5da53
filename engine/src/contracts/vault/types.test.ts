import { expect, test } from "vitest"
import { encode } from "../codec.ts"
import {
  duration,
  enumOf,
  integer,
  mapped,
  nullable,
  type ParameterType,
  rejected,
  seconds,
  someOf,
  stringMap,
  stringMapOrNull,
  stringMapText,
  substitute,
  text,
  texts,
  unsupported,
  zeroAsNull,
} from "./types.ts"

const reversed = mapped(
  texts,
  (value) => value.toReversed(),
  (value) => value.toReversed(),
)
const word = enumOf("a", "b")

const read: readonly (readonly [string, ParameterType<unknown>, unknown, unknown])[] = [
  ["seconds", seconds, "1h", 3_600_000],
  ["stringMap of an object", stringMap, { a: "b", c: 1 }, { a: "b", c: "1" }],
  ["stringMap of a list", stringMap, ["a=b=c"], { a: "b=c" }],
  ["stringMap of text", stringMap, "a=b, c=d", { a: "b", c: "d" }],
  ["stringMapOrNull", stringMapOrNull, null, {}],
  ["stringMapText", stringMapText, '{"a":"b"}', { a: "b" }],
  ["enumOf", word, "b", "b"],
  ["someOf", someOf("a", "b"), "b,a", ["b", "a"]],
  ["nullable", nullable(integer), null, null],
  ["mapped", reversed, "a,b", ["b", "a"]],
  ["zeroAsNull of 0", zeroAsNull(seconds), "", null],
  ["zeroAsNull", zeroAsNull(seconds), 2, 2_000],
  ["substitute", substitute(word, "", "a"), "", "a"],
  ["unsupported if empty", unsupported(texts), "", []],
]

test.each(read)("%s decodes a value", (_name, { schema }, given, value) => {
  expect(schema.parse(given)).toEqual(value)
})

const written: readonly (readonly [string, ParameterType<unknown>, unknown, unknown])[] = [
  ["seconds", seconds, 90_000, 90],
  ["stringMapOrNull if empty", stringMapOrNull, {}, null],
  ["stringMapText", stringMapText, { a: "b" }, '{"a":"b"}'],
  ["mapped", reversed, ["a", "b"], ["b", "a"]],
  ["zeroAsNull", zeroAsNull(seconds), null, 0],
  ["substitute", substitute(seconds, "", 0), 3_000, 3],
  ["nullable", nullable(seconds), 3_000, 3],
]

test.each(written)("%s encodes a value", (_name, { schema }, value, document) => {
  expect(encode(schema, value)).toEqual(document)
})

test("nullable and mapped preserve the form for Vault clients", () => {
  expect(nullable(duration).vault?.(60_000)).toBe(60)
  expect(nullable(duration).vault?.(null)).toBeNull()
  expect(zeroAsNull(duration).vault?.(60_000)).toBe(60)
})

test.each([
  ["enumOf", word, "c", 'must be "a" or "b"'],
  ["someOf", someOf("a", "b"), "a,c", 'must be any of "a" or "b"'],
  ["stringMap without a name", stringMap, ["=b"], "must be an object of strings"],
  ["stringMap of text without a value", stringMap, "a", "must be an object of strings"],
  ["unsupported", unsupported(text, ": use b"), "a", "is not supported: use b"],
  ["rejected", rejected(text, "cannot be chosen"), "a", "cannot be chosen"],
] satisfies (readonly [string, ParameterType<unknown>, unknown, string])[])(
  "%s rejects other values",
  (_name, type, given, sentence) => {
    const { schema, expected }: ParameterType<unknown> = type
    const { error } = schema.safeParse(given)
    const [issue] = error?.issues ?? []
    expect(issue?.code === "custom" ? issue.message : `must be ${expected}`).toBe(sentence)
  },
)
