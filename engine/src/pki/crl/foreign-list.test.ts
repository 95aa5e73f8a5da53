// CRLs in the encodings of other CAs: those that RFC 5280 allows are read, and others are refused with the reason.
import { createPrivateKey, sign } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { testKeyGenerator } from "../../../testing/test-keys.ts"
import { openTestEngine, type TestEngine } from "../../../testing/test-engine.ts"
import { oids } from "../../x509/asn1/oids.ts"
import {
  bitString,
  context,
  type Der,
  derNull,
  derTrue,
  encode,
  integer,
  objectIdentifier,
  octetString,
  primitive,
  sequence,
} from "../../x509/asn1/writer.ts"
import { tag } from "../../x509/asn1/tag.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { parseCertificateList } from "../../x509/certificate-list.ts"
import { encodeName } from "../../x509/name.ts"
import { readPem, writePem } from "../../x509/pem.ts"
import { signatureAlgorithmIdentifier } from "../../x509/signature-algorithm.ts"

interface Authority {
  readonly subject: Uint8Array
  readonly privateKey: string
}

let testEngine: TestEngine
const authorities: Record<string, Authority> = {}
beforeAll(async () => {
  testEngine = await openTestEngine({ keyGenerator: testKeyGenerator })
  for (const type of ["ec", "rsa", "ed25519"]) {
    await testEngine.engine.mounts.create({ path: type })
    const body = { common_name: `Root with ${type}`, key_type: type }
    const root = await testEngine.pki("POST", `/${type}/root/generate/exported`, { body })
    const [{ bytes } = { bytes: new Uint8Array() }] = readPem(root.body.data.certificate, 65_536)
    authorities[type] = { subject: parseCertificate(bytes).subject, privateKey: root.body.data.private_key }
  }
})
afterAll(() => testEngine[Symbol.asyncDispose]())

const utc = (text: string) => primitive(tag.utcTime, Buffer.from(text))
const generalized = (text: string) => primitive(tag.generalizedTime, Buffer.from(text))
const extension = (oid: string, value: Der, critical: readonly Der[] = []) =>
  sequence([objectIdentifier(oid), ...critical, octetString(value)])
const number = (octets: Uint8Array) => extension(oids.crlNumber, primitive(tag.integer, octets))
const reason = extension(oids.crlReason, primitive(tag.enumerated, [1]))
const unknown = extension("1.3.6.1.4.1.99999.1", derNull)
const derFalse = Uint8Array.of(tag.boolean, 1, 0)
const now = utc("260101000000Z")
const listed = (...parts: readonly Der[]) => sequence([integer(5), now, ...parts])

/** Parts of a TBSCertList. An omitted part has a valid default; null leaves the part out. */
interface Parts {
  readonly version?: Der | null
  readonly algorithm?: Uint8Array
  /** Signature algorithm inside the TBSCertList, if it differs from the outer one. */
  readonly inner?: Uint8Array
  readonly issuer?: Uint8Array
  readonly thisUpdate?: Der
  readonly nextUpdate?: Der | null
  readonly entries?: readonly Der[] | null
  readonly extensions?: readonly Der[] | null
  readonly change?: (der: Uint8Array) => Uint8Array
}

const ecdsa = signatureAlgorithmIdentifier("ECDSAWithSHA256")

function listFrom(type: string, parts: Parts): string {
  const { subject, privateKey } = authorities[type]!
  const { version = integer(1), issuer = subject, thisUpdate = now, nextUpdate = utc("490101000000Z") } = parts
  const { entries = [listed()], extensions = [number(Uint8Array.of(7))], change = (der) => der } = parts
  const { algorithm = type === "ed25519" ? signatureAlgorithmIdentifier("Ed25519") : ecdsa } = parts
  const tbs = encode(
    sequence([
      ...(version === null ? [] : [version]),
      parts.inner ?? algorithm,
      issuer,
      thisUpdate,
      ...(nextUpdate === null ? [] : [nextUpdate]),
      ...(entries === null ? [] : [sequence(entries)]),
      ...(extensions === null ? [] : [context(0, [sequence(extensions)])]),
    ]),
  )
  const key = createPrivateKey(privateKey)
  const signature = sign(type === "ed25519" ? null : "sha256", tbs, type === "rsa" ? rsaKey(key, algorithm) : key)
  return writePem("X509 CRL", change(encode(sequence([tbs, algorithm, bitString(signature)]))))
}

