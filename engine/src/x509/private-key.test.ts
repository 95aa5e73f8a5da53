import { execFileSync } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { inspect } from "node:util"
import * as fc from "fast-check"
import { beforeAll, describe, expect, test } from "vitest"
import { allKeyAlgorithms, testKeyGenerator, testRsaKey } from "../../testing/test-keys.ts"
import { oids } from "./asn1/oids.ts"
import {
  primitive,
  sequence,
  bitString,
  context,
  derNull,
  encode,
  integer,
  objectIdentifier,
  octetString,
  tree,
} from "./asn1/writer.ts"
import { describeKeyAlgorithm } from "./key-algorithm.ts"
import { readPem } from "./pem.ts"
import {
  isPrivateKeyLabel,
  type PrivateKey,
  type PrivateKeyFormat,
  readPrivateKey,
  readPrivateKeyBlock,
  readPrivateKeyPem,
} from "./private-key.ts"
import { isSamePublicKey, publicKeyOf } from "./public-key.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

const openssl = (args: readonly string[], input: string | Uint8Array): Buffer =>
  execFileSync("openssl", args, { input })
const limit = 65_536
const formats: readonly PrivateKeyFormat[] = ["traditional", "pkcs8"]

describe.each(allKeyAlgorithms.map((algorithm) => ({ algorithm, name: describeKeyAlgorithm(algorithm) })))(
  "a private key of $name",
  ({ algorithm }) => {
    let key: PrivateKey
    beforeAll(async () => {
      key = await testKeyGenerator.generate(algorithm)
    })

    test.each([
      { format: "pkcs8", options: [] },
      { format: "traditional", options: algorithm.type === "ed25519" ? [] : ["-traditional"] },
    ] as const)("is written in the $format format as OpenSSL writes it", ({ format, options }) => {
      const judged = openssl(["pkey", "-inform", "DER", ...options], Buffer.from(key.der("pkcs8"))).toString("utf8")
      expect(`${key.pem(format)}\n`).toBe(judged)
      expect([{ label: readPem(judged, limit)[0]?.label, bytes: Buffer.from(key.der(format)) }]).toEqual(
        readPem(judged, limit),
      )
    })

    test("has the label of its type in the traditional format", () => {
      const labels = { rsa: "RSA PRIVATE KEY", ec: "EC PRIVATE KEY", ed25519: "PRIVATE KEY" }
      expect(readPem(key.pem("traditional"), limit)[0]?.label).toBe(labels[algorithm.type])
      expect(readPem(key.pem("pkcs8"), limit)[0]?.label).toBe("PRIVATE KEY")
    })

    test.each(formats)("is read again from the %s format, DER and PEM", (format) => {
      for (const read of [readPrivateKey(key.der(format)), readPrivateKeyPem(`${key.pem(format)}\n`, limit)]) {
        expect(read.algorithm).toEqual(algorithm)
        expect(isSamePublicKey(read.publicKey, key.publicKey)).toBe(true)
        for (const format of formats) expect(Buffer.from(read.der(format))).toEqual(Buffer.from(key.der(format)))
      }
    })

    test("does not reveal its secret when it is logged, inspected or encoded as JSON", () => {
      const shown = `${inspect(key, { depth: 9, showHidden: true })}${JSON.stringify(key)}`
      const secret = Buffer.from(key.der("traditional")).subarray(20)
      expect(shown).not.toContain(secret.toString("hex"))
      expect(shown).not.toContain(secret.subarray(0, 6).join(","))
      expect(Object.keys(key)).toEqual(["publicKey"])
    })

    test("does not change when the octets that it was read from change", () => {
      for (const format of formats) {
        const octets = Buffer.from(key.der(format))
        const read = readPrivateKey(octets)
        octets.fill(0)
        expect(read.pem("pkcs8")).toBe(key.pem("pkcs8"))
      }
    })
  },
)

