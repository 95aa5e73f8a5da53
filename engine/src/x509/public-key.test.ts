import { execFileSync } from "node:child_process"
import { createPublicKey, generateKeyPairSync } from "node:crypto"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { allKeyAlgorithms, testKeyGenerator } from "../../testing/test-keys.ts"
import { oids } from "./asn1/oids.ts"
import { bitString, derNull, encode, integer, objectIdentifier, sequence, unsignedInteger } from "./asn1/writer.ts"
import { describeKeyAlgorithm } from "./key-algorithm.ts"
import { isSamePublicKey, publicKeyObject, readPublicKey, subjectKeyIdentifier } from "./public-key.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

const described = allKeyAlgorithms.map((algorithm) => ({ algorithm, name: describeKeyAlgorithm(algorithm) }))

const openssl = (args: readonly string[], input: Uint8Array): Buffer => execFileSync("openssl", args, { input })

test.each(described)("a public key of $name is written as by OpenSSL, and read again", async ({ algorithm }) => {
  const { publicKey, ...key } = await testKeyGenerator.generate(algorithm).then((key) => ({
    publicKey: key.publicKey,
    der: key.der("pkcs8"),
  }))
  const judged = openssl(["pkey", "-inform", "DER", "-pubout", "-outform", "DER"], Buffer.from(key.der))
  expect(Buffer.from(publicKey.spki)).toEqual(judged)
  const read = readPublicKey(judged)
  expect(read.algorithm).toEqual(algorithm)
  expect(Buffer.from(read.octets)).toEqual(Buffer.from(publicKey.octets))
  expect(isSamePublicKey(read, publicKey)).toBe(true)
})

test("the subject key identifier is the one that OpenSSL computes", async () => {
  const { publicKey } = await testKeyGenerator.generate({ type: "ec", bits: 256 })
  const dumped = openssl(["pkey", "-pubin", "-inform", "DER", "-outform", "DER"], Buffer.from(publicKey.spki))
  const octets = dumped.subarray(dumped.length - 65)
  const digest = openssl(["dgst", "-sha1", "-binary"], octets)
  expect(Buffer.from(subjectKeyIdentifier(publicKey))).toEqual(digest)
})

test("a key verifies with the same object every time", async () => {
  const { publicKey } = await testKeyGenerator.generate({ type: "ed25519" })
  const before = { ...publicKey }
  expect(publicKeyObject(publicKey)).toBe(publicKeyObject(publicKey))
  expect(publicKeyObject({ ...publicKey })).not.toBe(publicKeyObject(publicKey))
  expect({ ...publicKey }).toStrictEqual(before)
})

const exported = (pair: { publicKey: { export(options: { type: "spki"; format: "der" }): Buffer } }): Uint8Array =>
  pair.publicKey.export({ type: "spki", format: "der" })

const identifier = (oid: string, ...parameters: readonly Uint8Array[]) =>
  sequence([objectIdentifier(oid), ...parameters])
const spkiOf = (algorithm: ReturnType<typeof identifier>, octets: ReturnType<typeof sequence>) =>
  encode(sequence([algorithm, bitString(octets)]))

const rsaSpki = (modulus: bigint, exponent: bigint) =>
  spkiOf(identifier(oids.rsaEncryption, derNull), sequence([integer(modulus), integer(exponent)]))
const modulus = (bits: number) => 2n ** BigInt(bits - 1) + 1n

const p256 = objectIdentifier(oids.prime256v1)
const ecSpki = (point: Uint8Array, ...parameters: readonly Uint8Array[]) =>
  spkiOf(identifier(oids.ecPublicKey, ...parameters), point)
const good = exported(generateKeyPairSync("ec", { namedCurve: "P-256" })).subarray(-65)
const offCurve = Uint8Array.from(good, (octet, index) => (index === 64 ? octet ^ 1 : octet))

const ed25519Spki = (octets: Uint8Array) => spkiOf(identifier(oids.ed25519), octets)

