import { describe, expect, test } from "vitest"
import { oids } from "./asn1/oids.ts"
import { objectIdentifier, encode, primitive, sequence, setOf } from "./asn1/writer.ts"
import { type DistinguishedName, encodeName, formatName, nameViolations, parseName, sameName } from "./name.ts"

const hex = (octets: Uint8Array) => Buffer.from(octets).toString("hex")
const text = (value: string) => Buffer.from(value).toString("hex")
const one = (type: string, value: string): DistinguishedName => [[{ type, value }]]

const example: DistinguishedName = [
  [{ type: oids.countryName, value: "CH" }],
  [{ type: oids.organizationName, value: "Exämple" }],
  [{ type: oids.commonName, value: "example.com" }],
]

describe("attribute values are encoded as the string types that their attributes require", () => {
  test.each([
    { type: oids.commonName, value: "example.com", octets: `130b${text("example.com")}`, why: "printable letters" },
    { type: oids.commonName, value: "*.example.com", octets: `0c0d${text("*.example.com")}`, why: "an asterisk" },
    { type: oids.commonName, value: "a&b", octets: `0c03${text("a&b")}`, why: "an ampersand" },
    { type: oids.commonName, value: "jo@example.com", octets: `0c0e${text("jo@example.com")}`, why: "an at sign" },
    { type: oids.organizationName, value: "Zoë", octets: `0c04${text("Zoë")}`, why: "a letter outside ASCII" },
    { type: oids.countryName, value: "CH", octets: `1302${text("CH")}`, why: "a country" },
    { type: oids.serialNumber, value: "A-1", octets: `1303${text("A-1")}`, why: "a serial number" },
    { type: oids.emailAddress, value: "a@b", octets: `1603${text("a@b")}`, why: "a mailbox" },
    { type: oids.domainComponent, value: "com", octets: `1603${text("com")}`, why: "a domain component" },
    { type: oids.domainComponent, value: "é", octets: `0c02${text("é")}`, why: "what its type cannot hold" },
    { type: oids.userId, value: "u_1", octets: `0c03${text("u_1")}`, why: "an underscore" },
    { type: "1.2.3.4", value: "x", octets: `1301${text("x")}`, why: "an unknown type" },
  ])("$why", ({ type, value, octets }) => {
    const encoded = encodeName(one(type, value))
    expect(hex(encoded)).toContain(octets)
    expect(parseName(encoded)).toEqual(one(type, value))
  })
})

test("a name is a SEQUENCE of SETs, the root first", () => {
  const country = "310b3009060355040613024348"
  const organization = `3111300f060355040a0c08${text("Exämple")}`
  const commonName = `311430120603550403130b${text("example.com")}`
  expect(hex(encodeName(example))).toBe(`3036${country}${organization}${commonName}`)
  expect(hex(encodeName([]))).toBe("3000")
})

test("the attributes of one relative name are sorted by their octets", () => {
  const name: DistinguishedName = [
    [
      { type: oids.organizationalUnitName, value: "b" },
      { type: oids.commonName, value: "long enough" },
      { type: oids.organizationalUnitName, value: "a" },
    ],
  ]
  expect(parseName(encodeName(name))).toEqual([[name[0]?.[2], name[0]?.[0], name[0]?.[1]]])
})

describe("the name reader rejects", () => {
  const value = (octets: Uint8Array) =>
    encode(sequence([setOf([sequence([objectIdentifier(oids.commonName), octets])])]))

  test.each([
    ["an INTEGER for a value", value(primitive(0x02, [1])), "commonName is not a character string"],
    ["malformed UTF-8", value(primitive(0x0c, [0xff])), "commonName is not valid UTF-8"],
    ["a VisibleString", value(primitive(0x1a, [65])), "commonName is a VisibleString, which is not allowed in names"],
    ["an empty relative name", encode(sequence([setOf([])])), "a relative name without attributes"],
    ["a value followed by another", value(Uint8Array.of(0x0c, 1, 65, 5, 0)), "followed by extra octets"],
    ["octets after the name", Uint8Array.of(0x30, 0, 0), "followed by extra octets"],
    ["no name at all", new Uint8Array(), "is missing"],
  ])("%s", (_, der, problem) => {
    expect(() => parseName(der)).toThrow(problem)
  })

  test("attributes in the wrong order", () => {
    const element = (letter: string) =>
      sequence([objectIdentifier(oids.commonName), primitive(0x0c, Buffer.from(letter))])
    const der = Buffer.from(encode(sequence([setOf([element("a"), element("b")])])))
    expect(() => parseName(der)).not.toThrow()
    der.writeUInt8(0x63, der.indexOf(0x61))
    expect(() => parseName(der)).toThrow("is a SET OF in the wrong order")
  })
})

