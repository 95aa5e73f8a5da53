import { execFileSync } from "node:child_process"
import { generateKeyPairSync, hash, sign } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { MalformedDer } from "./asn1/malformed-der.ts"
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { contextPrimitive } from "./asn1/tag.ts"
import {
  context,
  type Der,
  derNull,
  encode,
  integer,
  objectIdentifier,
  octetString,
  primitive,
  sequence,
} from "./asn1/writer.ts"
import { parseCertificate } from "./certificate.ts"
import { encodeExtensions } from "./extension.ts"
import {
  assembleOcspResponse,
  maxCertificates,
  encodeOcspFailure,
  encodeResponseData,
  issuerHashes,
  ocspFailures,
  parseOcspRequest,
} from "./ocsp.ts"
import { readPublicKey } from "./public-key.ts"
import { chooseSignatureAlgorithm, signatureAlgorithmIdentifier } from "./signature-algorithm.ts"

const folder = mkdtempSync(join(tmpdir(), "chancery-ocsp-"))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)
const openssl = (...args: string[]) =>
  execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

beforeAll(() => {
  const ca = ["-subj", "/CN=CA", "-addext", "keyUsage=digitalSignature,keyCertSign,cRLSign"]
  openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", ...ca)
  openssl("x509", "-in", "ca.pem", "-outform", "DER", "-out", "ca.der")
})

/** Builds a request with OpenSSL for serial numbers of the CA. */
function asked(...args: string[]): Uint8Array {
  openssl("ocsp", "-issuer", "ca.pem", ...args, "-reqout", "request.der")
  return readFileSync(at("request.der"))
}

const ca = () => {
  const parsed = parseCertificate(readFileSync(at("ca.der")))
  return { name: parsed.subject, publicKeyBits: readPublicKey(parsed.subjectPublicKeyInfo).octets }
}

describe("requests of OpenSSL:", () => {
  test.each(["sha1", "sha256", "sha384", "sha512"] as const)("the issuer is known by its %s hashes", (digest) => {
    const [id] = parseOcspRequest(asked(`-${digest}`, "-serial", "0x1234")).certificates
    const { nameHash, keyHash } = issuerHashes(digest, ca())
    expect(id).toMatchObject({ digest })
    expect(Buffer.from(id?.issuerNameHash ?? []).equals(nameHash)).toBe(true)
    expect(Buffer.from(id?.issuerKeyHash ?? []).equals(keyHash)).toBe(true)
    expect([...(id?.serialNumber ?? [])]).toEqual([0x12, 0x34])
  })

  test("several certificates are read in their order, with the nonce", () => {
    const request = parseOcspRequest(asked("-serial", "1", "-serial", "2", "-serial", "3", "-nonce"))
    expect(request.certificates.map(({ serialNumber }) => [...serialNumber])).toEqual([[1], [2], [3]])
    expect(request.nonce?.length).toBeGreaterThanOrEqual(16)
    expect(parseOcspRequest(asked("-serial", "1", "-no_nonce")).nonce).toBeUndefined()
  })

  test("a signed request is read, and an unknown digest matches no issuer", () => {
    const signed = asked("-serial", "7", "-signer", "ca.pem", "-signkey", "ca.key")
    expect(parseOcspRequest(signed).certificates).toHaveLength(1)
    const [id] = parseOcspRequest(asked("-md5", "-serial", "7")).certificates
    expect(id?.digest).toBeUndefined()
  })
})

interface Parts {
  readonly version?: Der
  readonly ids?: readonly Der[]
  readonly single?: Der
  readonly extensions?: Der
}

const certificateId = (serialNumber: Der = integer(7), parameters: readonly Der[] = [derNull]): Der =>
  sequence([
    sequence([objectIdentifier(oids.sha1), ...parameters]),
    octetString(Buffer.alloc(20, 1)),
    octetString(Buffer.alloc(20, 2)),
    serialNumber,
  ])

