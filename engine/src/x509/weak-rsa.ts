// RSA keys that can be factored with little work: moduli with small factors, with primes close to each other (Fermat), and those of the
// ROCA generator (CVE-2017-15361). Certificates for them must not be issued, but may be read and revoked.
import { type PublicKey, rsaPublicNumbers } from "./public-key.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

/** Returns undefined for a strong key, and for a key that is not RSA. */
export function weakKeyProblem(key: PublicKey): string | undefined {
  const problem = key.algorithm.type === "rsa" ? rsaModulusProblem(rsaPublicNumbers(key).modulus) : undefined
  return problem && `The RSA key is weak: ${problem}`
}

/** Returns the key. Throws `UnacceptableInput` for a weak one. */
export function assertStrongKey<Key extends PublicKey>(key: Key): Key {
  const problem = weakKeyProblem(key)
  if (problem !== undefined) throw new UnacceptableInput(problem)
  return key
}

/** Returns the weakness of a big-endian modulus, or undefined. Takes about 40 µs at 2048 bits. */
export function rsaModulusProblem(modulus: Uint8Array): string | undefined {
  const n = BigInt(`0x${Buffer.from(modulus).toString("hex")}`)
  const residues = residuesOf(n)
  const factor = smallPrimes.find((_prime, index) => residues[index] === 0)
  if (factor !== undefined) return `its modulus has the small factor ${factor}`
  if (isRocaModulus(residues)) return "its modulus has the structure of ROCA (CVE-2017-15361)"
  return hasClosePrimes(n) ? "its primes are too close to each other" : undefined
}

const maxSmallFactor = 751

/** Odd primes only, because `rejectWeakRsa` rejects even moduli. */
const smallPrimes: readonly number[] = Array.from({ length: maxSmallFactor }, (_, index) => index + 1).filter(
  (number) => number > 2 && number % 2 === 1 && isPrime(number),
)

function isPrime(number: number): boolean {
  for (let divisor = 3; divisor * divisor <= number; divisor += 2) if (number % divisor === 0) return false
  return true
}

/** Groups of primes with their product, a safe integer, so that one division of a long number serves several primes. */
const primeGroups: readonly { readonly product: bigint; readonly primes: readonly number[] }[] = grouped(smallPrimes)

function grouped(primes: readonly number[]) {
  const groups: { product: bigint; primes: number[] }[] = []
  for (const prime of primes) {
    const last = groups.at(-1)
    if (last !== undefined && last.product * BigInt(prime) <= BigInt(Number.MAX_SAFE_INTEGER)) {
      last.product *= BigInt(prime)
      last.primes.push(prime)
    } else groups.push({ product: BigInt(prime), primes: [prime] })
  }
  return groups
}

/** Returns the remainders of `n` by the small primes, in their order. */
const residuesOf = (n: bigint): readonly number[] =>
  primeGroups.flatMap(({ product, primes }) => {
    const remainder = Number(n % product)
    return primes.map((prime) => remainder % prime)
  })

/** The generator's primes are k·M + (65537^a mod M), where M is the product of at least the primes up to this one. */
const maxRocaPrime = 167
const rocaGenerator = 65_537

/** For each prime, the exponents of the generator by its powers, and its order. */
const discreteLogarithms: readonly { readonly logarithms: ReadonlyMap<number, number>; readonly order: number }[] =
  smallPrimes
    .filter((prime) => prime <= maxRocaPrime)
    .map((prime) => {
      const logarithms = new Map<number, number>()
      for (let power = 1; !logarithms.has(power); power = (power * rocaGenerator) % prime)
        logarithms.set(power, logarithms.size)
      return { logarithms, order: logarithms.size }
    })

/**
 * Returns true if the modulus is a power of 65537 modulo M: one exponent must fit all primes (Chinese remainder theorem). A modulus of
 * another generator matches with a probability of about 2^-154.
 */
function isRocaModulus(residues: readonly number[]): boolean {
  let exponent = 0n
  let modulus = 1n
  for (const [index, { logarithms, order }] of discreteLogarithms.entries()) {
    const logarithm = logarithms.get(residues[index] ?? 0)
    if (logarithm === undefined) return false
    const combined = combine({ exponent, modulus }, { exponent: BigInt(logarithm), modulus: BigInt(order) })
    if (combined === undefined) return false
    exponent = combined.exponent
    modulus = combined.modulus
  }
  return true
}

interface Congruence {
  readonly exponent: bigint
  readonly modulus: bigint
}

/** Returns undefined if no exponent satisfies both. */
function combine(one: Congruence, other: Congruence): Congruence | undefined {
  const modulus = (one.modulus / greatestCommonDivisor(one.modulus, other.modulus)) * other.modulus
  // At most as many steps as the order of 65537 modulo a small prime.
  for (let exponent = one.exponent; exponent < modulus; exponent += one.modulus)
    if (exponent % other.modulus === other.exponent) return { exponent, modulus }
  return undefined
}

const greatestCommonDivisor = (one: bigint, other: bigint): bigint =>
  other === 0n ? one : greatestCommonDivisor(other, one % other)

/** Public CAs try the same number. Random primes are far beyond it. */
const fermatRounds = 100

/** Tries Fermat's factorization: n = a² - b² with a just above the square root of n. Finds n = p² as well. */
function hasClosePrimes(n: bigint): boolean {
  const root = integerSquareRoot(n)
  const first = root * root === n ? root : root + 1n
  // Remainders rule out nearly all rounds: all rounds take 2 µs with them, and 350 µs with long numbers.
  let remainder = Number(first % BigInt(squareModulus))
  const remainderOfN = Number(n % BigInt(squareModulus))
  for (let round = 0; round < fermatRounds; round += 1) {
    const square = (remainder * remainder - remainderOfN) % squareModulus
    if (maySquare(square < 0 ? square + squareModulus : square)) {
      const a = first + BigInt(round)
      if (isSquare(a * a - n)) return true
    }
    remainder = (remainder + 1) % squareModulus
  }
  return false
}

/** About one number in 131 is a square modulo each of these. */
const squareModuli = [256, 9, 5, 7, 11, 13].map((modulus) => ({ modulus, squares: squaresModulo(modulus) }))
/** Its square is a safe integer. */
const squareModulus = 256 * 9 * 5 * 7 * 11 * 13

function squaresModulo(modulus: number): ReadonlySet<number> {
  return new Set(Array.from({ length: modulus }, (_, number) => (number * number) % modulus))
}

/** `remainder` is modulo `squareModulus`. */
const maySquare = (remainder: number): boolean =>
  squareModuli.every(({ modulus, squares }) => squares.has(remainder % modulus))

function isSquare(number: bigint): boolean {
  const root = integerSquareRoot(number)
  return root * root === number
}

/** Returns the largest integer whose square is not larger, by Newton's method from above. */
function integerSquareRoot(number: bigint): bigint {
  if (number < 2n) return number
  let root = firstGuess(number)
  for (;;) {
    const next = (root + number / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

/** Returns a value not below the square root, with its first 50 bits correct. */
function firstGuess(number: bigint): bigint {
  const bits = number.toString(16).length * 4
  // Drops an even number of bits, so that the root loses half of them.
  const dropped = Math.max(0, Math.ceil((bits - 100) / 2)) * 2
  const leading = BigInt(Math.ceil(Math.sqrt(Number(number >> BigInt(dropped))) * (1 + Number.EPSILON * 4))) + 1n
  return leading << BigInt(dropped / 2)
}
