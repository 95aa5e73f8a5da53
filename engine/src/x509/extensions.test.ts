import { describe, expect, test } from "vitest"
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import {
  type Der,
  context,
  derTrue,
  encode,
  integer,
  objectIdentifier,
  octetString,
  primitive,
  sequence,
  utf8String,
} from "./asn1/writer.ts"
import { certificatePolicies } from "./certificate-policies.ts"
import { authorityInfoAccess, crlDistributionPoints, freshestCrl } from "./distribution-points.ts"
import { type Extension, encodeExtensions, findExtension, readExtensions } from "./extension.ts"
import {
  type ExtensionValues,
  authorityKeyIdentifier,
  basicConstraints,
  extendedKeyUsage,
  keyUsage,
  keyUsages,
  ocspNoCheck,
  parseExtensionValues,
  subjectAltName,
  subjectKeyIdentifier,
} from "./extensions.ts"
import type { GeneralName } from "./general-name.ts"
import { encodeName } from "./name.ts"
import { nameConstraints } from "./name-constraints.ts"

const noRevAvail: Extension = { oid: oids.noRevAvail, critical: false, value: Uint8Array.of(5, 0) }
const derFalse = Uint8Array.of(1, 1, 0)

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"))
const name = encodeName([[{ type: oids.commonName, value: "a" }]])
const identifier = bytes("0102")

const everyName: readonly GeneralName[] = [
  { kind: "dns", value: "*.example.com" },
  { kind: "email", value: "jo@example.com" },
  { kind: "uri", value: "spiffe://example.com/a" },
  { kind: "ip", octets: bytes("0a000001") },
  { kind: "ip", octets: bytes("20010db8000000000000000000000001") },
  { kind: "directory", name },
  { kind: "registered-id", oid: "1.2.3" },
  { kind: "other", oid: "1.3.6.1.4.1.311.20.2.3", value: "zoë@example.com" },
]

