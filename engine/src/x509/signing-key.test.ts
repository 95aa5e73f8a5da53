import { execFileSync } from "node:child_process"
import { constants, sign } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { testKeyGenerator, testRsaKey } from "../../testing/test-keys.ts"
import { oids } from "./asn1/oids.ts"
import { context, derNull, encode, integer, objectIdentifier, sequence } from "./asn1/writer.ts"
import { writePem } from "./pem.ts"
import { isSignedBy } from "./signature.ts"
import { type SignatureAlgorithm, signatureAlgorithmIdentifier } from "./signature-algorithm.ts"
import { signingKey } from "./signing-key.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

const data = Buffer.from("to be signed")

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "chancery-signature-"))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, content: Uint8Array | string): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const cases = [
  { key: { type: "rsa", bits: 2048 }, algorithm: "SHA256WithRSA", digest: "sha256", pss: [] },
  { key: { type: "rsa", bits: 3072 }, algorithm: "SHA384WithRSA", digest: "sha384", pss: [] },
  { key: { type: "rsa", bits: 4096 }, algorithm: "SHA512WithRSA", digest: "sha512", pss: [] },
  { key: { type: "rsa", bits: 8192 }, algorithm: "SHA256WithRSA", digest: "sha256", pss: [] },
  { key: { type: "rsa", bits: 2048 }, algorithm: "SHA256WithRSAPSS", digest: "sha256", pss: ["32"] },
  { key: { type: "rsa", bits: 2048 }, algorithm: "SHA384WithRSAPSS", digest: "sha384", pss: ["48"] },
  { key: { type: "rsa", bits: 2048 }, algorithm: "SHA512WithRSAPSS", digest: "sha512", pss: ["64"] },
  { key: { type: "ec", bits: 224 }, algorithm: "ECDSAWithSHA256", digest: "sha256", pss: [] },
  { key: { type: "ec", bits: 256 }, algorithm: "ECDSAWithSHA256", digest: "sha256", pss: [] },
  { key: { type: "ec", bits: 384 }, algorithm: "ECDSAWithSHA384", digest: "sha384", pss: [] },
  { key: { type: "ec", bits: 521 }, algorithm: "ECDSAWithSHA512", digest: "sha512", pss: [] },
  { key: { type: "ec", bits: 256 }, algorithm: "ECDSAWithSHA512", digest: "sha512", pss: [] },
] as const

test.each(cases)("OpenSSL accepts a signature of a key of $key.type $key.bits with $algorithm", async (given) => {
  const { key: made, algorithm, digest, pss } = given
  const key = signingKey(await testKeyGenerator.generate(made))
  const padding = pss.flatMap((salt) => ["-sigopt", "rsa_padding_mode:pss", "-sigopt", `rsa_pss_saltlen:${salt}`])
  // The longer message is signed on another thread, for every type of key.
  for (const message of [data, Buffer.alloc(100_000, 7)]) {
    const signature = await key.sign(message, algorithm)
    const publicKey = file("key.pem", writePem("PUBLIC KEY", key.spki))
    const paths = ["-verify", publicKey, "-signature", file("signature", signature), file("data", message)]
    const judged = execFileSync("openssl", ["dgst", `-${digest}`, ...padding, ...paths], { encoding: "utf8" })
    expect(judged.trim()).toBe("Verified OK")
    expect(isSignedBy(key, { data: message, algorithm: signatureAlgorithmIdentifier(algorithm), signature })).toBe(true)
  }
})

test("OpenSSL accepts a signature of an Ed25519 key", async () => {
  const key = signingKey(await testKeyGenerator.generate({ type: "ed25519" }))
  for (const message of [data, Buffer.alloc(100_000, 7)]) {
    const signature = await key.sign(message, "Ed25519")
    const publicKey = file("key.pem", writePem("PUBLIC KEY", key.spki))
    const paths = ["-inkey", publicKey, "-sigfile", file("signature", signature), "-in", file("data", message)]
    const judged = execFileSync("openssl", ["pkeyutl", "-verify", "-pubin", "-rawin", ...paths], { encoding: "utf8" })
    expect(judged.trim()).toBe("Signature Verified Successfully")
  }
})

test.each(cases)(
  "a signature of OpenSSL with a key of $key.type $key.bits is accepted as $algorithm",
  async (given) => {
    const { key: made, algorithm, digest, pss } = given
    const key = await testKeyGenerator.generate(made)
    const padding = pss.flatMap((salt) => ["-sigopt", "rsa_padding_mode:pss", "-sigopt", `rsa_pss_saltlen:${salt}`])
    const signature = execFileSync("openssl", [
      "dgst",
      `-${digest}`,
      ...padding,
      "-sign",
      file("private.pem", key.pem("traditional")),
      file("data", data),
    ])
    const identifier = signatureAlgorithmIdentifier(algorithm)
    expect(isSignedBy(key.publicKey, { data, algorithm: identifier, signature })).toBe(true)
    expect(isSignedBy(key.publicKey, { data: Buffer.from("else"), algorithm: identifier, signature })).toBe(false)
  },
)