test.each([
  { bits: 2048, exponent: 65_537n },
  { bits: 2049, exponent: 3n },
  { bits: 2056, exponent: 2n ** 64n - 1n },
  { bits: 16_384, exponent: 65_537n },
])("an RSA modulus of $bits bits with the exponent $exponent is read", ({ bits, exponent }) => {
  expect(readPublicKey(rsaSpki(modulus(bits), exponent)).algorithm).toEqual({ type: "rsa", bits })
})

test.each([
  { spki: rsaSpki(modulus(1024), 65_537n), refusal: "RSA keys < 2048 bits are unsafe and not supported: got 1024" },
  { spki: rsaSpki(modulus(2047), 65_537n), refusal: "RSA keys < 2048 bits are unsafe and not supported: got 2047" },
  { spki: rsaSpki(0n, 65_537n), refusal: "RSA keys < 2048 bits are unsafe and not supported: got 0" },
  { spki: rsaSpki(modulus(16_385), 3n), refusal: "RSA keys > 16384 bits are not supported: got 16385" },
  { spki: rsaSpki(modulus(400_000), 3n), refusal: "RSA keys > 16384 bits are not supported: got 400000" },
  { spki: rsaSpki(-modulus(2048), 3n), refusal: "public key: modulus is negative" },
  { spki: rsaSpki(2n ** 2047n, 3n), refusal: "The RSA modulus is even" },
  { spki: rsaSpki(modulus(2048), 65_536n), refusal: "The RSA public exponent is even" },
  { spki: rsaSpki(modulus(2048), 0n), refusal: "The RSA public exponent is even" },
  { spki: rsaSpki(modulus(2048), 1n), refusal: "The RSA public exponent is 1" },
  { spki: rsaSpki(modulus(2048), 2n ** 64n + 1n), refusal: "The RSA public exponent has more than 64 bits" },
  {
    spki: spkiOf(identifier(oids.rsaEncryption), sequence([integer(modulus(2048)), integer(3)])),
    refusal: "public key: parameters is missing",
  },
  {
    spki: spkiOf(identifier(oids.rsaEncryption, derNull), sequence([integer(modulus(2048))])),
    refusal: "public key: publicExponent is missing",
  },
  {
    spki: spkiOf(identifier(oids.rsaEncryption, derNull), sequence([integer(modulus(2048)), integer(3), integer(5)])),
    refusal: "public key: publicExponent is followed by extra octets",
  },
  {
    spki: spkiOf(identifier(oids.rsaEncryption, derNull), Buffer.concat([encode(sequence([])), derNull])),
    refusal: "public key: RSAPublicKey is followed by extra octets",
  },
  {
    spki: exported(generateKeyPairSync("rsa-pss", { modulusLength: 2048 })),
    refusal: "Keys that are restricted to RSASSA-PSS are not supported; use a plain RSA key",
  },
  { spki: ecSpki(good), refusal: "public key: namedCurve is missing" },
  {
    spki: exported(generateKeyPairSync("ec", { namedCurve: "P-256", paramEncoding: "explicit" })),
    refusal: "Elliptic curve keys with explicit parameters are not supported; use a named curve",
  },
  {
    spki: exported(generateKeyPairSync("ec", { namedCurve: "secp256k1" })),
    refusal: "Keys on the elliptic curve 1.3.132.0.10 are not supported",
  },
  { spki: ecSpki(good, p256, derNull), refusal: "public key: parameters is followed by extra octets" },
  { spki: ecSpki(offCurve, p256), refusal: "The public key is a point that is not on its elliptic curve" },
  { spki: ecSpki(new Uint8Array(65).fill(4, 0, 1), p256), refusal: "a point that is not on its elliptic curve" },
  { spki: ecSpki(good.subarray(0, 64), p256), refusal: "subjectPublicKey is not an uncompressed point of P-256" },
  { spki: ecSpki(Uint8Array.of(0), p256), refusal: "subjectPublicKey is not an uncompressed point of P-256" },
  {
    spki: ecSpki(Uint8Array.of(2, ...good.subarray(1, 33)), p256),
    refusal: "subjectPublicKey is not an uncompressed point of P-256",
  },
  {
    spki: ecSpki(Uint8Array.of(6, ...good.subarray(1)), p256),
    refusal: "subjectPublicKey is not an uncompressed point of P-256",
  },
  { spki: ecSpki(good, objectIdentifier(oids.secp384r1)), refusal: "is not an uncompressed point of P-384" },
  { spki: ed25519Spki(new Uint8Array(31).fill(9)), refusal: "public key: subjectPublicKey is not 32 octets long" },
  {
    spki: spkiOf(identifier(oids.ed25519, derNull), new Uint8Array(32).fill(9)),
    refusal: "public key: algorithm is followed by extra octets",
  },
  {
    spki: exported(generateKeyPairSync("ed448")),
    refusal: "Keys of the algorithm 1.3.101.113 are not supported",
  },
  {
    spki: exported(generateKeyPairSync("x25519")),
    refusal: "Keys of the algorithm 1.3.101.110 are not supported",
  },
  { spki: new Uint8Array(), refusal: "public key: SubjectPublicKeyInfo is missing" },
  { spki: Buffer.concat([ed25519Spki(new Uint8Array(32).fill(9)), derNull]), refusal: "is followed by extra octets" },
])("a public key is rejected: $refusal", ({ spki, refusal }) => {
  expect(() => readPublicKey(spki)).toThrow(UnacceptableInput)
  expect(() => readPublicKey(spki)).toThrow(refusal)
})

