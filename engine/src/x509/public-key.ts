// Subject public keys (RFC 3279, section 2.3.1; RFC 5480; RFC 8410), read strictly. Only this file rejects weak keys, unknown curves and
// points off their curve, for all that certify or verify keys.
import { createPublicKey, hash, type KeyObject } from "node:crypto"
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { tag } from "./asn1/tag.ts"
import { bitString, derNull, encode, objectIdentifier, sequence } from "./asn1/writer.ts"
import { type Curve, curveOf, findCurve } from "./curve.ts"
import type { CurveBits, KeyAlgorithm } from "./key-algorithm.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

export interface PublicKey {
  readonly algorithm: KeyAlgorithm
  /** SubjectPublicKeyInfo, DER. Two keys are equal if and only if these octets are. */
  readonly spki: Uint8Array
  /** Content of its BIT STRING. */
  readonly octets: Uint8Array
}

/** Minimum size of RSA keys (NIST SP 800-131A). */
const minRsaBits = 2048
/** Verification takes 1 ms at this size, 4 ms with the largest exponent, and four times as long for every doubling. */
const maxRsaBits = 16_384
/** OpenSSL verifies with no larger exponent under a modulus of more than 3072 bits. */
const maxExponentOctets = 8

const ed25519Octets = 32
const document = "public key"

/** Throws `MalformedDer` or `UnacceptableInput` if the key is malformed, unsupported or weak. */
export function readPublicKey(spki: Uint8Array): PublicKey {
  const reader = new DerReader(spki, document)
  const info = reader.sequence("SubjectPublicKeyInfo")
  reader.finish("SubjectPublicKeyInfo")
  const identifier = info.sequence("algorithm")
  const found = readKeyAlgorithm(identifier)
  const octets = info.bitString("subjectPublicKey")
  info.finish("subjectPublicKey")
  switch (found.type) {
    case "rsa":
      return { algorithm: { type: "rsa", bits: readRsaBits(octets) }, spki, octets }
    case "ec": {
      const { bits, octets: coordinateOctets } = found.curve
      if (octets[0] !== 0x04 || octets.length !== 1 + 2 * coordinateOctets)
        info.refuse("subjectPublicKey", `is not an uncompressed point of P-${bits}`)
      return onItsCurve({ algorithm: { type: "ec", bits }, spki, octets })
    }
    default:
      if (octets.length !== ed25519Octets) info.refuse("subjectPublicKey", `is not ${ed25519Octets} octets long`)
      if (isSmallOrderPoint(octets))
        throw new UnacceptableInput(
          "The Ed25519 public key is a point of small order, for which signatures can be forged",
        )
      return { algorithm: { type: "ed25519" }, spki, octets }
  }
}

type FoundAlgorithm =
  | { readonly type: "rsa" }
  | { readonly type: "ec"; readonly curve: Curve }
  | { readonly type: "ed25519" }

/** Reads the parts of the AlgorithmIdentifier of a public or a private key. */
export function readKeyAlgorithm(identifier: DerReader): FoundAlgorithm {
  const oid = identifier.oid("algorithm")
  switch (oid) {
    case oids.rsaEncryption:
      identifier.null("parameters")
      identifier.finish("parameters")
      return { type: "rsa" }
    case oids.ed25519:
      identifier.finish("algorithm")
      return { type: "ed25519" }
    case oids.ecPublicKey: {
      const curve = readCurve(identifier)
      identifier.finish("parameters")
      return { type: "ec", curve }
    }
    case oids.rsassaPss:
      throw new UnacceptableInput("Keys that are restricted to RSASSA-PSS are not supported; use a plain RSA key")
    default:
      throw new UnacceptableInput(`Keys of the algorithm ${oid} are not supported`)
  }
}

/** Reads `ECParameters`, which RFC 5480 restricts to the name of a curve (section 2.1.1). */
export function readCurve(parameters: DerReader): Curve {
  if (parameters.next === tag.sequence)
    throw new UnacceptableInput("Elliptic curve keys with explicit parameters are not supported; use a named curve")
  const oid = parameters.oid("namedCurve")
  const curve = findCurve(oid)
  if (curve === undefined) throw new UnacceptableInput(`Keys on the elliptic curve ${oid} are not supported`)
  return curve
}

/** Returns the size in bits of a PKCS#1 RSAPublicKey (RFC 8017, appendix A.1.1). */
function readRsaBits(octets: Uint8Array): number {
  const { modulus, exponent } = readRsaNumbers(octets)
  return rejectWeakRsa(modulus, exponent)
}

/** Magnitudes, big-endian, without leading zeros. */
export interface RsaPublicNumbers {
  readonly modulus: Uint8Array
  readonly exponent: Uint8Array
}

/** The key must be an RSA key. */
export const rsaPublicNumbers = ({ octets }: PublicKey): RsaPublicNumbers => readRsaNumbers(octets)

/** Returns undefined if the key is not an RSA key. */
export function rsaExponentOf(key: PublicKey): bigint | undefined {
  if (key.algorithm.type !== "rsa") return undefined
  return BigInt(`0x${Buffer.from(rsaPublicNumbers(key).exponent).toString("hex")}`)
}

