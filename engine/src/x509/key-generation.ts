// Key generation. Node's encoders take several times as long as the generation of a small key. Small keys are therefore read as raw
// octets and encoded here.
import { generateKeyPair, generateKeyPairSync, type KeyObject } from "node:crypto"
import { type Curve, curveOf } from "./curve.ts"
import type { KeyAlgorithm } from "./key-algorithm.ts"
import { PrivateKey } from "./private-key.ts"
import { publicKeyOf, readPublicKey } from "./public-key.ts"

/** Generates private keys. RSA keys take from 50 milliseconds to minutes. */
export interface KeyGenerator {
  /** Throws `EngineError("busy")` if too many requests are queued. */
  generate(algorithm: KeyAlgorithm): Promise<PrivateKey>
}

/** An RSA key in the form that worker threads return. */
export interface RsaKeyOctets {
  /** RSAPrivateKey (PKCS#1). */
  readonly secret: Uint8Array
  readonly spki: Uint8Array
}

export interface RsaKeySource {
  generate(bits: number): Promise<RsaKeyOctets>
}

/** Takes RSA keys from `rsa`, and generates all others in this process with OpenSSL. */
export const keyGenerator = (rsa: RsaKeySource): KeyGenerator => ({
  async generate(algorithm) {
    switch (algorithm.type) {
      case "rsa": {
        const { secret, spki } = await rsa.generate(algorithm.bits)
        return new PrivateKey(readPublicKey(spki), secret)
      }
      case "ec": {
        const curve = curveOf(algorithm.bits)
        return isQuick(curve) ? generateOnCurve(curve) : generateOnCurveAside(curve)
      }
      default:
        return generateEd25519()
    }
  },
})

/** P-256 takes 30 µs and P-224 200 µs, about as long as a round trip to another thread. */
const isQuick = ({ bits }: Curve): boolean => bits <= 256

function generateOnCurve({ bits, octets, ecdh }: Curve): PrivateKey {
  const point = ecdh.generateKeys()
  const scalar = ecdh.getPrivateKey()
  // `getPrivateKey` omits leading zeros; RFC 5915, section 3, requires them.
  const padded = Buffer.concat([Buffer.alloc(octets - scalar.length), scalar])
  return new PrivateKey(publicKeyOf({ type: "ec", bits }, point), padded)
}

/** Generates in another thread. P-384 takes 0.5 ms and P-521 1.3 ms, which would delay all other requests. */
async function generateOnCurveAside({ bits }: Curve): Promise<PrivateKey> {
  const privateKey = await new Promise<KeyObject>((resolve, reject) => {
    generateKeyPair("ec", { namedCurve: `P-${bits}` }, (error, _, made) =>
      error === null ? resolve(made) : reject(error),
    )
  })
  // In a JWK, coordinates and scalar have all their octets (RFC 7518, section 6.2).
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

/** Generates an RSA key and blocks the thread until it is ready. The public exponent is 65537. */
export function generateRsaKey(bits: number): RsaKeyOctets {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: bits,
    privateKeyEncoding: { type: "pkcs1", format: "der" },
    publicKeyEncoding: { type: "spki", format: "der" },
  })
  return { secret: privateKey, spki: publicKey }
}

/** Generates RSA keys on the thread pool, for programs that need few keys. The public exponent is 65537. */
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
