import { execFileSync } from "node:child_process"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { oids } from "./asn1/oids.ts"
import { context, type Der, derNull, encode, integer, objectIdentifier, sequence } from "./asn1/writer.ts"
import {
  chooseSignatureAlgorithm,
  fitsKey,
  parseSignatureAlgorithm,
  readSignatureAlgorithm,
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
  signatureScheme,
} from "./signature-algorithm.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

const algorithms: readonly SignatureAlgorithm[] = [
  "SHA256WithRSA",
  "SHA384WithRSA",
  "SHA512WithRSA",
  "SHA256WithRSAPSS",
  "SHA384WithRSAPSS",
  "SHA512WithRSAPSS",
  "ECDSAWithSHA256",
  "ECDSAWithSHA384",
  "ECDSAWithSHA512",
  "Ed25519",
]

test.each([
  { key: { type: "rsa", bits: 2048 }, signatureBits: 0, usePss: false, chosen: "SHA256WithRSA" },
  { key: { type: "rsa", bits: 8192 }, signatureBits: 0, usePss: false, chosen: "SHA256WithRSA" },
  { key: { type: "rsa", bits: 2048 }, signatureBits: 256, usePss: false, chosen: "SHA256WithRSA" },
  { key: { type: "rsa", bits: 2048 }, signatureBits: 384, usePss: false, chosen: "SHA384WithRSA" },
  { key: { type: "rsa", bits: 2048 }, signatureBits: 512, usePss: false, chosen: "SHA512WithRSA" },
  { key: { type: "rsa", bits: 2048 }, signatureBits: 0, usePss: true, chosen: "SHA256WithRSAPSS" },
  { key: { type: "rsa", bits: 2048 }, signatureBits: 384, usePss: true, chosen: "SHA384WithRSAPSS" },
  { key: { type: "rsa", bits: 2048 }, signatureBits: 512, usePss: true, chosen: "SHA512WithRSAPSS" },
  { key: { type: "ec", bits: 224 }, signatureBits: 0, usePss: false, chosen: "ECDSAWithSHA256" },
  { key: { type: "ec", bits: 256 }, signatureBits: 0, usePss: false, chosen: "ECDSAWithSHA256" },
  { key: { type: "ec", bits: 256 }, signatureBits: 512, usePss: true, chosen: "ECDSAWithSHA256" },
  { key: { type: "ec", bits: 384 }, signatureBits: 256, usePss: false, chosen: "ECDSAWithSHA384" },
  { key: { type: "ec", bits: 521 }, signatureBits: 0, usePss: false, chosen: "ECDSAWithSHA512" },
  { key: { type: "ed25519" }, signatureBits: 384, usePss: true, chosen: "Ed25519" },
] as const)(
  "a key of $key.type $key.bits signs with $chosen when asked for $signatureBits bits and PSS $usePss",
  ({ key, chosen, ...choice }) => {
    expect(chooseSignatureAlgorithm(key, choice)).toBe(chosen)
    expect(fitsKey(chosen, key)).toBe(true)
  },
)

test.each([
  { algorithm: "SHA256WithRSA", fits: "rsa" },
  { algorithm: "SHA512WithRSAPSS", fits: "rsa" },
  { algorithm: "ECDSAWithSHA384", fits: "ec" },
  { algorithm: "Ed25519", fits: "ed25519" },
] as const)("$algorithm suits $fits keys only", ({ algorithm, fits }) => {
  const keys = [{ type: "rsa", bits: 2048 }, { type: "ec", bits: 256 }, { type: "ed25519" }] as const
  expect(keys.filter((key) => fitsKey(algorithm, key)).map(({ type }) => type)).toEqual([fits])
})

test("algorithms are known by their names in any case", () => {
  for (const name of algorithms) {
    expect(parseSignatureAlgorithm(name)).toBe(name)
    expect(parseSignatureAlgorithm(name.toLowerCase())).toBe(name)
    expect(parseSignatureAlgorithm(name.toUpperCase())).toBe(name)
  }
  for (const name of ["", "SHA1WithRSA", "MD5WithRSA", "sha256", "constructor", "Ed25519 "])
    expect(parseSignatureAlgorithm(name)).toBeUndefined()
})

const opensslNames: Readonly<Record<SignatureAlgorithm, string>> = {
  SHA256WithRSA: "sha256WithRSAEncryption",
  SHA384WithRSA: "sha384WithRSAEncryption",
  SHA512WithRSA: "sha512WithRSAEncryption",
  SHA256WithRSAPSS: "rsassaPss sha256 mgf1 sha256 20",
  SHA384WithRSAPSS: "rsassaPss sha384 mgf1 sha384 30",
  SHA512WithRSAPSS: "rsassaPss sha512 mgf1 sha512 40",
  ECDSAWithSHA256: "ecdsa-with-SHA256",
  ECDSAWithSHA384: "ecdsa-with-SHA384",
  ECDSAWithSHA512: "ecdsa-with-SHA512",
  Ed25519: "ED25519",
}

test.each(algorithms)("the identifier of %s is that of OpenSSL, and is read again", (algorithm) => {
  const der = signatureAlgorithmIdentifier(algorithm)
  const dump = execFileSync("openssl", ["asn1parse", "-inform", "DER"], { input: der, encoding: "utf8" })
  const values = [...dump.matchAll(/prim: (?:OBJECT|INTEGER) *:(.*)/g)].map(([, value]) => value)
  expect(values.join(" ")).toBe(opensslNames[algorithm])
  expect(readSignatureAlgorithm(der)).toEqual({ algorithm, scheme: signatureScheme(algorithm) })
})