describe("violations", () => {
  test.each([
    [oids.commonName, "a".repeat(64), []],
    [oids.commonName, "😀".repeat(64), []],
    [oids.commonName, "a".repeat(65), ["is longer than 64 characters"]],
    [oids.commonName, "", ['commonName "" is empty']],
    [oids.commonName, "a\0b", ["contains characters that are not allowed in certificates"]],
    [oids.commonName, "\ud800", ["contains characters that are not allowed in certificates"]],
    [oids.organizationName, "a".repeat(65), ["organizationName", "longer than 64"]],
    [oids.organizationalUnitName, "a".repeat(65), ["longer than 64"]],
    [oids.localityName, "a".repeat(129), ["longer than 128"]],
    [oids.stateOrProvinceName, "a".repeat(129), ["longer than 128"]],
    [oids.streetAddress, "a".repeat(129), ["longer than 128"]],
    [oids.postalCode, "1".repeat(41), ["longer than 40"]],
    [oids.serialNumber, "1".repeat(65), ["longer than 64"]],
    [oids.serialNumber, "a_b", ["has characters other than letters, digits"]],
    [oids.dnQualifier, "a_b", ["has characters other than letters, digits"]],
    [oids.countryName, "CH", []],
    [oids.countryName, "CHE", ['countryName "CHE" is not two letters']],
    [oids.countryName, "C1", ["is not two letters"]],
    [oids.emailAddress, `a@${"b".repeat(254)}`, ["longer than 255"]],
    [oids.emailAddress, "zoë@example.com", ["has characters outside ASCII"]],
    [oids.domainComponent, "zoë", ["has characters outside ASCII"]],
    ["1.2.3.4", "a".repeat(1000), []],
    ["1.2.3.4", "", ['1.2.3.4 "" is empty']],
  ])("%s: %j", (type, value, expected) => {
    const [problem = ""] = nameViolations(one(type, value))
    for (const part of expected) expect(problem).toContain(part)
    expect(problem === "").toBe(expected.length === 0)
  })

  test("are all reported, each with its value truncated", () => {
    const [first = "", second] = nameViolations([
      ...one(oids.commonName, "x".repeat(5000)),
      ...one(oids.countryName, ""),
    ])
    expect(first.length).toBeLessThan(150)
    expect(second).toBe('countryName "" is empty')
  })
})

describe("the string of RFC 4514", () => {
  test.each<[string, DistinguishedName]>([
    ["CN=example.com,O=Exämple,C=CH", example],
    ["", []],
    [String.raw`CN=a\,b\+c\"d\\e\<f\>g\;h`, one(oids.commonName, String.raw`a,b+c"d\e<f>g;h`)],
    [String.raw`CN=\#1`, one(oids.commonName, "#1")],
    [String.raw`CN=\ a \ `, one(oids.commonName, " a  ")],
    [String.raw`CN=\ `, one(oids.commonName, " ")],
    [String.raw`CN=a\0ab`, one(oids.commonName, "a\nb")],
    ["1.2.3.4=#130178", one("1.2.3.4", "x")],
    [
      "OU=Sales+CN=J. Smith,DC=example,DC=net",
      [
        ...one(oids.domainComponent, "net"),
        ...one(oids.domainComponent, "example"),
        [
          { type: oids.organizationalUnitName, value: "Sales" },
          { type: oids.commonName, value: "J. Smith" },
        ],
      ],
    ],
    [
      "UID=u,serialNumber=1,STREET=s,postalCode=8000,L=l,ST=st,emailAddress=a@b",
      [
        ...one(oids.emailAddress, "a@b"),
        ...one(oids.stateOrProvinceName, "st"),
        ...one(oids.localityName, "l"),
        ...one(oids.postalCode, "8000"),
        ...one(oids.streetAddress, "s"),
        ...one(oids.serialNumber, "1"),
        ...one(oids.userId, "u"),
      ],
    ],
  ])("%s", (expected, name) => {
    expect(formatName(name)).toBe(expected)
  })
})

test("names are equal when their octets are equal", () => {
  expect(sameName(encodeName(example), encodeName(structuredClone(example)))).toBe(true)
  expect(sameName(encodeName(example), encodeName(example.toReversed()))).toBe(false)
  expect(sameName(encodeName(one(oids.commonName, "A")), encodeName(one(oids.commonName, "a")))).toBe(false)
})
