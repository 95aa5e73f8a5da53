import { X509Certificate, createPrivateKey, generateKeyPairSync, sign } from "node:crypto"
import { describe, expect, test } from "vitest"
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import {
  type Der,
  context,
  encode,
  generalizedTime,
  integer,
  objectIdentifier,
  octetString,
  primitive,
  sequence,
  time,
} from "./asn1/writer.ts"
import {
  type CertificateTemplate,
  assembleCertificate,
  encodeReissuedTbsCertificate,
  encodeTbsCertificate,
  parseCertificate,
} from "./certificate.ts"
import { crlDistributionPoints } from "./distribution-points.ts"
import { encodeExtensions } from "./extension.ts"
import {
  authorityKeyIdentifier,
  basicConstraints,
  keyUsage,
  parseExtensionValues,
  subjectAltName,
  subjectKeyIdentifier,
} from "./extensions.ts"
import { encodeName } from "./name.ts"

// Made by OpenSSL 3.0 with every extension that OpenSSL can write and the parser can read.
const opensslCa = Buffer.from(
  `
  MIIDrDCCA1GgAwIBAgIJAP7cuph2VDIQMAoGCCqGSM49BAMCMCExEDAOBgNVBAoMB0V4YW1wbGUxDTALBgNVBAMMBFJvb3QwIBcNMjYxMTIxMTc0
  MTI5WhgPMjEyNjEwMjgxNzQxMjlaMCExEDAOBgNVBAoMB0V4YW1wbGUxDTALBgNVBAMMBFJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQN
  uN5zRjZaDRz/Y/Sky+lvdSdr5Ra3M1/8iu0DqtK4ysn/ysa+jFhNau7r1qesh4zSNXq4b7hswb7UW6bDv+8no4ICbjCCAmowEgYDVR0TAQH/BAgw
  BgEB/wIBATAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFMNVDyy3mM3XE7N4c5APAqx2RjJaMFEGA1UdIwRKMEiAFMNVDyy3mM3XE7N4c5APAqx2
  RjJaoSWkIzAhMRAwDgYDVQQKDAdFeGFtcGxlMQ0wCwYDVQQDDARSb290ggkA/ty6mHZUMhAwYQYDVR0eAQH/BFcwVaAvMA2CC2V4YW1wbGUuY29t
  MA6BDC5leGFtcGxlLmNvbTAOhgwuZXhhbXBsZS5jb22hIjAKhwgKAAAA/wAAADAUpBIwEDEOMAwGA1UEAwwFaW5uZXIweQYDVR0fBHIwcDA0oDKg
  MIYYaHR0cDovL2V4YW1wbGUuY29tL2EuY3JshhRsZGFwOi8vZXhhbXBsZS5jb20vYTA4oBygGoYYaHR0cDovL2V4YW1wbGUuY29tL2IuY3JsgQIF
  YKIUpBIwEDEOMAwGA1UEAwwFaW5uZXIwLQYDVR0uBCYwJDAioCCgHoYcaHR0cDovL2V4YW1wbGUuY29tL2RlbHRhLmNybDBWBggrBgEFBQcBAQRK
  MEgwIwYIKwYBBQUHMAGGF2h0dHA6Ly9leGFtcGxlLmNvbS9vY3NwMCEGCCsGAQUFBzAChhVodHRwOi8vZXhhbXBsZS5jb20vY2EwbQYDVR0gBGYw
  ZDAFBgMqAwQwWwYDKwUIMFQwIgYIKwYBBQUHAgEWFmh0dHA6Ly9leGFtcGxlLmNvbS9jcHMwLgYIKwYBBQUHAgIwIjARGgdFeGFtcGxlMAYCAQEC
  AQIMDU1pbmQgdGhlIGfDpHAwCgYIKoZIzj0EAwIDSQAwRgIhAJipfMADePQ1mdYWvVhbSjzJjtmteY+cs9TrkXprnvJhAiEArZYROYWF/49WFs+H
  hlPOLga1Nt9orwP5v6G0IEzkiXA=
`,
  "base64",
)