test.each<[string, Extension, string, ExtensionValues]>([
  ["a CA", basicConstraints({ isCa: true }), "30030101ff", { basicConstraints: { isCa: true } }],
  [
    "a CA with an empty path",
    basicConstraints({ isCa: true, maxPathLength: 0 }),
    "30060101ff020100",
    { basicConstraints: { isCa: true, maxPathLength: 0 } },
  ],
  ["no CA", basicConstraints({ isCa: false }), "3000", { basicConstraints: { isCa: false } }],
  [
    "a key that signs CRLs and certificates",
    keyUsage(["cRLSign", "keyCertSign"]),
    "03020106",
    { keyUsage: ["keyCertSign", "cRLSign"] },
  ],
  ["every key usage", keyUsage(keyUsages), "030307ff80", { keyUsage: keyUsages }],
  [
    "purposes",
    extendedKeyUsage([oids.serverAuth, "1.2.3"]),
    "300e06082b0601050507030106022a03",
    { extendedKeyUsage: [oids.serverAuth, "1.2.3"] },
  ],
  ["a subject's key", subjectKeyIdentifier(identifier), "04020102", { subjectKeyIdentifier: identifier }],
  [
    "an issuer's key",
    authorityKeyIdentifier(identifier),
    "300480020102",
    { authorityKeyIdentifier: { keyIdentifier: identifier } },
  ],
  ["no OCSP about an OCSP responder", ocspNoCheck, "0500", { ocspNoCheck: true }],
  ["no revocation at all", noRevAvail, "0500", { noRevAvail: true }],
  [
    "names",
    subjectAltName(
      [
        { kind: "dns", value: "a" },
        { kind: "ip", octets: bytes("7f000001") },
      ],
      { critical: false },
    ),
    "3009 820161 87047f000001",
    {
      subjectAltName: [
        { kind: "dns", value: "a" },
        { kind: "ip", octets: bytes("7f000001") },
      ],
    },
  ],
  [
    "a user principal name",
    subjectAltName([{ kind: "other", oid: "1.2.3", value: "é" }], { critical: true }),
    "300c a00a 06022a03 a0040c02c3a9",
    { subjectAltName: [{ kind: "other", oid: "1.2.3", value: "é" }] },
  ],
  [
    "a directory name, whose tag is explicit",
    subjectAltName([{ kind: "directory", name: bytes("3000") }], { critical: true }),
    "3004 a402 3000",
    { subjectAltName: [{ kind: "directory", name: bytes("3000") }] },
  ],
  [
    "where the authority is found",
    authorityInfoAccess({ ocspServers: ["o"], issuingCertificates: ["c"] }),
    "301e 300d 06082b06010505073001 86016f 300d 06082b06010505073002 860163",
    { authorityInfoAccess: { ocspServers: ["o"], issuingCertificates: ["c"] } },
  ],
  [
    "a CRL at two places and one at a third",
    crlDistributionPoints([["a", "b"], ["c"]]),
    "3015 300a a008 a006 860161 860162 3007 a005 a003 860163",
    { crlDistributionPoints: [["a", "b"], ["c"]] },
  ],
  ["a delta CRL", freshestCrl([["d"]]), "3009 3007 a005 a003 860164", { freshestCrl: [["d"]] }],
  [
    "a policy",
    certificatePolicies([{ oid: "1.2.3", cps: [], notices: [] }]),
    "3006 3004 06022a03",
    { certificatePolicies: [{ oid: "1.2.3", cps: [], notices: [] }] },
  ],
  [
    "a policy with its qualifiers",
    certificatePolicies([{ oid: "1.2.3", cps: ["u"], notices: ["é"] }]),
    "3029 3027 06022a03 3021 300d 06082b06010505070201 160175 3010 06082b06010505070202 3004 0c02c3a9",
    { certificatePolicies: [{ oid: "1.2.3", cps: ["u"], notices: ["é"] }] },
  ],
  [
    "names that a CA may not leave",
    nameConstraints({
      permitted: [{ kind: "dns", value: "a" }],
      excluded: [{ kind: "ip", octets: bytes("0a010203"), prefixBits: 12 }],
    }),
    "3015 a005 3003 820161 a10c 300a 8708 0a000000 fff00000",
    {
      nameConstraints: {
        permitted: [{ kind: "dns", value: "a" }],
        excluded: [{ kind: "ip", octets: bytes("0a000000"), prefixBits: 12 }],
      },
    },
  ],
])("writes and reads %s", (_, extension, hex, values) => {
  expect(Buffer.from(extension.value).toString("hex")).toBe(hex.replaceAll(" ", ""))
  expect(parseExtensionValues([extension])).toEqual(values)
})

test("every kind of general name is read as written", () => {
  expect(parseExtensionValues([subjectAltName(everyName, { critical: false })]).subjectAltName).toEqual(everyName)
})

test("IP ranges of every prefix length are read as written", () => {
  for (const length of [4, 16])
    for (let prefixBits = 0; prefixBits <= length * 8; prefixBits += 1) {
      const range = { kind: "ip", octets: new Uint8Array(length).fill(0xff), prefixBits } as const
      const [read] =
        parseExtensionValues([nameConstraints({ permitted: [range], excluded: [] })]).nameConstraints?.permitted ?? []
      expect(read).toMatchObject({ kind: "ip", prefixBits })
    }
})

test("name constraints of every kind are read as written", () => {
  const constraints = {
    permitted: everyName.filter((each) => each.kind !== "ip"),
    excluded: [{ kind: "ip", octets: new Uint8Array(16), prefixBits: 0 } as const],
  }
  expect(parseExtensionValues([nameConstraints(constraints)]).nameConstraints).toEqual(constraints)
})