const requestOf = ({ version, ids = [certificateId()], single, extensions }: Parts): Uint8Array =>
  encode(
    sequence([
      sequence([
        ...(version === undefined ? [] : [context(0, [version])]),
        sequence(ids.map((id) => sequence(single === undefined ? [id] : [id, context(0, [single])]))),
        ...(extensions === undefined ? [] : [context(2, [extensions])]),
      ]),
    ]),
  )

const extension = (oid: string, value: Der, critical = false) =>
  encodeExtensions([{ oid, critical, value: encode(value) }])
const nonce = (length: number) => extension(oids.ocspNonce, octetString(Buffer.alloc(length, 9)))
const strange = (critical: boolean) => extension("1.2.3.4", derNull, critical)

describe("a request", () => {
  test.each([1, 32, 128])("with a nonce of %i octets is read", (length) => {
    expect(parseOcspRequest(requestOf({ extensions: nonce(length) })).nonce).toHaveLength(length)
  })

  test("without digest parameters is read, and its CertID is preserved octet for octet", () => {
    const id = encode(certificateId(integer(7), []))
    expect(parseOcspRequest(requestOf({ ids: [id] })).certificates[0]?.der).toEqual(id)
  })

  test("may have unknown extensions and acceptable response types", () => {
    const types = extension(oids.ocspResponse, sequence([objectIdentifier(oids.ocspBasic)]), true)
    expect(parseOcspRequest(requestOf({ extensions: types })).certificates).toHaveLength(1)
    expect(parseOcspRequest(requestOf({ extensions: strange(false), single: strange(false) })).nonce).toBeUndefined()
  })

  test.each<[string, Parts]>([
    ["for no certificate", { ids: [] }],
    ["for too many", { ids: Array.from({ length: maxCertificates + 1 }, () => certificateId()) }],
    ["of another version", { version: integer(1) }],
    ["with an empty nonce", { extensions: nonce(0) }],
    ["with a nonce that is too long", { extensions: nonce(129) }],
    ["with a nonce that is no OCTET STRING", { extensions: extension(oids.ocspNonce, integer(1)) }],
    ["with a critical extension that is not known", { extensions: strange(true) }],
    ["with one of a single request", { single: strange(true) }],
    ["for a negative serial number", { ids: [certificateId(integer(-1))] }],
  ])("%s is refused", (_name, parts) => {
    expect(() => parseOcspRequest(requestOf(parts))).toThrow(MalformedDer)
  })

  test("that is truncated, or followed by octets, is rejected", () => {
    const whole = requestOf({ extensions: nonce(16), single: strange(false) })
    for (let length = 0; length < whole.length; length += 1)
      expect(() => parseOcspRequest(whole.subarray(0, length)), `${length}`).toThrow(MalformedDer)
    expect(() => parseOcspRequest(Buffer.concat([whole, Buffer.of(0)]))).toThrow(MalformedDer)
  })
})

const now = Math.floor(Date.now() / 1_000) * 1_000
const hour = 3_600_000

