import { execFileSync } from "node:child_process"
import { expect, test } from "vitest"
import { allKeyAlgorithms } from "../../testing/test-keys.ts"
import { curveOf } from "./curve.ts"
import { describeKeyAlgorithm, type KeyAlgorithm } from "./key-algorithm.ts"
import { generateRsaKey, keyGenerator } from "./key-generation.ts"
import { isSamePublicKey } from "./public-key.ts"
import { readPrivateKey } from "./private-key.ts"

const { generate } = keyGenerator({ generate: async (bits) => generateRsaKey(bits) })

const quick = allKeyAlgorithms.filter(({ type }) => type !== "rsa")
const named = (algorithms: readonly KeyAlgorithm[]) =>
  algorithms.map((algorithm) => ({ algorithm, name: describeKeyAlgorithm(algorithm) }))

test.each(named([{ type: "rsa", bits: 2048 }, ...quick]))(
  "OpenSSL validates a new key of $name",
  async ({ algorithm }) => {
    const key = await generate(algorithm)
    expect(key.algorithm).toEqual(algorithm)
    const checked = execFileSync("openssl", ["pkey", "-inform", "DER", "-check", "-noout"], {
      input: Buffer.from(key.der("traditional")),
      encoding: "utf8",
      stdio: "pipe",
    })
    expect(checked).toContain("valid")
  },
)

test.each(named(quick))("500 new keys of $name differ and are read again unchanged", async ({ algorithm }) => {
  const keys = await Promise.all(Array.from({ length: 500 }, () => generate(algorithm)))
  expect(new Set(keys.map(({ publicKey }) => Buffer.from(publicKey.spki).toString("hex"))).size).toBe(keys.length)
  for (const key of keys) {
    const read = readPrivateKey(key.der("traditional"))
    expect(isSamePublicKey(read.publicKey, key.publicKey)).toBe(true)
    expect(read.pem("pkcs8")).toBe(key.pem("pkcs8"))
  }
})

// One key in 256 has a scalar that begins with a zero byte.
test.each([224, 256] as const)(
  "[F-S7] a private key of P-%s whose scalar begins with zeros has all its octets",
  async (bits) => {
    const { octets } = curveOf(bits)
    for (let tried = 0; tried < 20_000; tried += 1) {
      const key = await generate({ type: "ec", bits })
      // The private key follows the version (RFC 5915, section 3).
      const hex = Buffer.from(key.der("traditional")).toString("hex")
      const [, length, first] = /^30..02010104(..)(..)/.exec(hex) ?? []
      expect(Number.parseInt(length ?? "", 16)).toBe(octets)
      if (first === "00") return
    }
    throw new Error("no such key in 20,000")
  },
)

test("an RSA key has the public exponent 65537", async () => {
  const key = await generate({ type: "rsa", bits: 2048 })
  expect(key.keyObject().export({ format: "jwk" }).e).toBe("AQAB")
})

test("a failure of the RSA key source is thrown", async () => {
  const { generate } = keyGenerator({ generate: () => Promise.reject(new Error("no more keys")) })
  await expect(generate({ type: "rsa", bits: 4096 })).rejects.toThrow("no more keys")
})