const pss = signatureAlgorithmIdentifier("SHA256WithRSAPSS")

const rsaKey = (key: ReturnType<typeof createPrivateKey>, algorithm: Uint8Array) =>
  algorithm === pss ? { key, padding: 6, saltLength: 32 } : key

const resign = (type: string, crl: string) =>
  testEngine.pki("POST", `/${type}/issuer/default/resign-crls`, { body: { crls: [crl], crl_number: 9 } })

async function entriesOf(type: string, parts: Parts) {
  const { status, body } = await resign(type, listFrom(type, parts))
  expect([status, body.errors]).toEqual([200, undefined])
  const [{ bytes } = { bytes: new Uint8Array() }] = readPem(body.data.crl, 1_000_000)
  return parseCertificateList(bytes).entries.map(({ serialNumber, revokedAt, extensions }) => [
    Buffer.from(serialNumber).toString("hex"),
    new Date(revokedAt).toISOString().slice(0, 10),
    extensions.map(({ oid }) => oid),
  ])
}

describe("a revocation list of another CA implementation is signed again", () => {
  const one = ["05", "2026-01-01", []]
  test.each<{ what: string; parts: Parts; type?: string; entries?: unknown[] }>([
    { what: "version 2 with the usual extensions", parts: {} },
    { what: "of version 1", parts: { version: null, extensions: null } },
    { what: "of version 1 that never ends", parts: { version: null, extensions: null, nextUpdate: null } },
    { what: "of version 2 without extensions", parts: { extensions: null } },
    { what: "without entries", parts: { entries: null }, entries: [] },
    { what: "with an empty list of entries", parts: { entries: [] }, entries: [] },
    { what: "that ends after 2049", parts: { nextUpdate: generalized("20500101000000Z") } },
    { what: "from the last century", parts: { thisUpdate: utc("990101000000Z") } },
    {
      what: "with revocation times in both time formats",
      parts: {
        entries: [
          sequence([integer(1), utc("500101000000Z")]),
          sequence([integer(2), utc("491231235959Z")]),
          sequence([integer(3), generalized("20500101000000Z")]),
          sequence([integer(4), generalized("19491231235959Z")]),
        ],
      },
      entries: [
        ["01", "1950-01-01", []],
        ["02", "2049-12-31", []],
        ["03", "2050-01-01", []],
        ["04", "1949-12-31", []],
      ],
    },
    {
      what: "with reasons, other extensions and none",
      parts: { entries: [listed(sequence([reason])), sequence([integer(6), now, sequence([unknown, reason])])] },
      entries: [
        ["05", "2026-01-01", [oids.crlReason]],
        ["06", "2026-01-01", ["1.3.6.1.4.1.99999.1", oids.crlReason]],
      ],
    },
    {
      what: "with the longest CRL numbers",
      parts: {
        entries: [sequence([primitive(tag.integer, [0, ...Array<number>(20).fill(0xff)]), now])],
        extensions: [number(new Uint8Array(20).fill(0x7f))],
      },
      entries: [["ff".repeat(20), "2026-01-01", []]],
    },
    {
      what: "with a serial number that CAs must not assign",
      parts: { entries: [sequence([integer(0), now])] },
      entries: [["00", "2026-01-01", []]],
    },
    { what: "without a CRL number", parts: { extensions: [unknown] } },
    { what: "signed with RSA", type: "rsa", parts: { algorithm: signatureAlgorithmIdentifier("SHA256WithRSA") } },
    { what: "signed with RSA and PSS", type: "rsa", parts: { algorithm: pss } },
    { what: "signed with Ed25519", type: "ed25519", parts: {} },
  ])("$what", async ({ parts, type = "ec", entries = [one] }) => {
    expect(await entriesOf(type, parts)).toEqual(entries)
  })
})

const sha1 = encode(sequence([objectIdentifier(oids.ecdsaWithSha1)]))
const ecdsaWithNull = encode(sequence([objectIdentifier(oids.ecdsaWithSha256), derNull]))

/** Writes the outer length in one byte more than DER needs. */
const longer = (der: Uint8Array) => Buffer.concat([Buffer.of(0x30, 0x83, 0), der.subarray(2)])

