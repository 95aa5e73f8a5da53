// Keys for tests. RSA keys are read from files, because generating one of 8192 bits takes minutes.
import { readFileSync } from "node:fs"
import type { KeyAlgorithm } from "../src/x509/key-algorithm.ts"
import { type KeyGenerator, keyGenerator } from "../src/x509/key-generation.ts"
import { type PrivateKey, readPrivateKeyPem } from "../src/x509/private-key.ts"

export type TestRsaBits = 2048 | 3072 | 4096 | 8192

/** Returns one of the two keys of each size. */
export const testRsaKey = (bits: TestRsaBits, number: 1 | 2 = 1): PrivateKey =>
  readPrivateKeyPem(testRsaPem(bits, number), 16_384)

export const testRsaPem = (bits: TestRsaBits, number: 1 | 2 = 1): string =>
  readFileSync(new URL(`../../test/fixtures/keys/rsa-${bits}-${number}.pem`, import.meta.url), "utf8")

/** Returns the same RSA key from a file for every request of a size, and generates all other keys as the engine does. */
export const testKeyGenerator: KeyGenerator = keyGenerator({
  async generate(bits) {
    const key = testRsaKey(bits as TestRsaBits)
    return { secret: key.der("traditional"), spki: key.publicKey.spki }
  },
})

export const allKeyAlgorithms: readonly KeyAlgorithm[] = [
  { type: "rsa", bits: 2048 },
  { type: "rsa", bits: 3072 },
  { type: "rsa", bits: 4096 },
  { type: "rsa", bits: 8192 },
  { type: "ec", bits: 224 },
  { type: "ec", bits: 256 },
  { type: "ec", bits: 384 },
  { type: "ec", bits: 521 },
  { type: "ed25519" },
]