describe("OpenSSL verifies responses", () => {
  const keys = {
    rsa: ["rsa:2048"],
    "P-256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "P-384": ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
    ed25519: ["ed25519"],
  }
  test.each(Object.entries(keys))("of a key of %s about certificates in every state", (name, kind) => {
    openssl(
      ...["req", "-x509", "-newkey", ...kind, "-nodes", "-keyout", `${name}.key`, "-out", `${name}.pem`],
      ...["-subj", `/CN=${name}`, "-addext", "keyUsage=digitalSignature,keyCertSign"],
    )
    const serials = ["-serial", "0x11", "-serial", "0x22", "-serial", "0x33", "-serial", "0x44"]
    openssl("ocsp", "-issuer", `${name}.pem`, ...serials, "-reqout", "q.der")
    const request = parseOcspRequest(readFileSync(at("q.der")))
    openssl("x509", "-in", `${name}.pem`, "-outform", "DER", "-out", "i.der")
    const { octets, algorithm: key } = readPublicKey(parseCertificate(readFileSync(at("i.der"))).subjectPublicKeyInfo)
    const statuses = [
      { kind: "good" },
      { kind: "revoked", at: now - hour, reason: "keyCompromise" },
      { kind: "revoked", at: now - 2 * hour, reason: "unspecified" },
      { kind: "unknown" },
    ] as const
    const tbs = encodeResponseData({
      responderKeyHash: hash("sha1", octets, "buffer"),
      producedAt: now,
      responses: request.certificates.map(({ der }, index) => ({
        certificateId: der,
        status: statuses[index] ?? { kind: "unknown" },
        thisUpdate: now,
        nextUpdate: index === 0 ? undefined : now + hour,
      })),
      nonce: request.nonce,
    })
    const algorithm = chooseSignatureAlgorithm(key, { signatureBits: 0, usePss: false })
    const digest = { rsa: "sha256", "P-256": "sha256", "P-384": "sha384", ed25519: null }[name] ?? null
    const answer = assembleOcspResponse({
      tbs,
      signatureAlgorithm: signatureAlgorithmIdentifier(algorithm),
      signature: sign(digest, tbs, readFileSync(at(`${name}.key`))),
      certificates: [],
    })
    writeFileSync(at("a.der"), answer)
    const judged = [
      "-no_nonce",
      "-respin",
      "a.der",
      "-issuer",
      `${name}.pem`,
      ...serials,
      "-CAfile",
      `${name}.pem`,
      "-resp_text",
    ]
    const seen = execFileSync("sh", ["-c", `openssl ocsp ${judged.join(" ")} 2>&1`], { cwd: folder, encoding: "utf8" })
    expect(seen).toContain("Response verify OK")
    expect(seen).toMatch(/^0x11: good/m)
    expect(seen).toMatch(/^0x22: revoked/m)
    expect(seen).toMatch(/Reason: keyCompromise/)
    expect(seen).toMatch(/^0x33: revoked/m)
    expect(seen).toMatch(/^0x44: unknown/m)
    expect(seen).toMatch(/OCSP Nonce/)
    // RFC 6960, section 4.2.1: the reason `unspecified` is left out.
    expect(seen.match(/Revocation Reason/g)).toHaveLength(1)
  })

  test.each(Object.entries(ocspFailures))("%s is a status, without an answer", (failure, code) => {
    const der = encodeOcspFailure(failure as keyof typeof ocspFailures)
    expect([...der]).toEqual([0x30, 0x03, 0x0a, 0x01, code])
  })
})

test("certificates in a response follow its signature", () => {
  const certificate = readFileSync(at("ca.der"))
  const { privateKey } = generateKeyPairSync("ed25519")
  const tbs = encodeResponseData({
    responderKeyHash: Buffer.alloc(20),
    producedAt: now,
    responses: [],
    nonce: undefined,
  })
  const signatureAlgorithm = signatureAlgorithmIdentifier("Ed25519")
  const signature = sign(null, tbs, privateKey)
  const der = assembleOcspResponse({ tbs, signatureAlgorithm, signature, certificates: [certificate] })
  const outer = new DerReader(der, "answer").sequence("OCSPResponse")
  outer.content(0x0a, "status")
  const bytes = outer.optional(0, "bytes")?.sequence("bytes")
  expect(bytes?.oid("type")).toBe(oids.ocspBasic)
  const basic = new DerReader(bytes?.octetString("basic") ?? new Uint8Array(), "basic").sequence("basic")
  expect([...basic.whole("tbs", 0x30)]).toEqual([...tbs])
  basic.whole("signatureAlgorithm", 0x30)
  expect([...basic.bitString("signature")]).toEqual([...signature])
  expect([...(basic.optional(0, "certs")?.sequence("certs").whole("cert", 0x30) ?? [])]).toEqual([...certificate])
  expect(primitive(contextPrimitive(0), [])).toHaveLength(2)
})