test("a key of Java that contains its public key (RFC 5958) is read", async () => {
  const key = await testKeyGenerator.generate({ type: "ed25519" })
  const parts = [integer(1), sequence([objectIdentifier(oids.ed25519)]), octetString(octetString(seedOf(key)))]
  const attributes = context(0, [sequence([objectIdentifier(oids.commonName), tree(0x31, [derNull])])])
  const publicKey = primitive(0x81, [0, ...key.publicKey.octets])
  expect(readPrivateKey(encode(sequence([...parts, publicKey]))).pem("pkcs8")).toBe(key.pem("pkcs8"))
  expect(readPrivateKey(encode(sequence([...parts, attributes, publicKey]))).pem("pkcs8")).toBe(key.pem("pkcs8"))
  const other = primitive(0x81, [0, ...(await testKeyGenerator.generate({ type: "ed25519" })).publicKey.octets])
  expect(() => readPrivateKey(encode(sequence([...parts, other])))).toThrow("does not match its public key")
})

test("a key of OpenSSL with EC PARAMETERS before it is read", () => {
  const text = openssl(["ecparam", "-name", "secp384r1", "-genkey"], "").toString("utf8")
  expect(text).toContain("EC PARAMETERS")
  expect(readPrivateKeyPem(text, limit).algorithm).toEqual({ type: "ec", bits: 384 })
})

test("a scalar without leading zeros, as old encoders write it, is read and written with them", () => {
  const scalar = Uint8Array.of(1, 2, 3)
  const key = readPrivateKey(sec1(scalar))
  expect(Buffer.from(key.der("traditional")).toString("hex")).toContain(`0420${"00".repeat(29)}010203`)
  expect(readPrivateKey(sec1(new Uint8Array([...new Uint8Array(29), ...scalar]))).pem("pkcs8")).toBe(key.pem("pkcs8"))
})

const p256 = objectIdentifier(oids.prime256v1)
const sec1 = (scalar: Uint8Array, ...rest: readonly ReturnType<typeof sequence>[]): Uint8Array =>
  encode(sequence([integer(1), octetString(scalar), ...(rest.length === 0 ? [context(0, [p256])] : rest)]))
const pkcs8 = (oid: string, parameters: readonly Uint8Array[], secret: ReturnType<typeof sequence>): Uint8Array =>
  encode(sequence([integer(0), sequence([objectIdentifier(oid), ...parameters]), octetString(secret)]))
const seedOf = (key: PrivateKey): Uint8Array => Uint8Array.from(key.der("pkcs8").subarray(-32))