test.each<[boolean, Extension]>([
  [true, basicConstraints({ isCa: true })],
  [true, keyUsage(["digitalSignature"])],
  [true, nameConstraints({ permitted: [{ kind: "dns", value: "a" }], excluded: [] })],
  [true, subjectAltName(everyName, { critical: true })],
  [false, subjectAltName(everyName, { critical: false })],
  [false, extendedKeyUsage([oids.serverAuth])],
  [false, subjectKeyIdentifier(identifier)],
  [false, authorityKeyIdentifier(identifier)],
  [false, authorityInfoAccess({ ocspServers: ["o"], issuingCertificates: [] })],
  [false, crlDistributionPoints([["a"]])],
  [false, freshestCrl([["a"]])],
  [false, certificatePolicies([{ oid: "1.2.3", cps: [], notices: [] }])],
  [false, ocspNoCheck],
])("critical is %s, as RFC 5280 requires (%#)", (critical, extension) => {
  expect(extension.critical).toBe(critical)
  expect(read(encodeExtensions([extension]))).toEqual([extension])
})

const read = (der: Der) => readExtensions(new DerReader(encode(der), "test"), "extensions")

test("an extension is found by its identifier", () => {
  const extensions = [ocspNoCheck, noRevAvail]
  expect(findExtension(extensions, oids.noRevAvail)).toBe(noRevAvail)
  expect(findExtension(extensions, oids.keyUsage)).toBeUndefined()
})

test("an unknown extension is preserved and not parsed", () => {
  const unknown = { oid: "1.2.3.4", critical: true, value: bytes("ffff") }
  expect(read(encodeExtensions([unknown]))).toEqual([unknown])
  expect(parseExtensionValues([unknown])).toEqual({})
})

test.each<[string, Der, string]>([
  ["none", sequence([]), "extensions is empty"],
  ["one twice", encodeExtensions([ocspNoCheck, noRevAvail, ocspNoCheck]), "1.3.6.1.5.5.7.48.1.5 occurs twice"],
  [
    "a default written out",
    sequence([sequence([objectIdentifier("1.2.3"), derFalse, octetString(derTrue)])]),
    "critical contains its default value",
  ],
  [
    "a value without an OCTET STRING",
    sequence([sequence([objectIdentifier("1.2.3"), derTrue])]),
    "extnValue is missing",
  ],
  [
    "something more",
    sequence([sequence([objectIdentifier("1.2.3"), octetString(derTrue), derTrue])]),
    "is followed by extra octets",
  ],
])("the extensions reader rejects %s", (_, der, problem) => {
  expect(() => read(der)).toThrow(problem)
})