const identifier = (oid: string, ...parameters: readonly Der[]): Uint8Array =>
  encode(sequence([objectIdentifier(oid), ...parameters]))
const digest = (oid: string, ...parameters: readonly Der[]): Der => sequence([objectIdentifier(oid), ...parameters])
const mgf1 = (hash: Der): Der => sequence([objectIdentifier(oids.mgf1), hash])
const sha256 = digest(oids.sha256, derNull)
const pss = (...parameters: readonly Der[]): Uint8Array => identifier(oids.rsassaPss, sequence(parameters))
const pssOf = (hash: Der, mask: Der, salt: number): Uint8Array =>
  pss(context(0, [hash]), context(1, [mask]), context(2, [integer(salt)]))

test.each([
  { why: "RSA without NULL", der: identifier(oids.sha256WithRsa), algorithm: "SHA256WithRSA" },
  {
    why: "PSS whose hashes lack NULL",
    der: pssOf(digest(oids.sha256), mgf1(digest(oids.sha256)), 32),
    algorithm: "SHA256WithRSAPSS",
  },
])("$why is read (RFC 4055, sections 2.1 and 5)", ({ der, algorithm }) => {
  expect(readSignatureAlgorithm(der).algorithm).toBe(algorithm)
})

test("a salt that is longer than the hash is read", () => {
  expect(readSignatureAlgorithm(pssOf(sha256, mgf1(sha256), 222)).scheme).toEqual({
    keyType: "rsa",
    hash: "sha256",
    padding: "PSS",
    saltOctets: 222,
  })
})

const noSha1 = "Signatures with SHA-1 are not supported; use SHA-256 or better"

test.each([
  {
    der: identifier(oids.md5WithRsa, derNull),
    refusal: "Signatures with MD5 are not supported; use SHA-256 or better",
  },
  { der: identifier(oids.sha1WithRsa, derNull), refusal: noSha1 },
  { der: identifier(oids.sha224WithRsa, derNull), refusal: "Signatures with SHA-224 are not supported" },
  { der: identifier(oids.ecdsaWithSha1), refusal: noSha1 },
  { der: identifier(oids.ecdsaWithSha224), refusal: "Signatures with SHA-224 are not supported" },
  { der: identifier("1.2.840.10040.4.3"), refusal: "Signatures of the algorithm 1.2.840.10040.4.3 are not supported" },
  { der: identifier(oids.rsaEncryption, derNull), refusal: "Signatures of the algorithm 1.2.840.113549.1.1.1" },
  { der: identifier(oids.ecdsaWithSha256, derNull), refusal: "parameters is followed by extra octets" },
  { der: identifier(oids.ed25519, derNull), refusal: "parameters is followed by extra octets" },
  { der: identifier(oids.sha256WithRsa, derNull, derNull), refusal: "parameters is followed by extra octets" },
  { der: identifier(oids.sha256WithRsa, integer(0)), refusal: "parameters is followed by extra octets" },
  { der: pss(), refusal: noSha1 },
  { der: identifier(oids.rsassaPss), refusal: "parameters is missing" },
  { der: pss(context(0, [sha256])), refusal: noSha1 },
  { der: pssOf(digest(oids.sha1, derNull), mgf1(sha256), 32), refusal: noSha1 },
  { der: pssOf(sha256, mgf1(digest(oids.sha1, derNull)), 32), refusal: noSha1 },
  { der: pssOf(sha256, mgf1(digest(oids.sha512)), 32), refusal: "with different hashes for mask and message" },
  { der: pssOf(sha256, digest(oids.sha256, sha256), 32), refusal: "maskGenAlgorithm is not MGF1" },
  { der: pssOf(sha256, sequence([objectIdentifier(oids.mgf1)]), 32), refusal: "maskGenAlgorithm is missing" },
  { der: pssOf(sha256, mgf1(sha256), 20), refusal: "need a salt as long as the hash, 32 octets; got 20" },
  { der: pssOf(sha256, mgf1(sha256), -1), refusal: "saltLength is not between 0 and 2014" },
  { der: pssOf(sha256, mgf1(sha256), 2015), refusal: "saltLength is not between 0 and 2014" },
  { der: pss(context(0, [sha256]), context(1, [mgf1(sha256)])), refusal: "as long as the hash, 32 octets; got 20" },
  {
    der: pss(context(0, [sha256]), context(1, [mgf1(sha256)]), context(2, [integer(32)]), context(3, [integer(1)])),
    refusal: "trailerField is followed by extra octets",
  },
  { der: new Uint8Array(), refusal: "signature algorithm: AlgorithmIdentifier is missing" },
  {
    der: Buffer.concat([identifier(oids.ed25519), derNull]),
    refusal: "AlgorithmIdentifier is followed by extra octets",
  },
])("a signature algorithm is rejected: $refusal", ({ der, refusal }) => {
  expect(() => readSignatureAlgorithm(der)).toThrow(UnacceptableInput)
  expect(() => readSignatureAlgorithm(der)).toThrow(refusal)
})

test("random octets are rejected or name an algorithm", () => {
  const spoiled = fc
    .tuple(fc.constantFrom(...algorithms), fc.nat(), fc.nat(255))
    .map(([algorithm, at, octet]) =>
      signatureAlgorithmIdentifier(algorithm).map((was, index, { length }) => (index === at % length ? octet : was)),
    )
  fc.assert(
    fc.property(fc.oneof(spoiled, fc.uint8Array({ maxLength: 80 })), (octets) => {
      let outcome: unknown
      try {
        outcome = readSignatureAlgorithm(octets).algorithm
      } catch (error) {
        outcome = error
      }
      expect(outcome instanceof UnacceptableInput || algorithms.includes(outcome as SignatureAlgorithm)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})
