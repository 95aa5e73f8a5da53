import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { civilTime, instantOf } from "./calendar.ts"
import { DerReader, rejectMalformed } from "./reader.ts"
import { contextPrimitive, tag } from "./tag.ts"
import {
  type Der,
  asciiText,
  bitString,
  context,
  derNull,
  derTrue,
  encode,
  generalizedTime,
  ia5String,
  integer,
  namedBits,
  objectIdentifier,
  octetString,
  primitive,
  printableString,
  sequence,
  setOf,
  time,
  unsignedInteger,
  utf8String,
} from "./writer.ts"

const hex = (der: Der) => Buffer.from(encode(der)).toString("hex")
const reader = (der: Der) => new DerReader(encode(der), "test")
const at = (text: string) => Date.parse(text)

test.each<[string, Der, string]>([
  ["zero", integer(0), "020100"],
  ["127", integer(127), "02017f"],
  ["128, with a sign octet", integer(128), "02020080"],
  ["-1", integer(-1), "0201ff"],
  ["-128", integer(-128n), "020180"],
  ["-129", integer(-129), "0202ff7f"],
  ["2^64", integer(1n << 64n), "0209010000000000000000"],
  ["a magnitude with its high bit set", unsignedInteger(Uint8Array.of(0x80, 1)), "0203008001"],
  ["a magnitude with needless zeros", unsignedInteger(Uint8Array.of(0, 0, 1)), "020101"],
  ["an empty magnitude", unsignedInteger(new Uint8Array()), "020100"],
  ["TRUE", derTrue, "0101ff"],
  ["NULL", derNull, "0500"],
  ["an identifier", objectIdentifier("1.2.840.113549.1.1.11"), "06092a864886f70d01010b"],
  ["the lowest identifier", objectIdentifier("0.0"), "060100"],
  ["an identifier below 2", objectIdentifier("2.999.3"), "0603883703"],
  [
    "the identifier of a UUID",
    objectIdentifier("2.25.329800735698586629295641978511506172918"),
    "0614 69 83f09da7ebcfdee0c7a1a7b2c0948cc8f9d776".replaceAll(" ", ""),
  ],
  ["no bits", namedBits([]), "030100"],
  ["the first bit", namedBits([0]), "03020780"],
  ["digitalSignature and keyAgreement", namedBits([0, 4]), "03020388"],
  ["the ninth bit alone", namedBits([8]), "0303070080"],
  ["bits in any order, twice", namedBits([6, 5, 5]), "03020106"],
  ["octets as bits", bitString(Uint8Array.of(0xab)), "030200ab"],
  ["octets", octetString(Uint8Array.of(0xab)), "0401ab"],
  ["UTF-8", utf8String("é"), "0c02c3a9"],
  ["a PrintableString", printableString("AB"), "13024142"],
  ["an IA5String", ia5String("a@b"), "1603614062"],
  ["text under a tag", asciiText(contextPrimitive(2), "a"), "820161"],
  ["an empty SEQUENCE", sequence([]), "3000"],
  ["a nested SEQUENCE", sequence([sequence([derNull]), derTrue]), "3007300205000101ff"],
  ["an explicit tag", context(3, [derNull]), "a3020500"],
  ["a SET OF in order", setOf([integer(2), derTrue, integer(1)]), "31090101ff020101020102"],
  ["the last year of UTCTime", time(at("2049-12-31T23:59:59Z")), `170d${ascii("491231235959Z")}`],
  ["the first year of UTCTime", time(at("1950-01-01T00:00:00Z")), `170d${ascii("500101000000Z")}`],
  ["the first year after UTCTime", time(at("2050-01-01T00:00:00Z")), `180f${ascii("20500101000000Z")}`],
  ["the last year before UTCTime", time(at("1949-12-31T23:59:59Z")), `180f${ascii("19491231235959Z")}`],
  ["the end of all time", time(at("9999-12-31T23:59:59Z")), `180f${ascii("99991231235959Z")}`],
  ["a time whose milliseconds are dropped", time(at("2026-01-02T03:04:05.999Z")), `170d${ascii("260102030405Z")}`],
  ["a GeneralizedTime of any year", generalizedTime(at("2026-01-02T03:04:05Z")), `180f${ascii("20260102030405Z")}`],
])("writes %s", (_, der, expected) => {
  expect(hex(der)).toBe(expected)
})

function ascii(text: string): string {
  return Buffer.from(text).toString("hex")
}

test.each([127, 128, 255, 256, 65_535, 65_536, 16_777_215, 16_777_216])(
  "the writer encodes a length of %i in as few octets as possible",
  (length) => {
    const written = encode(octetString(new Uint8Array(length)))
    expect(reader(written).octetString("value").length).toBe(length)
  },
)

test("the writer copies content below and above the size that it copies in a loop", () => {
  for (const length of [0, 1, 23, 24, 25, 200]) {
    const content = Uint8Array.from({ length }, (_, index) => index)
    expect(
      reader(sequence([octetString(content)]))
        .sequence("outer")
        .octetString("inner"),
    ).toEqual(content)
  }
})

test.each([
  "",
  "1",
  "1.",
  "3.1",
  "0.40",
  "1.40",
  "2.01",
  "1.2.-3",
  "1.2.x",
  `1.2.${"9".repeat(500)}`,
  `1.2${".99999999".repeat(44)}`,
])("the writer rejects the object identifier %j", (text) => {
  expect(() => objectIdentifier(text)).toThrow(RangeError)
})