function readRsaNumbers(octets: Uint8Array): RsaPublicNumbers {
  const reader = new DerReader(octets, document)
  const key = reader.sequence("RSAPublicKey")
  reader.finish("RSAPublicKey")
  const modulus = key.unsigned("modulus")
  const exponent = key.unsigned("publicExponent")
  key.finish("publicExponent")
  return { modulus, exponent }
}

/**
 * Throws `UnacceptableInput` for weak or unsupported parameters, and returns the size of the modulus in bits. Both are magnitudes,
 * big-endian, without leading zeros.
 */
export function rejectWeakRsa(modulus: Uint8Array, exponent: Uint8Array): number {
  const bits = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24
  if (bits < minRsaBits)
    throw new UnacceptableInput(`RSA keys < ${minRsaBits} bits are unsafe and not supported: got ${bits}`)
  if (bits > maxRsaBits) throw new UnacceptableInput(`RSA keys > ${maxRsaBits} bits are not supported: got ${bits}`)
  if (((modulus.at(-1) ?? 0) & 1) === 0) throw new UnacceptableInput("The RSA modulus is even")
  if (((exponent.at(-1) ?? 0) & 1) === 0) throw new UnacceptableInput("The RSA public exponent is even")
  if (exponent.length === 1 && exponent[0] === 1) throw new UnacceptableInput("The RSA public exponent is 1")
  if (exponent.length > maxExponentOctets)
    throw new UnacceptableInput(`The RSA public exponent has more than ${8 * maxExponentOctets} bits`)
  return bits
}

function onItsCurve(key: PublicKey): PublicKey {
  try {
    publicKeyObject(key)
  } catch (error) {
    throw new UnacceptableInput("The public key is a point that is not on its elliptic curve", error)
  }
  return key
}

const fieldPrime = 2n ** 255n - 19n

/**
 * Points whose order divides the cofactor of edwards25519, and the two of them with an unreduced encoding. Signatures under such a "key"
 * verify for messages that were never signed (RFC 8032, section 5.1.7, multiplies the key away). The values are y, little-endian. The
 * sign of x, the highest bit, makes no difference.
 */
const smallOrders: ReadonlySet<string> = new Set([
  ...[0n, 1n, fieldPrime - 1n, fieldPrime, fieldPrime + 1n].map(littleEndianHex),
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
])

function littleEndianHex(y: bigint): string {
  return Buffer.from(Buffer.from(y.toString(16).padStart(64, "0"), "hex").toReversed()).toString("hex")
}

function isSmallOrderPoint(octets: Uint8Array): boolean {
  const y = Buffer.from(octets)
  y[31] = (y[31] ?? 0) & 0x7f
  return smallOrders.has(y.toString("hex"))
}

/** Returns the AlgorithmIdentifier of a key, as `readKeyAlgorithm` accepts it. */
export function keyAlgorithmIdentifier(algorithm: KeyAlgorithm): Uint8Array {
  switch (algorithm.type) {
    case "rsa":
      return rsaIdentifier
    case "ec":
      return ecIdentifiers[algorithm.bits]
    default:
      return ed25519Identifier
  }
}

const ecIdentifier = (bits: CurveBits): Uint8Array =>
  encode(sequence([objectIdentifier(oids.ecPublicKey), objectIdentifier(curveOf(bits).oid)]))

const rsaIdentifier = encode(sequence([objectIdentifier(oids.rsaEncryption), derNull]))
const ecIdentifiers = { 224: ecIdentifier(224), 256: ecIdentifier(256), 384: ecIdentifier(384), 521: ecIdentifier(521) }
const ed25519Identifier = encode(sequence([objectIdentifier(oids.ed25519)]))

/** Returns a key from trusted parts without checking them. */
export const publicKeyOf = (algorithm: KeyAlgorithm, octets: Uint8Array): PublicKey => ({
  algorithm,
  spki: encode(sequence([keyAlgorithmIdentifier(algorithm), bitString(octets)])),
  octets,
})

const objectMember = Symbol("key object")

/**
 * Returns the key object that Node verifies with. It is cached on the key and not by `memoizeByIdentity`, because most keys live as long
 * as a request. Freeing thousands of entries at once would block the server for a tenth of a second.
 */
export function publicKeyObject(key: PublicKey & { readonly [objectMember]?: KeyObject }): KeyObject {
  const cached = key[objectMember]
  if (cached !== undefined) return cached
  const made = createPublicKey({ key: asBuffer(key.spki), format: "der", type: "spki" })
  Object.defineProperty(key, objectMember, { value: made })
  return made
}

/**
 * Returns the SHA-1 of the octets of the BIT STRING (RFC 5280, section 4.2.1.2, method 1). It identifies the key and has no security
 * function.
 */
export const subjectKeyIdentifier = ({ octets }: PublicKey): Uint8Array => hash("sha1", octets, "buffer")

export const isSamePublicKey = (one: PublicKey, other: PublicKey): boolean => Buffer.compare(one.spki, other.spki) === 0

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
