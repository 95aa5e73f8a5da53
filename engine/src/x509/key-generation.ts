// Making keys. Node's own encoders cost several times what the generation of a small key does, so the octets of those are
// taken as they are and encoded here.
import { type ECDH, generateKeyPair, generateKeyPairSync, type KeyObject } from "node:crypto"
import type { RandomSource } from "../core/random.ts"
import { systemRuntime } from "../core/runtime.ts"
import { type Curve, curveOf } from "./curve.ts"
import type { KeyAlgorithm } from "./key-algorithm.ts"
import { PrivateKey } from "./private-key.ts"
import { publicKeyOf, readPublicKey } from "./public-key.ts"

/** Makes private keys. Whoever asks may have to wait: RSA keys take from 50 milliseconds to minutes. */
export interface KeyGenerator {
  /** `EngineError("busy")` when too many wait already. */
  generate(algorithm: KeyAlgorithm): Promise<PrivateKey>
}

/** An RSA key as it crosses from the thread that made it. */
export interface RsaKeyOctets {
  /** RSAPrivateKey (PKCS#1). */
  readonly secret: Uint8Array
  readonly spki: Uint8Array
}

export interface RsaKeySource {
  generate(bits: number): Promise<RsaKeyOctets>
}

/** RSA keys come from `rsa`; every other key is made in this process, those of small curves out of `random`. */
export const keyGenerator = (rsa: RsaKeySource, random: RandomSource = systemRuntime().random): KeyGenerator => ({
  async generate(algorithm) {
    switch (algorithm.type) {
      case "rsa": {
        const { secret, spki } = await rsa.generate(algorithm.bits)
        return new PrivateKey(readPublicKey(spki), secret)
      }
      case "ec": {
        const curve = curveOf(algorithm.bits)
        return isQuick(curve) ? generateOnCurve(curve, random) : generateOnCurveAside(curve)
      }
      default:
        return generateEd25519()
    }
  },
})

/** P-256 takes 15 µs and P-224 200 µs, no more than what it takes to hand work to another thread and back. */
const isQuick = ({ bits }: Curve): boolean => bits <= 256

/** A source that yields no key so many times is broken, and drawing again would not mend it. */
const drawsMaximum = 16

/**
 * By testing candidates (FIPS 186-5, appendix A.2.2): octets that are no key of the curve are thrown away. For curves whose order
 * fills its octets, where they are one in 4,000 million or fewer; on P-521 nearly all would be. OpenSSL takes more than twice as long
 * to make a key as it does to find the point of one.
 */
export function generateOnCurve({ bits, octets, ecdh }: Curve, random: RandomSource): PrivateKey {
  for (let draw = 0; draw < drawsMaximum; draw += 1) {
    const scalar = random.bytes(octets)
    if (isScalarOf(ecdh, scalar)) return new PrivateKey(publicKeyOf({ type: "ec", bits }, ecdh.getPublicKey()), scalar)
  }
  throw new Error("The random source yields nothing that could be a key.")
}

/** Whether it is from 1 to one less than the order of the group; the key of `ecdh` then. */
function isScalarOf(ecdh: ECDH, candidate: Uint8Array): boolean {
  try {
    ecdh.setPrivateKey(candidate)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_CRYPTO_INVALID_KEYTYPE") return false
    throw error
  }
}

/** P-384 takes 0.5 ms and P-521 1.3 ms, which would hold up every other request. */
async function generateOnCurveAside({ bits }: Curve): Promise<PrivateKey> {
  const privateKey = await new Promise<KeyObject>((resolve, reject) => {
    generateKeyPair("ec", { namedCurve: `P-${bits}` }, (error, _, made) =>
      error === null ? resolve(made) : reject(error),
    )
  })
  // Coordinates and scalar have all their octets there (RFC 7518, section 6.2).
  const { d = "", x = "", y = "" } = privateKey.export({ format: "jwk" })
  const point = Buffer.concat([uncompressed, base64Url(x), base64Url(y)])
  return new PrivateKey(publicKeyOf({ type: "ec", bits }, point), base64Url(d))
}

const uncompressed = Uint8Array.of(0x04)

function generateEd25519(): PrivateKey {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" })
  return new PrivateKey(publicKeyOf({ type: "ed25519" }, base64Url(x)), base64Url(d))
}

const base64Url = (text: string): Uint8Array => Buffer.from(text, "base64url")

/** Blocks its thread until the key is there. The public exponent is 65537. */
export function generateRsaKey(bits: number): RsaKeyOctets {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: bits,
    privateKeyEncoding: { type: "pkcs1", format: "der" },
    publicKeyEncoding: { type: "spki", format: "der" },
  })
  return { secret: privateKey, spki: publicKey }
}

/** One key after another on a thread of the pool, for who makes few and serves nobody meanwhile. The public exponent is 65537. */
export const pooledRsaKeys: RsaKeySource = {
  generate: (bits) =>
    new Promise((resolve, reject) => {
      const encodings = {
        modulusLength: bits,
        privateKeyEncoding: { type: "pkcs1", format: "der" },
        publicKeyEncoding: { type: "spki", format: "der" },
      } as const
      generateKeyPair("rsa", encodings, (error, spki, secret) =>
        error === null ? resolve({ secret, spki }) : reject(error),
      )
    }),
}
