import { generatePrimeSync } from "node:crypto"
import { describe, expect, test } from "vitest"
import { testRsaKey } from "../../testing/test-keys.ts"
import { publicKeyOf, rsaPublicNumbers } from "./public-key.ts"
import { encode, sequence, unsignedInteger } from "./asn1/writer.ts"
import { assertStrongKey, rsaModulusProblem } from "./weak-rsa.ts"

const octetsOf = (number: bigint): Uint8Array => {
  const digits = number.toString(16)
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex")
}

const prime = (bits: number): bigint => generatePrimeSync(bits, { bigint: true })

function nextPrime(above: bigint, step = 2n): bigint {
  let candidate = above
  while (!isProbablePrime(candidate)) candidate += step
  return candidate
}

function isProbablePrime(number: bigint): boolean {
  for (const base of [2n, 3n, 5n, 7n, 11n]) if (power(base, number - 1n, number) !== 1n) return false
  return true
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  let square = base % modulus
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

/** Builds a prime as the generator of CVE-2017-15361 does: k·M + (65537^a mod M), M the product of the first 126 primes. */
function rocaPrime(k: bigint, a: bigint): bigint {
  let product = 1n
  for (let number = 2, count = 0; count < 126; number += 1)
    if (Array.from({ length: number }, (_, index) => index).every((divisor) => divisor < 2 || number % divisor !== 0)) {
      product *= BigInt(number)
      count += 1
    }
  return nextPrime(k * product + power(65_537n, a, product), product)
}

const [p, q] = [prime(1_024), prime(1_024)]

describe("[F-P9] an RSA modulus", () => {
  test.each<{ what: string; modulus: bigint; problem: RegExp }>([
    { what: "with the factor 3", modulus: 3n * prime(2_046), problem: /small factor 3$/ },
    { what: "with the factor 751", modulus: 751n * prime(2_039), problem: /small factor 751$/ },
    { what: "that is a square", modulus: p * p, problem: /close/ },
    { what: "of neighbouring primes", modulus: p * nextPrime(p + 2n), problem: /close/ },
    {
      what: "of the ROCA generator",
      modulus: rocaPrime(1n << 50n, 12_345n) * rocaPrime(3n << 49n, 67_890n),
      problem: /ROCA/,
    },
  ])("$what is weak", ({ modulus, problem }) => {
    expect(rsaModulusProblem(octetsOf(modulus))).toMatch(problem)
  })

  test.each([
    { what: "of random primes", modulus: p * q },
    { what: "with the factor 757, beyond the bound", modulus: 757n * prime(2_039) },
    { what: "of primes that differ in their upper half", modulus: p * nextPrime(p + (1n << 700n)) },
    // The residues are powers of 65537, but with a different exponent for each prime, so no exponent fits all.
    { what: "of a ROCA prime and a random one", modulus: rocaPrime(1n << 50n, 12_345n) * q },
  ])("$what passes", ({ modulus }) => {
    expect(rsaModulusProblem(octetsOf(modulus))).toBeUndefined()
  })

  test.each([2048, 3072, 4096, 8192] as const)("of an OpenSSL key of %i bits passes", (bits) => {
    for (const number of [1, 2] as const) {
      const { publicKey } = testRsaKey(bits, number)
      expect(rsaModulusProblem(rsaPublicNumbers(publicKey).modulus)).toBeUndefined()
      expect(() => assertStrongKey(publicKey)).not.toThrow()
    }
  })

  test("that is weak makes assertStrongKey throw", () => {
    const octets = encode(sequence([unsignedInteger(octetsOf(p * p)), unsignedInteger(octetsOf(65_537n))]))
    expect(() => assertStrongKey(publicKeyOf({ type: "rsa", bits: 2048 }, octets))).toThrow(/RSA key is weak/)
  })
})
