// Minimum strength of keys that are generated or certified.
import { keyAlgorithm, type KeyType } from "../../x509/key-algorithm.ts"

/** Key type of a role. `any` is for requests that contain a key, or select the type. */
export type RoleKeyType = KeyType | "any"

export const minRsaBits = 2048

const keyTypes: ReadonlySet<string> = new Set<KeyType>(["rsa", "ec", "ed25519"])
const signatureSizes: readonly number[] = [256, 384, 512]

export const isKeyType = (text: string): text is KeyType => keyTypes.has(text)

export const isRoleKeyType = (text: string): text is RoleKeyType => text === "any" || isKeyType(text)

/**
 * Resolves 0 to the default of the type. For Ed25519 and `any` a size is meaningless but stored, because declarative clients send
 * 2048 by default and expect it in the response.
 */
export function resolveKeyBits(keyType: RoleKeyType, keyBits: number): number {
  if (keyType === "any" || keyType === "ed25519") return isKeySize(keyBits) ? keyBits : 0
  const algorithm = keyAlgorithm(keyType, keyBits)
  return algorithm !== undefined && "bits" in algorithm ? algorithm.bits : keyBits
}

const isKeySize = (bits: number): boolean =>
  bits !== 0 && (["rsa", "ec"] as const).some((type) => keyAlgorithm(type, bits) !== undefined)

/** Resolves the hash size of a role. RSA issuers sign with SHA-256 by default; others choose by their own key. */
export function resolveSignatureBits(keyType: RoleKeyType, signatureBits: number): number {
  return keyType === "rsa" && signatureBits === 0 ? 256 : signatureBits
}

export function keyBitsProblem(keyType: RoleKeyType, keyBits: number): string | undefined {
  if (keyType === "any" || keyAlgorithm(keyType, keyBits) !== undefined) return undefined
  if (keyType === "ec") return `unsupported bit length for EC key: ${keyBits}`
  return keyBits < minRsaBits ? weakRsaMessage(keyBits) : `unsupported bit length for RSA key: ${keyBits}`
}

export const weakRsaMessage = (keyBits: number): string =>
  `RSA keys < ${minRsaBits} bits are unsafe and not supported: got ${keyBits}`

/** Returns the problem of a hash size. 0 lets the issuer's key decide. */
export const signatureBitsProblem = (signatureBits: number): string | undefined =>
  signatureBits === 0 || signatureSizes.includes(signatureBits)
    ? undefined
    : `unsupported hash signature algorithm: ${signatureBits}`

/** Larger exponents slow every verifier down, and some libraries reject them (Go's, above 2^31 - 1). */
const maxRsaExponent = 0x7fff_ffff
const maxRsaExponents = 100

/** Returns the problem of the list in a role. */
export function allowedRsaExponentsProblem(exponents: readonly number[]): string | undefined {
  if (exponents.length > maxRsaExponents)
    return `"allowed_rsa_exponents" must not have more than ${maxRsaExponents} entries`
  const wrong = exponents.find(
    (exponent) => !Number.isInteger(exponent) || exponent < 3 || exponent > maxRsaExponent || exponent % 2 === 0,
  )
  return wrong === undefined
    ? undefined
    : `"allowed_rsa_exponents" must contain odd numbers from 3 to ${maxRsaExponent}; got ${wrong}`
}

/** Returns the problem of an exponent. `exponent` is undefined for a key that is not RSA. */
export function rsaExponentProblem(exponent: bigint | undefined, allowed: readonly number[]): string | undefined {
  if (exponent === undefined || allowed.some((one) => BigInt(one) === exponent)) return undefined
  return `RSA public exponent ${exponent} not allowed; allowed: ${allowed.join(", ")}`
}
