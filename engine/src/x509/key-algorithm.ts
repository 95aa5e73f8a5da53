// Algorithms of keys that are certified or that sign certificates.

export type KeyType = "rsa" | "ec" | "ed25519"

/** NIST P-224, P-256, P-384 and P-521. */
export type CurveBits = 224 | 256 | 384 | 521

export type KeyAlgorithm =
  | { readonly type: "rsa"; readonly bits: number }
  | { readonly type: "ec"; readonly bits: CurveBits }
  | { readonly type: "ed25519" }

/** Sizes of generated keys; the default of a type is first. Keys of clients may have any size that is strong enough. */
const rsaSizes: readonly number[] = [2048, 3072, 4096, 8192]
const curveSizes: readonly CurveBits[] = [256, 224, 384, 521]

/** Returns the algorithm of a generated key, or undefined for an unsupported size. 0 bits select the default size. */
export function keyAlgorithm(type: KeyType, bits: number): KeyAlgorithm | undefined {
  if (type === "ed25519") return { type }
  if (type === "rsa") {
    const size = rsaSizes.find((size) => bits === 0 || size === bits)
    return size === undefined ? undefined : { type, bits: size }
  }
  const size = curveSizes.find((size) => bits === 0 || size === bits)
  return size === undefined ? undefined : { type, bits: size }
}

/** Formats as `RSA 2048`, `EC P-256` or `Ed25519`. */
export function describeKeyAlgorithm(algorithm: KeyAlgorithm): string {
  switch (algorithm.type) {
    case "rsa":
      return `RSA ${algorithm.bits}`
    case "ec":
      return `EC P-${algorithm.bits}`
    default:
      return "Ed25519"
  }
}
