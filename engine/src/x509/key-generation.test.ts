import { execFileSync } from "node:child_process"
import { createECDH } from "node:crypto"
import { expect, test } from "vitest"
import { systemRuntime } from "../core/runtime.ts"
import { allKeyAlgorithms } from "../testing/test-keys.ts"
import { curveOf } from "./curve.ts"
import { describeKeyAlgorithm, type KeyAlgorithm } from "./key-algorithm.ts"
import { generateOnCurve, generateRsaKey, keyGenerator } from "./key-generation.ts"
import { isSamePublicKey } from "./public-key.ts"
import { readPrivateKey } from "./private-key.ts"

const { generate } = keyGenerator({ generate: async (bits) => generateRsaKey(bits) })

const quick = allKeyAlgorithms.filter(({ type }) => type !== "rsa")
const named = (algorithms: readonly KeyAlgorithm[]) =>
  algorithms.map((algorithm) => ({ algorithm, name: describeKeyAlgorithm(algorithm) }))

test.each(named([{ type: "rsa", bits: 2048 }, ...quick]))(
  "OpenSSL finds a new key of $name sound",
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

test.each(named(quick))("500 new keys of $name all differ and are read again as they are", async ({ algorithm }) => {
  const keys = await Promise.all(Array.from({ length: 500 }, () => generate(algorithm)))
  expect(new Set(keys.map(({ publicKey }) => Buffer.from(publicKey.spki).toString("hex"))).size).toBe(keys.length)
  for (const key of keys) {
    const read = readPrivateKey(key.der("traditional"))
    expect(isSamePublicKey(read.publicKey, key.publicKey)).toBe(true)
    expect(read.pem("pkcs8")).toBe(key.pem("pkcs8"))
  }
})

test.each([
  { bits: 224, order: "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d" },
  { bits: 256, order: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551" },
] as const)("on P-$bits, zero and what reaches the order of the group are no keys", ({ bits, order }) => {
  const candidates = ["00".repeat(order.length / 2), "ff".repeat(order.length / 2), order]
  const largest = (BigInt(`0x${order}`) - 1n).toString(16)
  const octets = [...candidates, largest].map((hex) => Buffer.from(hex, "hex"))
  const asked: number[] = []
  const key = generateOnCurve(curveOf(bits), {
    bytes(count) {
      asked.push(count)
      return octets.shift() ?? Buffer.alloc(0)
    },
  })
  expect(asked).toEqual(Array.from({ length: 4 }, () => order.length / 2))
  // The octets of the key follow the version (RFC 5915, section 3).
  expect(Buffer.from(key.der("traditional")).toString("hex")).toMatch(new RegExp(`^.{10}04..${largest}`))
})

test("what is wrong with the curve and not with the candidate is told", () => {
  const broken = Object.assign(createECDH("secp224r1"), {
    setPrivateKey() {
      throw new Error("no more memory")
    },
  })
  const { random } = systemRuntime()
  expect(() => generateOnCurve({ ...curveOf(224), ecdh: broken }, random)).toThrow("no more memory")
})

test("a source of nothing but zeros makes no key", () => {
  const zeros = { bytes: (count: number) => new Uint8Array(count) }
  expect(() => generateOnCurve(curveOf(256), zeros)).toThrow("The random source yields nothing that could be a key.")
})

test("an RSA key has the public exponent 65537", async () => {
  const key = await generate({ type: "rsa", bits: 2048 })
  expect(key.keyObject().export({ format: "jwk" }).e).toBe("AQAB")
})

test("what the source of RSA keys refuses is refused", async () => {
  const { generate } = keyGenerator({ generate: () => Promise.reject(new Error("no more keys")) })
  await expect(generate({ type: "rsa", bits: 4096 })).rejects.toThrow("no more keys")
})
