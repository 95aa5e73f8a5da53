import { generateKeyPairSync, sign, verify } from "node:crypto"
import { describe, expect, test } from "vitest"
import { oids } from "./asn1/oids.ts"
import {
  type Der,
  context,
  encode,
  integer,
  objectIdentifier,
  primitive,
  sequence,
  setOf,
  utf8String,
} from "./asn1/writer.ts"
import {
  assembleCertificationRequest,
  encodeCertificationRequestInfo,
  parseCertificationRequest,
} from "./certification-request.ts"
import { encodeExtensions } from "./extension.ts"
import { basicConstraints, ocspNoCheck, subjectAltName } from "./extensions.ts"
import { encodeName, formatName } from "./name.ts"

// Made by OpenSSL 3.0, with attributes besides the extension request and with a custom extension.
const opensslRequest = Buffer.from(
  `
  MIICZjCCAgwCAQAwfjELMAkGA1UEBhMCQ0gxFDASBgNVBAoMC0V4w6RtcGxlIEFHMQwwCgYDVQQLDANPbmUxETAPBgNVBAsMCCtDTi1sZXNzMRgw
  FgYDVQQDDA93d3cuZXhhbXBsZS5jb20xHjAcBgkqhkiG9w0BCQEWD29wc0BleGFtcGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABA24
  3nNGNloNHP9j9KTL6W91J2vlFrczX/yK7QOq0rjKyf/Kxr6MWE1q7uvWp6yHjNI1erhvuGzBvtRbpsO/7yegggEqMBcGCSqGSIb3DQEJAjEKDAhy
  b3V0ZXIgNzAXBgkqhkiG9w0BCQcxCgwIc2VjcmV0MTIwgfUGCSqGSIb3DQEJDjGB5zCB5DAJBgNVHRMEAjAAMAsGA1UdDwQEAwIDiDAdBgNVHSUE
  FjAUBggrBgEFBQcDAQYIKwYBBQUHAwIwgZkGA1UdEQSBkTCBjoIPd3d3LmV4YW1wbGUuY29thwQKAAABhxAgAQ24AAAAAAAAAAAAAAABhhhzcGlm
  ZmU6Ly9leGFtcGxlLmNvbS93d3eBD29wc0BleGFtcGxlLmNvbaAfBgorBgEEAYI3FAIDoBEMD29wc0BFWEFNUExFLkNPTYgDKgMEpBIwEDEOMAwG
  A1UEAwwFaW5uZXIwDwYDKgMEBAgMBmN1c3RvbTAKBggqhkjOPQQDAgNIADBFAiBBnbR5Dddo2aGbua6ZMOlQE1/M5IFilkRowWdvfpnMUQIhAOjm
  2cM/uOLTKxs76zXakKC/NOFMrCK7d7/+6SABuggv
`,
  "base64",
)

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"))
const ed25519 = encode(sequence([objectIdentifier(oids.ed25519)]))
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const subjectPublicKeyInfo = Uint8Array.from(publicKey.export({ format: "der", type: "spki" }))
const subject = encodeName([[{ type: oids.commonName, value: "Intermediate" }]])

test.each([
  ["with basic constraints", [basicConstraints({ isCa: true })]],
  ["without extensions", []],
  ["with two extensions", [basicConstraints({ isCa: false }), ocspNoCheck]],
])("parseCertificationRequest returns the written values of a request %s", (_, extensions) => {
  const info = encodeCertificationRequestInfo({ subject, subjectPublicKeyInfo, extensions })
  const der = assembleCertificationRequest(info, ed25519, sign(null, info, privateKey))
  const request = parseCertificationRequest(der)
  expect(request).toMatchObject({ der, subject, subjectPublicKeyInfo, extensions, signatureAlgorithm: ed25519 })
  expect(request.certificationRequestInfo).toEqual(info)
  expect(verify(null, request.certificationRequestInfo, publicKey, request.signature)).toBe(true)
})

test("reads a request of OpenSSL with all its attributes", () => {
  const request = parseCertificationRequest(opensslRequest)
  expect(formatName(request.subjectName)).toBe(
    String.raw`emailAddress=ops@example.com,CN=www.example.com,OU=\+CN-less,OU=One,O=Exämple AG,C=CH`,
  )
  expect(request.extensions.map(({ oid }) => oid)).toEqual([
    oids.basicConstraints,
    oids.keyUsage,
    oids.extendedKeyUsage,
    oids.subjectAltName,
    "1.2.3.4",
  ])
  expect(request.extensionValues).toEqual({
    basicConstraints: { isCa: false },
    keyUsage: ["digitalSignature", "keyAgreement"],
    extendedKeyUsage: [oids.serverAuth, oids.clientAuth],
    subjectAltName: [
      { kind: "dns", value: "www.example.com" },
      { kind: "ip", octets: bytes("0a000001") },
      { kind: "ip", octets: bytes("20010db8000000000000000000000001") },
      { kind: "uri", value: "spiffe://example.com/www" },
      { kind: "email", value: "ops@example.com" },
      { kind: "other", oid: "1.3.6.1.4.1.311.20.2.3", value: "ops@EXAMPLE.COM" },
      { kind: "registered-id", oid: "1.2.3.4" },
      { kind: "directory", name: bytes("3010 310e 300c 0603550403 0c05 696e6e6572") },
    ],
  })
})

