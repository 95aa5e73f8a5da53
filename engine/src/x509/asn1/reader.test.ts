import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MalformedDer } from "./malformed-der.ts"
import { DerReader, maxDepth, rejectMalformed } from "./reader.ts"
import { tag } from "./tag.ts"
import { type Der, context, encode, integer, octetString, primitive, sequence, utf8String } from "./writer.ts"

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"))
const ascii = (text: string) => Buffer.from(text).toString("hex")
const reader = (hex: string) => new DerReader(bytes(hex), "test")

type Read = (reader: DerReader) => unknown
const asInteger: Read = (source) => source.integer("field")
const asUnsigned: Read = (source) => source.unsigned("field")
const asSmall: Read = (source) => source.small("field", 255)
const asBoolean: Read = (source) => source.boolean("field")
const asFlag: Read = (source) => source.flag("field")
const asOid: Read = (source) => source.oid("field")
const asBits: Read = (source) => source.bitString("field")
const asFlags: Read = (source) => source.namedBits("field", 9)
const asNull: Read = (source) => source.null("field")
const asString: Read = (source) => source.string("field")
const asTime: Read = (source) => source.time("field")
const asGeneralizedTime: Read = (source) => source.generalizedTime("field")
const asSet: Read = (source) => source.setOf("field")
const asOctets: Read = (source) => source.octetString("field")
const asValue: Read = (source) => source.value("field")