describe("a revocation list is rejected with the reason", () => {
  const stranger = encodeName([[{ type: oids.commonName, value: "Stranger" }]])
  const own = "crls: list 1 "
  test.each<{ what: string; parts: Parts; reason: RegExp }>([
    { what: "of version 3", parts: { version: integer(2) }, reason: /version is not between 0 and 1/ },
    {
      what: "with an explicit version 1",
      parts: { version: integer(0), extensions: null },
      reason: /version is present and not version 2/,
    },
    { what: "of version 1 with extensions", parts: { version: null }, reason: /crlExtensions require version 2/ },
    {
      what: "of version 1 with reasons",
      parts: { version: null, extensions: null, entries: [listed(sequence([reason]))] },
      reason: /crlEntryExtensions require version 2/,
    },
    {
      what: "with GeneralizedTime before 2050",
      parts: { thisUpdate: generalized("20260101000000Z") },
      reason: /thisUpdate must be a UTCTime until 2049 and a GeneralizedTime from 2050/,
    },
    {
      what: "with GeneralizedTime before 2050 in an entry",
      parts: { entries: [sequence([integer(5), generalized("20260101000000Z")])] },
      reason: /revocationDate must be a UTCTime until 2049 and a GeneralizedTime from 2050/,
    },
    {
      what: "with fractions of seconds",
      parts: { nextUpdate: generalized("20500101000000.5Z") },
      reason: /nextUpdate is not a valid GeneralizedTime/,
    },
    {
      what: "with a time without seconds",
      parts: { thisUpdate: utc("2601010000Z") },
      reason: /thisUpdate is not a valid UTCTime/,
    },
    {
      what: "with a time zone",
      parts: { thisUpdate: utc("260101000000+0100") },
      reason: /thisUpdate is not a valid UTCTime/,
    },
    {
      what: "with a day that does not exist",
      parts: { thisUpdate: utc("260231000000Z") },
      reason: /thisUpdate is not a valid date/,
    },
    {
      what: "with a negative serial number",
      parts: { entries: [sequence([integer(-5), now])] },
      reason: /userCertificate is negative/,
    },
    {
      what: "with a serial number in too many octets",
      parts: { entries: [sequence([primitive(tag.integer, [0, 5]), now])] },
      reason: /userCertificate is an INTEGER that is not minimal/,
    },
    {
      what: "with an extension twice",
      parts: { extensions: [number(Uint8Array.of(1)), number(Uint8Array.of(1))] },
      reason: /twice/,
    },
    { what: "with an empty list of extensions", parts: { extensions: [] }, reason: /crlExtensions/ },
    {
      what: "with an explicit default value",
      parts: { extensions: [extension("1.2.3", derNull, [derFalse])] },
      reason: /contains its default value/,
    },
    {
      what: "with entries of other issuers",
      parts: {
        entries: [listed(sequence([extension(oids.certificateIssuer, sequence([]), [derTrue])]))],
      },
      reason: /contains certificates of other issuers/,
    },
    {
      what: "with two algorithms",
      parts: { inner: ecdsaWithNull },
      reason: /signature differs from signatureAlgorithm/,
    },
    { what: "signed with SHA-1", parts: { algorithm: sha1 }, reason: /SHA-?1|ecdsaWithSha1|1\.2\.840\.10045\.4\.1/i },
    {
      what: "signed with unexpected algorithm parameters",
      parts: { algorithm: ecdsaWithNull },
      reason: /could not be parsed/,
    },
    {
      what: "with an algorithm of another key type",
      parts: { algorithm: signatureAlgorithmIdentifier("Ed25519") },
      reason: /was not signed by this issuer|could not be parsed/,
    },
    { what: "of another issuer", parts: { issuer: stranger }, reason: /was not signed by this issuer/ },
    {
      what: "with a broken signature",
      parts: { change: (der) => der.with(der.length - 1, der.at(-1)! ^ 1) },
      reason: /was not signed by this issuer/,
    },
    {
      what: "with trailing data",
      parts: { change: (der) => Buffer.concat([der, Buffer.of(5, 0)]) },
      reason: /CRL/,
    },
    { what: "that is truncated", parts: { change: (der) => der.subarray(0, -1) }, reason: /could not be parsed/ },
    { what: "with an indefinite length", parts: { change: (der) => der.with(1, 0x80) }, reason: /could not be parsed/ },
    { what: "with a length that is not minimally encoded", parts: { change: longer }, reason: /could not be parsed/ },
  ])("$what", async ({ parts, reason }) => {
    const { status, body } = await resign("ec", listFrom("ec", parts))
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(reason)]])
    expect(body.errors[0]).toContain(own)
  })
})