// Made by OpenSSL 3.0 without extensions: version 1.
const opensslOfVersion1 = Buffer.from(
  `
  MIIBAzCBqgIBATAKBggqhkjOPQQDAjAOMQwwCgYDVQQDDANvbGQwHhcNMjYxMTIxMTc0MzE5WhcNMjYxMjAxMTc0MzE5WjAOMQwwCgYDVQQDDANv
  bGQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQNuN5zRjZaDRz/Y/Sky+lvdSdr5Ra3M1/8iu0DqtK4ysn/ysa+jFhNau7r1qesh4zSNXq4b7hs
  wb7UW6bDv+8nMAoGCCqGSM49BAMCA0gAMEUCIDd1ztQblpX4DgrlIpTBjFB78HS4tVcKzHTfWLFgMFU6AiEAlbnlNW/zGpoXi9z6HT01u3Cg/krz
  DOCrW0zeGSOps74=
`,
  "base64",
)

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"))
const ed25519 = encode(sequence([objectIdentifier(oids.ed25519)]))
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const subjectPublicKeyInfo = Uint8Array.from(publicKey.export({ format: "der", type: "spki" }))
const issuer = encodeName([[{ type: oids.commonName, value: "Issuer" }]])
const subject = encodeName([[{ type: oids.countryName, value: "CH" }], [{ type: oids.commonName, value: "Zoë" }]])

const template: CertificateTemplate = {
  serialNumber: bytes("80 00000000 00000001"),
  signatureAlgorithm: ed25519,
  issuer,
  notBefore: Date.parse("2026-01-02T03:04:05Z"),
  notAfter: Date.parse("9999-12-31T23:59:59Z"),
  subject,
  subjectPublicKeyInfo,
  extensions: [
    basicConstraints({ isCa: true }),
    keyUsage(["keyCertSign", "cRLSign"]),
    subjectKeyIdentifier(bytes("0102")),
    subjectAltName([{ kind: "dns", value: "example.com" }], { critical: false }),
  ],
}

const signed = (tbs: Uint8Array) => assembleCertificate(tbs, ed25519, sign(null, tbs, privateKey))

test("parseCertificate returns the written values of a signed certificate", () => {
  const tbs = encodeTbsCertificate(template)
  const der = signed(tbs)
  const certificate = parseCertificate(der)
  expect(certificate).toMatchObject({ ...template, version: 3, der, tbsCertificate: tbs })
  expect(certificate.subjectName).toEqual([
    [{ type: oids.countryName, value: "CH" }],
    [{ type: oids.commonName, value: "Zoë" }],
  ])
  expect(certificate.issuerName).toEqual([[{ type: oids.commonName, value: "Issuer" }]])
  expect(certificate.uniqueIdentifiers).toBeUndefined()
})