describe("the extension values reader rejects", () => {
  const {
    basicConstraints: bc,
    keyUsage: ku,
    extendedKeyUsage: eku,
    subjectAltName: san,
    certificatePolicies: policies,
  } = oids

  test.each<[string, string, Der, string]>([
    ["octets after the value", bc, bytes("300000"), "basicConstraints: basicConstraints is followed by extra octets"],
    ["an empty value", bc, new Uint8Array(), "basicConstraints is missing"],
    ["CA:FALSE written out", bc, sequence([derFalse]), "cA contains its default value"],
    ["a path of negative length", bc, sequence([derTrue, integer(-1)]), "pathLenConstraint is not between"],
    ["a path longer than any", bc, sequence([derTrue, integer(1n << 40n)]), "pathLenConstraint is not between"],
    ["two path lengths", bc, sequence([derTrue, integer(1), integer(1)]), "is followed by extra octets"],
    ["no key usage", ku, bytes("030100"), "has no bits set"],
    ["an unknown key usage", ku, bytes("0303060040"), "has more than 9 bits"],
    ["trailing zeros in the key usage", ku, bytes("03020080"), "trailing zero bits"],
    ["no purposes", eku, sequence([]), "extKeyUsage is empty"],
    ["no names", san, sequence([]), "subjectAltName has no names"],
    ["an unknown name", san, sequence([derTrue]), "is not a supported GeneralName"],
    ["a letter outside ASCII", san, sequence([primitive(0x82, [0xe9])]), "not allowed in a IA5String"],
    ["U+0000 in a domain name", san, sequence([primitive(0x82, [0x61, 0, 0x62])]), "not allowed in a IA5String"],
    ["an address of five octets", san, sequence([primitive(0x87, [1, 2, 3, 4, 5])]), "an IP address of 5 octets"],
    ["a range for an address", san, sequence([primitive(0x87, new Uint8Array(8))]), "an IP address of 8 octets"],
    ["a directory name that is none", san, sequence([context(4, [sequence([derTrue])])]), "has the tag 0x01"],
    [
      "two directory names in one",
      san,
      sequence([context(4, [bytes("3000"), bytes("3000")])]),
      "is followed by extra octets",
    ],
    ["an otherName without a value", san, sequence([context(0, [objectIdentifier("1.2.3")])]), "is missing"],
    [
      "an otherName with two values",
      san,
      sequence([context(0, [objectIdentifier("1.2.3"), context(0, [utf8String("a"), utf8String("b")])])]),
      "followed by extra octets",
    ],
    [
      "malformed UTF-8 in an otherName",
      san,
      sequence([context(0, [objectIdentifier("1.2.3"), context(0, [primitive(0x0c, [0xff])])])]),
      "contains malformed UTF-8",
    ],
    ["a malformed registered identifier", san, sequence([primitive(0x88, [0x80])]), "is not a valid object identifier"],
    ["an x400Address", san, sequence([context(3, [sequence([])])]), "is not a supported GeneralName"],
    ["an ediPartyName", san, sequence([context(5, [utf8String("a")])]), "is not a supported GeneralName"],
    [
      "a malformed value of an otherName",
      san,
      sequence([context(0, [objectIdentifier("1.2.3"), context(0, [bytes("0200")])])]),
      "not minimal",
    ],
    ["no policies", policies, sequence([]), "certificatePolicies is empty"],
    [
      "a policy twice",
      policies,
      sequence([sequence([objectIdentifier("1.2.3")]), sequence([objectIdentifier("1.2.3")])]),
      "1.2.3 occurs twice",
    ],
    [
      "no qualifiers",
      policies,
      sequence([sequence([objectIdentifier("1.2.3"), sequence([])])]),
      "policyQualifiers is empty",
    ],
    ["no distribution points", oids.crlDistributionPoints, sequence([]), "is empty"],
    [
      "a distribution point that says nothing",
      oids.crlDistributionPoints,
      sequence([sequence([])]),
      "has neither a name nor a CRL issuer",
    ],
    [
      "a name relative to the issuer's that is none",
      oids.crlDistributionPoints,
      sequence([sequence([context(0, [context(1, [primitive(0x86, [0x61])])])])]),
      "nameRelativeToCRLIssuer",
    ],
    [
      "reasons with padding",
      oids.freshestCrl,
      sequence([sequence([context(0, [context(0, [primitive(0x86, [0x61])])]), primitive(0x81, [0, 0x80])])]),
      "trailing zero bits",
    ],
    ["no access descriptions", oids.authorityInfoAccess, sequence([]), "is empty"],
    ["constraints on nothing", oids.nameConstraints, sequence([]), "has neither permitted nor excluded subtrees"],
    ["an empty list of subtrees", oids.nameConstraints, sequence([context(0, [])]), "permittedSubtrees is empty"],
    [
      "a minimum",
      oids.nameConstraints,
      sequence([context(0, [sequence([primitive(0x82, [0x61]), primitive(0x80, [1])])])]),
      "is followed by extra octets",
    ],
    [
      "an address for a range",
      oids.nameConstraints,
      sequence([context(0, [sequence([primitive(0x87, [10, 0, 0, 1])])])]),
      "an IP range of 4 octets",
    ],
    [
      "a mask with gaps",
      oids.nameConstraints,
      sequence([context(0, [sequence([primitive(0x87, [10, 0, 0, 0, 255, 0, 255, 0])])])]),
      "whose mask is not contiguous",
    ],
    [
      "an issuer without its serial number",
      oids.authorityKeyIdentifier,
      sequence([context(1, [primitive(0x82, [0x61])])]),
      "both or neither of an issuer and a serial number",
    ],
    [
      "a serial number without its issuer",
      oids.authorityKeyIdentifier,
      sequence([primitive(0x82, [1])]),
      "both or neither of an issuer and a serial number",
    ],
    ["a key identifier that is not an OCTET STRING", oids.subjectKeyIdentifier, integer(1), "has the tag 0x02"],
    ["content in a NULL", oids.ocspNoCheck, bytes("050100"), "NULL with content"],
    ["content in another NULL", oids.noRevAvail, bytes("050100"), "NULL with content"],
  ])("%s", (_, oid, der, problem) => {
    expect(() => parseExtensionValues([{ oid, critical: false, value: encode(der) }])).toThrow(problem)
  })
})