test("a PSS signature with the longest salt, the former default of OpenSSL, is accepted", () => {
  const sha256 = sequence([objectIdentifier(oids.sha256), derNull])
  const mask = sequence([objectIdentifier(oids.mgf1), sha256])
  const pss = (salt: number) =>
    encode(
      sequence([
        objectIdentifier(oids.rsassaPss),
        sequence([context(0, [sha256]), context(1, [mask]), context(2, [integer(salt)])]),
      ]),
    )
  const key = testRsaKey(2048)
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const signature = sign("sha256", data, { key: key.keyObject(), padding, saltLength: 222 })
  expect(isSignedBy(key.publicKey, { data, algorithm: pss(222), signature })).toBe(true)
  expect(isSignedBy(key.publicKey, { data, algorithm: pss(32), signature })).toBe(false)
  expect(isSignedBy(key.publicKey, { data, algorithm: pss(2_000), signature })).toBe(false)
})

test.each([
  { algorithm: "SHA256WithRSA", made: { type: "rsa", bits: 2048 }, other: { type: "rsa", bits: 3072 } },
  { algorithm: "SHA256WithRSAPSS", made: { type: "rsa", bits: 2048 }, other: { type: "rsa", bits: 3072 } },
  { algorithm: "ECDSAWithSHA384", made: { type: "ec", bits: 384 }, other: { type: "ec", bits: 384 } },
  { algorithm: "Ed25519", made: { type: "ed25519" }, other: { type: "ed25519" } },
] as const)(
  "a corrupted signature of $algorithm is not valid, nor is that of another key",
  async ({ algorithm, made, other }) => {
    const key = signingKey(await testKeyGenerator.generate(made))
    const signature = Uint8Array.from(await key.sign(data, algorithm))
    const spoiled = [
      signature.map((octet, index) => (index === 7 ? octet ^ 1 : octet)),
      signature.subarray(1),
      Uint8Array.of(...signature, 0),
      Uint8Array.of(0, ...signature),
      new Uint8Array(),
      new Uint8Array(signature.length),
      new Uint8Array(60_000).fill(0x30),
    ]
    const identifier = signatureAlgorithmIdentifier(algorithm)
    expect(spoiled.map((signature) => isSignedBy(key, { data, algorithm: identifier, signature }))).toEqual(
      spoiled.map(() => false),
    )
    const { publicKey } = await testKeyGenerator.generate(other)
    expect(isSignedBy(publicKey, { data, algorithm: identifier, signature })).toBe(false)
  },
)

test.each([
  { algorithm: "ECDSAWithSHA256", key: { type: "rsa", bits: 2048 }, name: "RSA 2048" },
  { algorithm: "SHA256WithRSA", key: { type: "ec", bits: 256 }, name: "EC P-256" },
  { algorithm: "Ed25519", key: { type: "ec", bits: 256 }, name: "EC P-256" },
  { algorithm: "ECDSAWithSHA256", key: { type: "ed25519" }, name: "Ed25519" },
] as const)("a key of $name neither makes nor made a signature of $algorithm", async ({ algorithm, key, name }) => {
  const made = signingKey(await testKeyGenerator.generate(key))
  const refusal = `A key of ${name} cannot sign with ${algorithm}`
  await expect(made.sign(data, algorithm)).rejects.toThrow(refusal)
  const signed = { data, algorithm: signatureAlgorithmIdentifier(algorithm), signature: new Uint8Array(64) }
  expect(() => isSignedBy(made, signed)).toThrow(new UnacceptableInput(refusal))
})

test("a correct signature with SHA-1 is rejected as unsupported, not as wrong", () => {
  const key = testRsaKey(2048)
  const algorithm = encode(sequence([objectIdentifier(oids.sha1WithRsa), derNull]))
  const signature = sign("sha1", data, key.keyObject())
  expect(() => isSignedBy(key.publicKey, { data, algorithm, signature })).toThrow(
    "Signatures with SHA-1 are not supported",
  )
})

test("a signing key reveals only its public key", async () => {
  const privateKey = await testKeyGenerator.generate({ type: "ec", bits: 256 })
  const key = signingKey(privateKey)
  expect(key).toMatchObject(privateKey.publicKey)
  expect(inspect(key, { depth: 9, showHidden: true })).not.toContain("PrivateKey")
})

test("concurrent signatures with many algorithms are correct", async () => {
  const rsa = signingKey(testRsaKey(2048))
  const ec = signingKey(await testKeyGenerator.generate({ type: "ec", bits: 521 }))
  const jobs = Array.from({ length: 40 }, (_, index) => {
    const [key, algorithm]: [typeof rsa, SignatureAlgorithm] =
      index % 2 === 0 ? [rsa, "SHA512WithRSAPSS"] : [ec, "ECDSAWithSHA512"]
    return { key, algorithm, data: Buffer.from(`message ${index}`) }
  })
  const signatures = await Promise.all(jobs.map(({ key, algorithm, data }) => key.sign(data, algorithm)))
  for (const [index, { key, algorithm, data }] of jobs.entries()) {
    const signed = { data, algorithm: signatureAlgorithmIdentifier(algorithm), signature: signatures[index]! }
    expect(isSignedBy(key, signed)).toBe(true)
  }
})