test("OpenSSL of Node reads a written certificate and verifies its signature", () => {
  const certificate = new X509Certificate(signed(encodeTbsCertificate(template)))
  expect(certificate.verify(publicKey)).toBe(true)
  expect(certificate).toMatchObject({
    serialNumber: "800000000000000001",
    subject: "C=CH\nCN=Zoë",
    issuer: "CN=Issuer",
    ca: true,
    subjectAltName: "DNS:example.com",
    validFrom: "Jan  2 03:04:05 2026 GMT",
    validTo: "Dec 31 23:59:59 9999 GMT",
  })
  expect(certificate.checkPrivateKey(createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" })))).toBe(true)
})

test("a certificate without extensions has no empty extensions list", () => {
  const certificate = parseCertificate(signed(encodeTbsCertificate({ ...template, extensions: [] })))
  expect(certificate).toMatchObject({ version: 3, extensions: [] })
})

test("reads a certificate of OpenSSL with all its extensions", () => {
  const certificate = parseCertificate(opensslCa, { conformingSerialNumber: true })
  expect(certificate).toMatchObject({
    version: 3,
    serialNumber: bytes("fedcba9876543210"),
    subjectName: [[{ type: oids.organizationName, value: "Example" }], [{ type: oids.commonName, value: "Root" }]],
    notBefore: Date.parse("2026-11-21T17:41:29Z"),
    notAfter: Date.parse("2126-10-28T17:41:29Z"),
  })
  const key = bytes("c3550f2cb798cdd713b37873900f02ac7646325a")
  const inner = encode(encodeInner())
  expect(parseExtensionValues(certificate.extensions)).toEqual({
    basicConstraints: { isCa: true, maxPathLength: 1 },
    keyUsage: ["keyCertSign", "cRLSign"],
    subjectKeyIdentifier: key,
    authorityKeyIdentifier: {
      keyIdentifier: key,
      issuer: [{ kind: "directory", name: certificate.issuer }],
      serialNumber: bytes("fedcba9876543210"),
    },
    nameConstraints: {
      permitted: [
        { kind: "dns", value: "example.com" },
        { kind: "email", value: ".example.com" },
        { kind: "uri", value: ".example.com" },
      ],
      excluded: [
        { kind: "ip", octets: bytes("0a000000"), prefixBits: 8 },
        { kind: "directory", name: inner },
      ],
    },
    crlDistributionPoints: [["http://example.com/a.crl", "ldap://example.com/a"], ["http://example.com/b.crl"]],
    freshestCrl: [["http://example.com/delta.crl"]],
    authorityInfoAccess: {
      ocspServers: ["http://example.com/ocsp"],
      issuingCertificates: ["http://example.com/ca"],
    },
    certificatePolicies: [
      { oid: "1.2.3.4", cps: [], notices: [] },
      { oid: "1.3.5.8", cps: ["http://example.com/cps"], notices: ["Mind the gäp"] },
    ],
  })
  expect(encodeTbsCertificate(certificate)).toEqual(certificate.tbsCertificate)
})

/** OpenSSL writes a UTF8String, although the text would fit into a PrintableString. */
const encodeInner = (): Der => {
  const value = primitive(0x0c, Buffer.from("inner"))
  return sequence([primitive(0x31, encode(sequence([objectIdentifier(oids.commonName), value])))])
}

test("reads a certificate of version 1", () => {
  expect(parseCertificate(opensslOfVersion1)).toMatchObject({ version: 1, serialNumber: bytes("01"), extensions: [] })
})

describe("parseCertificate rejects", () => {
  const version = (number: number | Der) => context(0, [typeof number === "number" ? integer(number) : number])
  const validity: Der = sequence([time(template.notBefore), time(template.notAfter)])
  const extensions: Der = context(3, [encodeExtensions(template.extensions)])

  interface Parts {
    readonly version: readonly Der[]
    readonly serialNumber: Der
    readonly signature: Der
    readonly issuer: Der
    readonly validity: Der
    readonly subject: Der
    readonly key: Der
    readonly rest: readonly Der[]
  }
  const good: Parts = {
    version: [version(2)],
    serialNumber: integer(1),
    signature: ed25519,
    issuer,
    validity,
    subject,
    key: subjectPublicKeyInfo,
    rest: [extensions],
  }
  const made = (changes: Partial<Parts>) => {
    const parts = { ...good, ...changes }
    const { serialNumber, signature, issuer, validity, subject, key } = parts
    const tbs = sequence([...parts.version, serialNumber, signature, issuer, validity, subject, key, ...parts.rest])
    return encode(sequence([tbs, ed25519, primitive(3, [0, 1])]))
  }

  test("no unchanged certificate", () => {
    expect(parseCertificate(made({})).version).toBe(3)
  })

  const uniqueIds = [primitive(0x81, [4, 0x10]), primitive(0x82, [0])]
  const noDay = primitive(0x17, Buffer.from("260230000000Z"))

  test.each<[string, Partial<Parts>, string]>([
    ["a version written out", { version: [version(0)], rest: [] }, "version contains its default value"],
    ["a version to come", { version: [version(3)] }, "version is not between 0 and 2"],
    ["a negative version", { version: [version(-1)] }, "version is not between 0 and 2"],
    ["two versions", { version: [context(0, [integer(2), integer(2)])] }, "is followed by extra octets"],
    ["extensions in version 1", { version: [] }, "is followed by extra octets"],
    ["extensions in version 2", { version: [version(1)] }, "is followed by extra octets"],
    ["unique identifiers in version 1", { version: [], rest: uniqueIds }, "is followed by extra octets"],
    [
      "unique identifiers in the wrong order",
      { rest: [...uniqueIds.toReversed(), extensions] },
      "is followed by extra octets",
    ],
    [
      "a unique identifier with padding",
      { rest: [primitive(0x81, [4, 0x18]), extensions] },
      "issuerUniqueID has padding",
    ],
    [
      "a unique identifier without content",
      { rest: [primitive(0x82, []), extensions] },
      "subjectUniqueID is not a valid BIT STRING",
    ],
    [
      "a unique identifier of no bits, some unused",
      { rest: [primitive(0x82, [1]), extensions] },
      "is not a valid BIT STRING",
    ],
    ["a negative serial number", { serialNumber: integer(-1) }, "serialNumber is negative"],
    ["a serial number that is not minimal", { serialNumber: bytes("02020001") }, "not minimal"],
    [
      "another algorithm inside",
      { signature: sequence([objectIdentifier(oids.sha256WithRsa)]) },
      "differs from signatureAlgorithm",
    ],
    ["an algorithm without identifier", { signature: sequence([]) }, "algorithm is missing"],
    [
      "an algorithm with two parameters",
      { signature: sequence([ed25519, integer(1), integer(1)]) },
      "has the tag 0x30",
    ],
    ["malformed parameters", { signature: sequence([objectIdentifier("1.2.3"), bytes("0200")]) }, "not minimal"],
    ["an issuer that is not a name", { issuer: sequence([integer(1)]) }, "issuer has the tag 0x02"],
    ["no time", { validity: sequence([integer(1), integer(1)]) }, "notBefore has the tag 0x02"],
    ["a day that never was", { validity: sequence([noDay, noDay]) }, "notBefore is not a valid date"],
    [
      "a GeneralizedTime of this century's first half",
      { validity: sequence([time(0), generalizedTime(Date.parse("2049-01-01T00:00:00Z"))]) },
      "notAfter must be a UTCTime",
    ],
    ["three times", { validity: sequence([time(0), time(0), time(0)]) }, "validity is followed by"],
    ["a subject with octets behind its names", { subject: sequence([sequence([])]) }, "subject has the tag 0x30"],
    ["an empty key", { key: sequence([]) }, "algorithm is missing"],
    ["a key of single bits", { key: sequence([ed25519, primitive(3, [1, 2])]) }, "does not contain whole octets"],
    ["a key with more", { key: sequence([ed25519, primitive(3, [0, 2]), integer(1)]) }, "is followed by extra octets"],
    ["an empty list of extensions", { rest: [context(3, [sequence([])])] }, "extensions is empty"],
    ["two lists of extensions", { rest: [extensions, extensions] }, "is followed by extra octets"],
    [
      "an extension twice",
      { rest: [context(3, [encodeExtensions([...template.extensions, ...template.extensions])])] },
      "2.5.29.19 occurs twice",
    ],
    [
      "critical written out as false",
      {
        rest: [
          context(3, [sequence([sequence([objectIdentifier("1.2.3"), primitive(1, [0]), octetString(ed25519)])])]),
        ],
      },
      "critical contains its default value",
    ],
  ])("%s", (_, changes, problem) => {
    expect(() => parseCertificate(made(changes))).toThrow(problem)
  })

  test("octets after the certificate", () => {
    expect(() => parseCertificate(Uint8Array.of(...made({}), 0))).toThrow("is followed by extra octets")
  })

  test("a member after the signature", () => {
    const whole = new DerReader(made({}), "test").sequence("certificate")
    const parts = [whole.value("tbs"), whole.value("algorithm"), whole.value("signature")]
    expect(() => parseCertificate(encode(sequence([...parts, integer(1)])))).toThrow("is followed by extra octets")
    expect(() => parseCertificate(encode(sequence(parts.slice(0, 2))))).toThrow("signature is missing")
  })

  test.each([
    ["zero", "00", "is zero"],
    ["21 octets of magnitude", `7f${"00".repeat(20)}`, "longer than 20 octets"],
    ["20 octets and a sign octet", `ff${"00".repeat(19)}`, "longer than 20 octets"],
  ])("a serial number of %s in strict mode", (_, hex, problem) => {
    const der = signed(encodeTbsCertificate({ ...template, serialNumber: bytes(hex) }))
    expect(parseCertificate(der).serialNumber).toEqual(bytes(hex))
    expect(() => parseCertificate(der, { conformingSerialNumber: true })).toThrow(problem)
  })

  test("no serial number of 20 octets", () => {
    const serialNumber = bytes(`7f${"ff".repeat(19)}`)
    const der = signed(encodeTbsCertificate({ ...template, serialNumber }))
    expect(parseCertificate(der, { conformingSerialNumber: true }).serialNumber).toEqual(serialNumber)
  })

  test("a certificate that is truncated at any octet", () => {
    for (let length = 0; length < opensslCa.length; length += 1)
      expect(() => parseCertificate(opensslCa.subarray(0, length))).toThrow("(byte ")
  })
})

describe("re-signing a certificate under another issuer", () => {
  const reissue = { issuer: encodeName([]), signatureAlgorithm: ed25519 }

  test("changes only the given members", () => {
    const original = parseCertificate(opensslCa)
    const authority = authorityKeyIdentifier(bytes("aabb"))
    const points = crlDistributionPoints([["http://example.org/crl"]])
    const reissued = parseCertificate(
      signed(encodeReissuedTbsCertificate(original, { ...reissue, extensions: [points, authority] })),
    )
    expect(reissued).toEqual({
      ...original,
      der: reissued.der,
      tbsCertificate: reissued.tbsCertificate,
      signature: reissued.signature,
      signatureAlgorithm: ed25519,
      issuer: reissue.issuer,
      issuerName: [],
      extensions: original.extensions.map((extension) =>
        extension.oid === authority.oid ? authority : extension.oid === points.oid ? points : extension,
      ),
    })
  })

  test("adds absent members and uses the given serial number", () => {
    const original = parseCertificate(signed(encodeTbsCertificate(template)))
    const authority = authorityKeyIdentifier(bytes("aabb"))
    const changes = { ...reissue, serialNumber: bytes("07"), extensions: [authority] }
    const reissued = parseCertificate(signed(encodeReissuedTbsCertificate(original, changes)))
    expect(reissued.serialNumber).toEqual(bytes("07"))
    expect(reissued.extensions).toEqual([...original.extensions, authority])
  })

  test("preserves unique identifiers", () => {
    const uniqueIdentifiers = bytes("8102 0410 8201 00")
    const original = parseCertificate(signed(encodeTbsCertificate({ ...template, uniqueIdentifiers })))
    expect(original.uniqueIdentifiers).toEqual(uniqueIdentifiers)
    const tbs = encodeReissuedTbsCertificate(original, { ...reissue, extensions: [] })
    expect(parseCertificate(signed(tbs)).uniqueIdentifiers).toEqual(uniqueIdentifiers)
  })

  test("returns the same bytes when nothing changes", () => {
    const original = parseCertificate(opensslCa)
    const { issuer, signatureAlgorithm } = original
    expect(encodeReissuedTbsCertificate(original, { issuer, signatureAlgorithm, extensions: [] })).toEqual(
      original.tbsCertificate,
    )
  })
})