const attribute = (type: string, ...values: readonly Der[]): Der => sequence([objectIdentifier(type), setOf(values)])
const asking = encodeExtensions([subjectAltName([{ kind: "dns", value: "a" }], { critical: false })])

interface Parts {
  readonly version: Der
  readonly subject: Der
  readonly key: Der
  readonly rest: readonly Der[]
}

const made = (changes: Partial<Parts>) => {
  const good: Parts = { version: integer(0), subject, key: subjectPublicKeyInfo, rest: [context(0, [])] }
  const { version, subject: name, key, rest } = { ...good, ...changes }
  return encode(sequence([sequence([version, name, key, ...rest]), ed25519, primitive(3, [0, 1])]))
}

test("reads extensions under the object identifier of Microsoft", () => {
  const der = made({ rest: [context(0, [attribute(oids.microsoftExtensionRequest, asking)])] })
  expect(parseCertificationRequest(der).extensionValues).toEqual({ subjectAltName: [{ kind: "dns", value: "a" }] })
})

test("reads attributes in any order and skips unknown ones", () => {
  const attributes = [
    attribute("1.3.6.1.4.1.311.13.2.3", utf8String("10.0.20348.2")),
    attribute(oids.extensionRequest, asking),
    attribute(oids.challengePassword, utf8String("s")),
  ]
  for (const order of [attributes, attributes.toReversed()])
    expect(parseCertificationRequest(made({ rest: [context(0, order)] })).extensions).toHaveLength(1)
})

test("reads a request without attributes", () => {
  expect(parseCertificationRequest(made({ rest: [] })).extensions).toEqual([])
})

describe("parseCertificationRequest rejects", () => {
  const extensions = (...list: readonly Der[]) => [context(0, [attribute(oids.extensionRequest, sequence(list))])]
  const extension = (oid: string, value: Uint8Array) => encodeExtensions([{ oid, critical: false, value }])

  test.each<[string, Partial<Parts>, string]>([
    ["a version to come", { version: integer(1) }, "version is not between 0 and 0"],
    ["a subject that is not a name", { subject: sequence([integer(1)]) }, "subject has the tag 0x02"],
    ["an empty key", { key: sequence([]) }, "algorithm is missing"],
    ["something after the attributes", { rest: [context(0, []), context(0, [])] }, "is followed by extra octets"],
    ["something other than attributes", { rest: [context(1, [])] }, "attributes has the tag 0xa1"],
    ["no extensions in a request for some", { rest: extensions() }, "extensionRequest is empty"],
    [
      "an attribute twice",
      { rest: [context(0, [attribute(oids.extensionRequest, asking), attribute(oids.extensionRequest, asking)])] },
      "1.2.840.113549.1.9.14 occurs twice",
    ],
    [
      "extensions in both attributes",
      {
        rest: [
          context(0, [attribute(oids.extensionRequest, asking), attribute(oids.microsoftExtensionRequest, asking)]),
        ],
      },
      "extensionRequest occurs twice",
    ],
    [
      "two lists of extensions",
      { rest: [context(0, [attribute(oids.extensionRequest, asking, asking)])] },
      "is followed by extra octets",
    ],
    [
      "an attribute without values",
      { rest: [context(0, [sequence([objectIdentifier("1.2.3")])])] },
      "values is missing",
    ],
    [
      "malformed values of an unknown attribute",
      { rest: [context(0, [attribute("1.2.3", bytes("0200"))])] },
      "not minimal",
    ],
    [
      "an unknown extension that is not DER",
      { rest: [context(0, [attribute(oids.extensionRequest, extension("1.2.3", bytes("ffff")))])] },
      "extension 1.2.3: value",
    ],
    [
      "a malformed known extension",
      { rest: [context(0, [attribute(oids.extensionRequest, extension(oids.keyUsage, bytes("0500")))])] },
      "keyUsage has the tag 0x05",
    ],
  ])("%s", (_, changes, problem) => {
    expect(() => parseCertificationRequest(made(changes))).toThrow(problem)
  })

  test("an extension twice", () => {
    const twice = encodeExtensions([ocspNoCheck, ocspNoCheck])
    const der = made({ rest: [context(0, [attribute(oids.extensionRequest, twice)])] })
    expect(() => parseCertificationRequest(der)).toThrow("occurs twice")
  })

  test("a request that is truncated at any octet or followed by octets", () => {
    for (let length = 0; length < opensslRequest.length; length += 1)
      expect(() => parseCertificationRequest(opensslRequest.subarray(0, length))).toThrow("(byte ")
    expect(() => parseCertificationRequest(Buffer.concat([opensslRequest, Buffer.of(0)]))).toThrow(
      "is followed by extra octets",
    )
  })
})