const fieldPrime = 2n ** 255n - 19n
const orderEight = BigInt("0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7")
const littleEndian = (y: bigint) => Buffer.from(Buffer.from(y.toString(16).padStart(64, "0"), "hex").toReversed())

test.each(
  [0n, 1n, fieldPrime - 1n, fieldPrime, fieldPrime + 1n, orderEight, fieldPrime - orderEight].flatMap((y) => [
    { y, sign: 0n },
    { y, sign: 1n },
  ]),
)("the Ed25519 point of small order with y = $y and sign $sign is rejected", ({ y, sign }) => {
  expect(() => readPublicKey(ed25519Spki(littleEndian(y + sign * 2n ** 255n)))).toThrow(
    "The Ed25519 public key is a point of small order",
  )
})

test("random octets are rejected or are a key that OpenSSL reads too", () => {
  const spki = rsaSpki(modulus(2048), 65_537n)
  const spoiled = fc
    .tuple(fc.constantFrom(spki, ecSpki(good, p256), ed25519Spki(new Uint8Array(32).fill(9))), fc.nat(), fc.nat(255))
    .map(([from, at, octet]) => Uint8Array.from(from, (was, index) => (index === at % from.length ? octet : was)))
  const cut = fc.tuple(fc.constantFrom(spki, ecSpki(good, p256)), fc.nat()).map(([from, at]) => from.subarray(0, at))
  fc.assert(
    fc.property(fc.oneof(spoiled, cut, fc.uint8Array({ maxLength: 100 })), (octets) => {
      let refusal: unknown
      let type: string | undefined
      try {
        type = readPublicKey(octets).algorithm.type
      } catch (error) {
        refusal = error
      }
      const judged =
        refusal === undefined ? createPublicKey({ key: Buffer.from(octets), format: "der", type: "spki" }) : undefined
      expect(judged?.asymmetricKeyType).toBe(type)
      expect(refusal === undefined || refusal instanceof UnacceptableInput).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test("a modulus is written without superfluous octets", () => {
  const key = readPublicKey(rsaSpki(modulus(2048), 65_537n))
  expect(encode(sequence([unsignedInteger(Buffer.from(modulus(2048).toString(16), "hex")), integer(65_537)]))).toEqual(
    Uint8Array.from(key.octets),
  )
})