test("the writer rejects an instant outside the years 0 to 9999", () => {
  expect(() => time(Date.parse("9999-12-31T23:59:59Z") + 1000)).toThrow(RangeError)
  expect(() => time(-1e15)).toThrow(RangeError)
  expect(() => time(Number.NaN)).toThrow(RangeError)
})

test("the writer rejects text outside ASCII in an IA5String", () => {
  expect(() => ia5String("é")).toThrow(RangeError)
})

describe("the reader returns the written value of", () => {
  const second = { min: at("0000-01-01T00:00:00Z") / 1000, max: at("9999-12-31T23:59:59Z") / 1000 }
  const instants = fc.integer(second).map((value) => value * 1000)
  const arc = fc.oneof(fc.nat(), fc.bigInt({ min: 0n, max: 1n << 130n }))
  const identifiers = fc
    .tuple(fc.nat({ max: 2 }), fc.nat({ max: 39 }), fc.array(arc, { maxLength: 5 }))
    .map(([root, second, rest]) => [root, second, ...rest].join("."))
  const flags = fc.uniqueArray(fc.nat({ max: 20 })).map((bits) => bits.toSorted((a, b) => a - b))
  const ascii = fc.integer({ min: 1, max: 127 }).map((unit) => String.fromCharCode(unit))
  const text = fc.string({ unit: "binary", maxLength: 200 }).filter((value) => !value.includes("\0"))

  /** Pairs a value with its encoding and the function that reads it. */
  const written = <Value>(
    values: fc.Arbitrary<Value>,
    write: (value: Value) => Der,
    read: (reader: DerReader) => unknown,
  ) => values.map((value) => ({ value, der: encode(write(value)), read }))

  test.each([
    [
      "integers",
      written(fc.bigInt({ min: -(1n << 200n), max: 1n << 200n }), integer, (r) => signed(r.integer("value"))),
    ],
    ["small integers", written(fc.nat(), integer, (r) => r.small("value", 0x7fff_ffff))],
    [
      "magnitudes",
      written(
        fc.uint8Array({ minLength: 1, maxLength: 300 }).filter(([first]) => first !== 0),
        unsignedInteger,
        (r) => r.unsigned("value"),
      ),
    ],
    ["identifiers", written(identifiers, objectIdentifier, (r) => r.oid("value"))],
    [
      "identifiers under 2",
      written(
        arc.map((second) => `2.${second}`),
        objectIdentifier,
        (r) => r.oid("value"),
      ),
    ],
    ["flags", written(flags, namedBits, (r) => r.namedBits("value", 21))],
    ["text", written(text, utf8String, (r) => r.string("value"))],
    ["ASCII", written(fc.string({ unit: ascii }), ia5String, (r) => r.string("value"))],
    ["times", written(instants, time, (r) => r.time("value"))],
    ["generalized times", written(instants, generalizedTime, (r) => r.generalizedTime("value"))],
  ])("%s", (_, cases: fc.Arbitrary<{ value: unknown; der: Uint8Array; read: (reader: DerReader) => unknown }>) => {
    fc.assert(
      fc.property(cases, ({ value, der, read }) => {
        const source = new DerReader(der, "test")
        expect(read(source)).toEqual(value)
        expect(source.done).toBe(true)
        rejectMalformed(der, "test")
      }),
    )
  })

  test("octets under any tag", () => {
    const identifiers = fc.nat({ max: 30 }).map(contextPrimitive)
    fc.assert(
      fc.property(identifiers, fc.uint8Array({ maxLength: 70_000 }), (identifier, content) => {
        const octets = primitive(identifier, content)
        expect(reader(octets).content(identifier, "value")).toEqual(content)
        expect(reader(octets).value("value")).toEqual(octets)
      }),
    )
  })

  test("sets", () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (values) => {
        const elements = reader(setOf(values.map(integer))).setOf("set")
        const found: number[] = []
        while (!elements.done) found.push(elements.small("element", 0x7fff_ffff))
        expect(found.toSorted((a, b) => a - b)).toEqual(values.toSorted((a, b) => a - b))
      }),
    )
  })
})

test("civilTime and instantOf convert every second", () => {
  const second = fc.integer({ min: at("0000-01-01T00:00:00Z") / 1000, max: at("9999-12-31T23:59:59Z") / 1000 })
  fc.assert(
    fc.property(second, (value) => {
      expect(instantOf(civilTime(value * 1000))).toBe(value * 1000)
    }),
  )
})

test.each(["2026-02-29", "2100-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00", "0001-02-29"])(
  "instantOf returns undefined for %s",
  (text) => {
    const [year = 0, month = 0, day = 0] = text.split("-").map(Number)
    expect(instantOf({ year, month, day, hour: 0, minute: 0, second: 0 })).toBeUndefined()
  },
)

test("the writer preserves identifier octets in a tree", () => {
  expect(hex(context(0, [primitive(tag.octetString, [1])]))).toBe("a003040101")
})

/** Reads two's complement of any length. */
const signed = (content: Uint8Array): bigint =>
  BigInt.asIntN(content.length * 8, BigInt(`0x${Buffer.from(content).toString("hex")}`))
