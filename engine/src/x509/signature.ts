import { constants, type KeyObject, type SignKeyObjectInput, verify } from "node:crypto"
import { describeKeyAlgorithm } from "./key-algorithm.ts"
import { type PublicKey, publicKeyObject } from "./public-key.ts"
import { readSignatureAlgorithm, type SignatureScheme } from "./signature-algorithm.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

export interface Signed {
  readonly data: Uint8Array
  /** AlgorithmIdentifier, DER. */
  readonly algorithm: Uint8Array
  readonly signature: Uint8Array
}

/**
 * Returns true if the key made the signature. Throws `MalformedDer` or `UnacceptableInput` for an algorithm that is malformed, unknown,
 * broken (SHA-1, MD5), or of another key type.
 */
export function isSignedBy(key: PublicKey, { data, algorithm, signature }: Signed): boolean {
  const { algorithm: name, scheme } = readSignatureAlgorithm(algorithm)
  if (scheme.keyType !== key.algorithm.type)
    throw new UnacceptableInput(`A key of ${describeKeyAlgorithm(key.algorithm)} cannot sign with ${name}`)
  return verify(digestOf(scheme), data, keyInput(publicKeyObject(key), scheme), signature)
}

/** Returns null for Ed25519, which has a built-in hash. */
export const digestOf = (scheme: SignatureScheme): string | null => (scheme.keyType === "ed25519" ? null : scheme.hash)

export const keyInput = (key: KeyObject, scheme: SignatureScheme): SignKeyObjectInput =>
  scheme.keyType === "rsa" && scheme.padding === "PSS"
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: scheme.saltOctets }
    : { key }