test.each<[string, string, Read, string]>([
  ["nothing at all", "", asInteger, "is missing"],
  ["another tag", "0401ff", asInteger, "has the tag 0x04 instead of 0x02"],
  ["a lone identifier", "02", asInteger, "is truncated"],
  ["content that ends early", "020201", asInteger, "is truncated"],
  ["a length that ends early", "0282", asInteger, "is truncated"],
  ["an indefinite length", "24800401000000", asValue, "has an indefinite length"],
  ["a length in needless form", "04810100", asOctets, "not minimal"],
  ["a length with a leading zero", "0482007f", asOctets, "not minimal|truncated"],
  ["a length of five octets", "04850000000001", asOctets, "more than 4 octets"],
  ["a length of 127 octets", "04ff", asOctets, "more than 4 octets"],
  ["a length of 4 GiB", "0484ffffffff00", asOctets, "is truncated"],
  ["a high tag number", "1f0100", asValue, "tag number above 30"],
  ["an empty INTEGER", "0200", asInteger, "without content"],
  ["an INTEGER with a needless zero", "0202007f", asInteger, "not minimal"],
  ["an INTEGER with a needless sign", "0202ff80", asInteger, "not minimal"],
  ["a negative magnitude", "020180", asUnsigned, "is negative"],
  ["a number above its bound", "02020100", asSmall, "is not between 0 and 255"],
  ["a negative number", "0201ff", asSmall, "is not between 0 and 255"],
  ["a number of nine octets", "0209010000000000000000", asSmall, "is not between 0 and 255"],
  ["a BOOLEAN that is neither", "010101", asBoolean, "is not a valid BOOLEAN"],
  ["a BOOLEAN of two octets", "0102ffff", asBoolean, "is not a valid BOOLEAN"],
  ["a default written out", "010100", asFlag, "contains its default value"],
  ["an empty identifier", "0600", asOid, "is not a valid object identifier"],
  ["an identifier that ends inside an arc", "06022a86", asOid, "is not a valid object identifier"],
  ["an arc with a leading zero", "06032a8001", asOid, "is not a valid object identifier"],
  ["an identifier that is too long", `068180${"01".repeat(128)}`, asOid, "is not a valid object identifier"],
  ["a BIT STRING without content", "0300", asBits, "does not contain whole octets"],
  ["a BIT STRING of single bits", "03020780", asBits, "does not contain whole octets"],
  ["flags without content", "0300", asFlags, "is not a valid BIT STRING"],
  ["flags with eight unused bits", "03020880", asFlags, "is not a valid BIT STRING"],
  ["no flags with unused bits", "030107", asFlags, "is not a valid BIT STRING"],
  ["flags with trailing zeros", "03020080", asFlags, "trailing zero bits"],
  ["flags with padding", "03020181", asFlags, "trailing zero bits or padding"],
  ["no flag in an octet", "03020700", asFlags, "trailing zero bits"],
  ["unknown flags", "0303060040", asFlags, "has more than 9 bits"],
  ["NULL with content", "050100", asNull, "NULL with content"],
  ["overlong UTF-8", "0c02c080", asString, "is not valid UTF-8"],
  ["half of a surrogate pair", "0c03eda080", asString, "is not valid UTF-8"],
  ["UTF-8 that ends early", "0c01c3", asString, "is not valid UTF-8"],
  ["U+0000 in UTF-8", "0c0100", asString, "contains U\\+0000"],
  ["U+0000 after other letters", "0c03c3a900", asString, "UTF-8"],
  ["an asterisk in a PrintableString", `1301${ascii("*")}`, asString, "not allowed in a PrintableString"],
  ["a letter outside ASCII in an IA5String", "1601e9", asString, "not allowed in a IA5String"],
  ["U+0000 in an IA5String", "160100", asString, "not allowed in a IA5String"],
  ["a control character in a VisibleString", "1a010a", asString, "not allowed in a VisibleString"],
  ["half a character in a BMPString", "1e0100", asString, "characters of 2 octets"],
  ["a surrogate in a BMPString", "1e02d83d", asString, "an invalid character"],
  ["a UniversalString past U+10FFFF", "1c0400110000", asString, "an invalid character"],
  ["a number where text is wanted", "020100", asString, "is not a character string"],
  ["no text at all", "", asString, "is not a character string"],
  ["a UTCTime without seconds", `170b${ascii("2601020304Z")}`, asTime, "is not a valid UTCTime"],
  ["a UTCTime with an offset", `1711${ascii("260102030405+0000")}`, asTime, "is not a valid UTCTime"],
  ["a UTCTime with a lower-case z", `170d${ascii("260102030405z")}`, asTime, "is not a valid UTCTime"],
  ["a UTCTime with a space", `170d${ascii("26010203040 Z")}`, asTime, "is not a valid UTCTime"],
  ["30 February", `170d${ascii("260230000000Z")}`, asTime, "is not a valid date"],
  ["hour 24", `170d${ascii("260101240000Z")}`, asTime, "is not a valid date and time"],
  ["a leap second", `170d${ascii("161231235960Z")}`, asTime, "is not a valid date and time"],
  ["a GeneralizedTime of 2049", `180f${ascii("20491231235959Z")}`, asTime, "must be a UTCTime"],
  ["a GeneralizedTime with a fraction", `1811${ascii("20500101000000.5Z")}`, asTime, "is not a valid GeneralizedTime"],
  [
    "a GeneralizedTime without Z",
    `180e${ascii("20500101000000")}`,
    asGeneralizedTime,
    "is not a valid GeneralizedTime",
  ],
  ["an INTEGER for a time", "020100", asTime, "has the tag 0x02"],
  ["a SET OF in the wrong order", "3106020102020101", asSet, "in the wrong order"],
  ["a SET OF whose second element is truncated", "3105020101 0202", asSet, "is truncated"],
  ["an end-of-contents", "0000", asValue, "which is not allowed in a certificate"],
  ["a string in pieces", "2403040100", asValue, "which is not allowed in a certificate"],
  ["a primitive SEQUENCE", "3002 1000", asValue, "which is not allowed in a certificate"],
  ["a part with an indefinite length", "3004 3080 0000", asValue, "has an indefinite length"],
  ["a part longer than the whole", "3003 040201", asValue, "is truncated"],
  ["a part that is a malformed BOOLEAN", "3003 010101", asValue, "malformed BOOLEAN"],
  ["a part that is an empty INTEGER", "3002 0200", asValue, "not minimal"],
  ["a part that is a needlessly long INTEGER", "3004 02020001", asValue, "not minimal"],
  ["a part that is not a NULL", "3003 050100", asValue, "NULL with content"],
  ["a part that is not an identifier", "3002 0600", asValue, "malformed OBJECT IDENTIFIER"],
  ["a part that is not a UTCTime", `300f 170d${ascii("261301000000Z")}`, asValue, "malformed time"],
  ["a part that is not a GeneralizedTime", `3013 1811${ascii("20260101000000.0Z")}`, asValue, "malformed time"],
  ["a part of a type that no certificate has", "3003 0d0101", asValue, "which is not allowed in a certificate"],
  ["a part that is not valid UTF-8", "3003 0c01ff", asValue, "malformed UTF-8"],
  ["a part that is half a character", "3003 1e0100", asValue, "ends inside a character"],
  ["a part that is a quarter of a character", "3003 1c0100", asValue, "ends inside a character"],
  ["a part that is not a valid BIT STRING", "3003 030101", asValue, "malformed BIT STRING"],
])("the reader rejects %s", (_, hex, read, problem) => {
  expect(() => read(reader(hex))).toThrow(MalformedDer)
  expect(() => read(reader(hex))).toThrow(new RegExp(`^test: field (.* )?(${problem})`))
})

