// The signer port: every use of a CA key goes through it, so that a key may live outside this process.
import { type KeyObject, sign } from "node:crypto"
import { describeKeyAlgorithm, type KeyAlgorithm } from "./key-algorithm.ts"
import type { PrivateKey } from "./private-key.ts"
import type { PublicKey } from "./public-key.ts"
import { digestOf, keyInput } from "./signature.ts"
import { fitsKey, type SignatureAlgorithm, type SignatureScheme, signatureScheme } from "./signature-algorithm.ts"

export interface SigningKey extends PublicKey {
  /** Returns the octets of the signature. Throws `RangeError` if the algorithm does not fit the key. */
  sign(data: Uint8Array, algorithm: SignatureAlgorithm): Promise<Uint8Array>
}

/**
 * Returns a signer with a key in this process. The key object is kept, because its creation takes longer than a signature. The private
 * key itself is not kept.
 */
export function signingKey(privateKey: PrivateKey): SigningKey {
  const { publicKey, algorithm: own } = privateKey
  const key = privateKey.keyObject()
  return {
    ...publicKey,
    async sign(data, algorithm) {
      if (!fitsKey(algorithm, own))
        throw new RangeError(`A key of ${describeKeyAlgorithm(own)} cannot sign with ${algorithm}`)
      const scheme = signatureScheme(algorithm)
      return isQuick(own) && data.length <= quickOctets ? signNow(key, scheme, data) : signAside(key, scheme, data)
    },
  }
}

/** These algorithms take 20 to 30 µs, less than a round trip to another thread. All others take at least 200 µs. */
const isQuick = (key: KeyAlgorithm): boolean => key.type === "ed25519" || (key.type === "ec" && key.bits === 256)

/** Hashing this much takes as long as the signature; a CRL may be a thousand times as long. */
const quickOctets = 65_536

const signNow = (key: KeyObject, scheme: SignatureScheme, data: Uint8Array): Uint8Array =>
  sign(digestOf(scheme), data, keyInput(key, scheme))

const signAside = (key: KeyObject, scheme: SignatureScheme, data: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    sign(digestOf(scheme), data, keyInput(key, scheme), (error, signature) =>
      error === null ? resolve(signature) : reject(error),
    )
  })