const order = BigInt("0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
const octetsOf = (number: bigint): Uint8Array => Buffer.from(number.toString(16).padStart(64, "0"), "hex")

interface RsaNumbers {
  readonly version: bigint
  readonly n: bigint
  readonly e: bigint
  readonly d: bigint
  readonly p: bigint
  readonly q: bigint
  readonly dp: bigint
  readonly dq: bigint
  readonly qi: bigint
}
const jwk = testRsaKey(2048).keyObject().export({ format: "jwk" })
const number = (text: string | undefined) => BigInt(`0x${Buffer.from(text ?? "", "base64url").toString("hex")}`)
const numbers: RsaNumbers = {
  version: 0n,
  n: number(jwk.n),
  e: number(jwk.e),
  d: number(jwk.d),
  p: number(jwk.p),
  q: number(jwk.q),
  dp: number(jwk.dp),
  dq: number(jwk.dq),
  qi: number(jwk.qi),
}
const pkcs1 = (changes: Partial<RsaNumbers>): Uint8Array =>
  encode(sequence(Object.values({ ...numbers, ...changes }).map((number) => integer(number))))

const misfit = "The private key does not match its public key"
const huge = 2n ** 200_000n + 1n

test("an RSA key with consistent numbers is read", () => {
  expect(readPrivateKey(pkcs1({})).pem("pkcs8")).toBe(testRsaKey(2048).pem("pkcs8"))
})

test.each([
  { der: new Uint8Array(), refusal: "private key: PrivateKey is missing" },
  { der: encode(sequence([])), refusal: "private key: version is missing" },
  { der: encode(sequence([integer(0)])), refusal: "private key: privateKeyAlgorithm is missing" },
  { der: encode(sequence([integer(2), sequence([])])), refusal: "private key: version is not between 0 and 1" },
  { der: Buffer.concat([pkcs1({}), derNull]), refusal: "private key: PrivateKey is followed by extra octets" },
  { der: pkcs1({ version: 1n }), refusal: "private key: version is not between 0 and 0" },
  { der: pkcs1({ n: numbers.n + 2n }), refusal: misfit },
  { der: pkcs1({ e: 3n }), refusal: misfit },
  { der: pkcs1({ p: numbers.q }), refusal: misfit },
  { der: pkcs1({ p: numbers.n, q: 1n }), refusal: misfit },
  { der: pkcs1({ p: numbers.q, q: numbers.p }), refusal: misfit },
  { der: pkcs1({ p: 0n, q: 0n }), refusal: misfit },
  { der: pkcs1({ d: numbers.d + 2n }), refusal: misfit },
  { der: pkcs1({ dp: numbers.dp + numbers.p - 1n }), refusal: misfit },
  { der: pkcs1({ dq: 0n }), refusal: misfit },
  { der: pkcs1({ qi: numbers.qi + numbers.p }), refusal: misfit },
  { der: pkcs1({ d: 5n, dp: 5n, dq: 5n }), refusal: misfit },
  { der: pkcs1({ p: -numbers.p, q: -numbers.q }), refusal: "private key: prime1 is negative" },
  { der: pkcs1({ d: huge }), refusal: "private key: privateExponent is larger than the modulus" },
  { der: pkcs1({ dp: huge }), refusal: "private key: exponent1 is larger than the modulus" },
  { der: pkcs1({ qi: huge }), refusal: "private key: coefficient is larger than the modulus" },
  { der: pkcs1({ n: 2n ** 1023n + 1n }), refusal: "RSA keys < 2048 bits are unsafe and not supported: got 1024" },
  { der: pkcs1({ n: 2n ** 8192n + 1n }), refusal: "RSA private keys > 8192 bits are not supported: got 8193" },
  { der: pkcs1({ e: 1n }), refusal: "The RSA public exponent is 1" },
  {
    der: encode(
      sequence(
        Object.values(numbers)
          .slice(0, 8)
          .map((number) => integer(number)),
      ),
    ),
    refusal: "private key: coefficient is missing",
  },
  { der: sec1(new Uint8Array(32)), refusal: "The private key is out of range for EC P-256" },
  { der: sec1(octetsOf(order)), refusal: "The private key is out of range for EC P-256" },
  { der: sec1(new Uint8Array()), refusal: "The private key is out of range for EC P-256" },
  { der: sec1(new Uint8Array(33).fill(1)), refusal: "The private key is too long for EC P-256" },
  {
    der: sec1(octetsOf(7n), context(1, [bitString(new Uint8Array(65))])),
    refusal: "are missing; the private key does not name",
  },
  {
    der: sec1(octetsOf(7n), context(0, [p256]), context(1, [bitString(new Uint8Array(65).fill(4))])),
    refusal: misfit,
  },
  {
    der: sec1(octetsOf(7n), context(0, [objectIdentifier("1.3.132.0.10")])),
    refusal: "1.3.132.0.10 are not supported",
  },
  { der: sec1(octetsOf(7n), context(0, [sequence([])])), refusal: "explicit parameters are not supported" },
  { der: encode(sequence([integer(0), octetString(octetsOf(7n))])), refusal: "private key: version is not 1" },
  {
    der: pkcs8(oids.ecPublicKey, [objectIdentifier(oids.secp384r1)], sec1(octetsOf(7n))),
    refusal: "The private key and its algorithm name different elliptic curves",
  },
  {
    der: pkcs8(oids.rsaEncryption, [derNull], sec1(octetsOf(7n))),
    refusal: "private key: version is not between 0 and 0",
  },
  { der: pkcs8(oids.rsaEncryption, [], pkcs1({})), refusal: "private key: parameters is missing" },
  { der: pkcs8(oids.ed25519, [], new Uint8Array(32)), refusal: "private key: CurvePrivateKey has the tag 0x00" },
  {
    der: pkcs8(oids.ed25519, [], octetString(new Uint8Array(31))),
    refusal: "The Ed25519 private key has 31 octets instead of 32",
  },
  {
    der: generateKeyPairSync("ed448").privateKey.export({ type: "pkcs8", format: "der" }),
    refusal: "Keys of the algorithm 1.3.101.113 are not supported",
  },
  {
    der: generateKeyPairSync("dsa", { modulusLength: 1024, divisorLength: 160 }).privateKey.export({
      type: "pkcs8",
      format: "der",
    }),
    refusal: "Keys of the algorithm 1.2.840.10040.4.1 are not supported",
  },
])("a private key is rejected: $refusal", ({ der, refusal }) => {
  expect(() => readPrivateKey(der)).toThrow(UnacceptableInput)
  expect(() => readPrivateKey(der)).toThrow(refusal)
})

const pem = (label: string, body = "AAEC\n") => `-----BEGIN ${label}-----\n${body}-----END ${label}-----\n`
const ecPem = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
const encryptedPem = ecPem().export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" })

test.each([
  { text: encryptedPem, refusal: "The private key is encrypted; decrypt it first" },
  {
    text: ecPem().export({ type: "sec1", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }),
    refusal: "PEM block 1 (EC PRIVATE KEY) is encrypted; decrypt it first",
  },
  { text: pem("OPENSSH PRIVATE KEY"), refusal: "is in OpenSSH format; convert it to PKCS#8 first" },
  { text: pem("DSA PRIVATE KEY"), refusal: 'Private keys of the kind "DSA PRIVATE KEY" are not supported' },
  { text: pem("CERTIFICATE"), refusal: 'contains a block "CERTIFICATE" where a private key is expected' },
  { text: pem("PUBLIC KEY"), refusal: 'contains a block "PUBLIC KEY" where a private key is expected' },
  { text: "", refusal: "The PEM text contains 0 blocks where one private key is expected" },
  { text: pem("EC PARAMETERS"), refusal: "The PEM text contains 0 blocks where one private key is expected" },
  { text: pem("PRIVATE KEY").repeat(2), refusal: "The PEM text contains 2 blocks where one private key is expected" },
  {
    text: ecPem().export({ type: "sec1", format: "pem" }).replaceAll("EC PRIVATE", "PRIVATE"),
    refusal: "private key: privateKeyAlgorithm has the tag 0x04",
  },
  {
    text: ecPem().export({ type: "pkcs8", format: "pem" }).replaceAll(" PRIVATE", " RSA PRIVATE"),
    refusal: "private key: modulus has the tag",
  },
])("PEM text is rejected: $refusal", ({ text, refusal }) => {
  expect(() => readPrivateKeyPem(text, limit)).toThrow(UnacceptableInput)
  expect(() => readPrivateKeyPem(text, limit)).toThrow(refusal)
})

test.each([
  { label: "PRIVATE KEY", expected: true },
  { label: "ENCRYPTED PRIVATE KEY", expected: true },
  { label: "RSA PRIVATE KEY", expected: true },
  { label: "CERTIFICATE", expected: false },
  { label: "EC PARAMETERS", expected: false },
])("isPrivateKeyLabel returns $expected for $label", ({ label, expected }) => {
  expect(isPrivateKeyLabel(label)).toBe(expected)
})

test("keys are equal if and only if their public keys are equal", () => {
  const one = testRsaKey(2048, 1).publicKey
  expect(isSamePublicKey(one, publicKeyOf(one.algorithm, one.octets))).toBe(true)
  expect(isSamePublicKey(one, testRsaKey(2048, 2).publicKey)).toBe(false)
})

test("a corrupted key is rejected or still valid, and no error repeats its content", async () => {
  const keys = await Promise.all(allKeyAlgorithms.slice(4).map((algorithm) => testKeyGenerator.generate(algorithm)))
  const forms = [...keys, testRsaKey(2048)].flatMap((key) => formats.map((format) => key.der(format)))
  const spoiled = fc.tuple(fc.constantFrom(...forms), fc.nat(), fc.nat(255), fc.boolean())
  fc.assert(
    fc.property(spoiled, ([from, at, octet, isCut]) => {
      const position = at % from.length
      const octets = Uint8Array.from(from, (was, index) => (index === position ? octet : was))
      const given = isCut ? octets.subarray(0, position) : octets
      let refusal: unknown
      try {
        readPrivateKeyBlock({ label: "PRIVATE KEY", bytes: readPrivateKey(given).der("pkcs8") })
      } catch (error) {
        refusal = error
      }
      expect(refusal === undefined || refusal instanceof UnacceptableInput).toBe(true)
      expect(String(refusal)).not.toMatch(/[0-9a-f]{12}/)
    }),
    { numRuns: 500 },
  )
})