test("an error names the document, the field and the position", () => {
  const outer = reader("3005 020101 0202").sequence("outer")
  outer.integer("first")
  const read = () => outer.integer("second")
  expect(read).toThrow(expect.objectContaining({ document: "test", field: "second", offset: 5 }))
  expect(read).toThrow("test: second is truncated (byte 5)")
})

test("the reader rejects octets after the last value", () => {
  const source = reader("020101 00")
  source.integer("field")
  expect(() => source.finish("field")).toThrow("followed by extra octets")
})

test.each<[string, string, string]>([
  ["Latin-1 in a TeletexString", "1401e9", "é"],
  ["a BMPString", "1e04004120ac", "A€"],
  ["a UniversalString", "1c040001f600", "😀"],
  ["a VisibleString", `1a02${ascii("ok")}`, "ok"],
  ["an empty string", "0c00", ""],
])("reads %s", (_, hex, text) => {
  expect(reader(hex).string("field")).toBe(text)
})

test("the reader returns false for an absent default, and true for true", () => {
  expect(reader("").flag("field")).toBe(false)
  expect(reader("0101ff").flag("field")).toBe(true)
})

test("the reader finds optional members by their tag", () => {
  const source = new DerReader(encode(sequence([context(1, [integer(5)])])), "test").sequence("outer")
  expect(source.optional(0, "zero")).toBeUndefined()
  expect(source.optional(1, "one")?.small("inner", 10)).toBe(5)
  expect(source.optional(2, "two")).toBeUndefined()
  expect(source.done).toBe(true)
})

test("views are plain arrays over the input, also when it is a Buffer", () => {
  const pooled = Buffer.from("3003040161", "hex")
  const content = new DerReader(pooled, "test").sequence("outer").octetString("inner")
  expect(content.constructor).toBe(Uint8Array)
  expect(content.buffer).toBe(pooled.buffer)
  expect([...content]).toEqual([0x61])
})

describe("rejectMalformed", () => {
  const nested = (levels: number): Der => (levels === 0 ? integer(1) : sequence([nested(levels - 1)]))

  test("accepts nesting up to the bound only", () => {
    const read = (levels: number) => new DerReader(encode(nested(levels)), "test").value("field")
    expect(read(maxDepth).length).toBeGreaterThan(maxDepth)
    expect(() => read(maxDepth + 1)).toThrow("levels deep")
  })

  test("counts the levels that the reader entered before", () => {
    let source = new DerReader(encode(nested(maxDepth + 1)), "test")
    for (let level = 0; level < maxDepth; level += 1) source = source.sequence("field")
    expect(() => source.sequence("field")).toThrow("levels deep")
    expect(() => source.value("field")).toThrow("levels deep")
  })

  test("stops at the bound with thousands of levels", () => {
    let hostile = encode(integer(1))
    while (hostile.length < 60_000) hostile = encode(sequence([hostile]))
    expect(() => rejectMalformed(hostile, "test")).toThrow("levels deep")
  })
})

test("the reader reads random octets or throws UnacceptableInput", () => {
  const octet = fc.constantFrom(0x00, 0x01, 0x02, 0x03, 0x06, 0x30, 0x31, 0x80, 0x81, 0x82, 0xa0, 0xff)
  const hostile = fc.array(fc.oneof(octet, fc.nat({ max: 255 })), { maxLength: 60 })
  const reads = [asInteger, asUnsigned, asSmall, asBoolean, asOid, asBits, asFlags, asNull, asString, asTime, asSet]
  expect(() =>
    fc.assert(
      fc.property(hostile, fc.constantFrom(...reads, asOctets, asValue), (octets, read) =>
        isReadOrRefused(() => read(new DerReader(Uint8Array.from(octets), "test"))),
      ),
      { numRuns: 5_000 },
    ),
  ).not.toThrow()
})

function isReadOrRefused(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    return error instanceof MalformedDer
  }
}

test("the reader rejects a value that is truncated at any octet", () => {
  const whole = encode(sequence([integer(1n << 100n), utf8String("grüezi"), octetString(primitive(tag.null, []))]))
  for (let length = 0; length < whole.length; length += 1)
    expect(() => rejectMalformed(whole.subarray(0, length), "test")).toThrow(MalformedDer)
  expect(() => rejectMalformed(whole, "test")).not.toThrow()
  expect(() => rejectMalformed(Uint8Array.of(...whole, 0), "test")).toThrow("followed by extra octets")
})