describe("extensions of other encoders:", () => {
  const values = (oid: string, der: Der) => parseExtensionValues([{ oid, critical: false, value: encode(der) }])

  test("otherNames without UTF-8 strings are preserved whole", () => {
    const names = [
      context(0, [objectIdentifier("1.2.3"), context(0, [integer(1)])]),
      context(0, [objectIdentifier("1.2.3"), context(0, [sequence([])])]),
    ].map(encode)
    const kept = names.map((der) => ({ kind: "unsupported", der }))
    const read = values(oids.subjectAltName, sequence(names)).subjectAltName ?? []
    expect(read).toEqual(kept)
    expect(Buffer.from(subjectAltName(read, { critical: false }).value)).toEqual(Buffer.from(encode(sequence(names))))
  })

  test("an authority key identifier may name the issuer's certificate instead", () => {
    const der = sequence([context(1, [primitive(0x82, [0x61])]), primitive(0x82, [0, 0x80])])
    expect(values(oids.authorityKeyIdentifier, der)).toEqual({
      authorityKeyIdentifier: { issuer: [{ kind: "dns", value: "a" }], serialNumber: bytes("80") },
    })
  })

  test("a distribution point may have reasons, a relative name and another issuer", () => {
    const relative = context(0, [context(1, [sequence([objectIdentifier("2.5.4.3"), utf8String("a")])])])
    const points = [
      sequence([relative, primitive(0x81, [1, 6]), context(2, [primitive(0x82, [0x61])])]),
      sequence([context(2, [primitive(0x82, [0x61])])]),
      sequence([context(0, [context(0, [primitive(0x82, [0x61]), primitive(0x86, [0x62])])])]),
    ]
    expect(values(oids.crlDistributionPoints, sequence(points))).toEqual({ crlDistributionPoints: [[], [], ["b"]] })
  })

  test("other access methods and locations are skipped", () => {
    const access = [
      sequence([objectIdentifier("1.2.3"), primitive(0x86, [0x61])]),
      sequence([objectIdentifier(oids.ocspAccess), primitive(0x82, [0x61])]),
      sequence([objectIdentifier(oids.ocspAccess), primitive(0x86, [0x62])]),
    ]
    expect(values(oids.authorityInfoAccess, sequence(access))).toEqual({
      authorityInfoAccess: { ocspServers: ["b"], issuingCertificates: [] },
    })
  })

  test("notice references and unknown qualifiers are skipped", () => {
    const notice = sequence([
      objectIdentifier(oids.userNoticeQualifier),
      sequence([sequence([utf8String("o"), sequence([integer(1)])]), primitive(0x1a, [0x61])]),
    ])
    const unknown = sequence([objectIdentifier("1.2.3"), integer(1)])
    const empty = sequence([objectIdentifier(oids.userNoticeQualifier), sequence([])])
    const policy = sequence([objectIdentifier("1.2.3"), sequence([notice, unknown, empty])])
    expect(values(oids.certificatePolicies, sequence([policy]))).toEqual({
      certificatePolicies: [{ oid: "1.2.3", cps: [], notices: ["a"] }],
    })
  })
})

test("the writer rejects text that its kind of name does not allow", () => {
  expect(() => subjectAltName([{ kind: "dns", value: "zoë.example" }], { critical: false })).toThrow(RangeError)
})
