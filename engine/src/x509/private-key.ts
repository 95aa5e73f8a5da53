// Private keys, and the forms they are exchanged in: PKCS#1 (RFC 8017, appendix A.1.2), SEC 1 (RFC 5915) and PKCS#8
// (RFC 5958, which adds the public key to RFC 5208).
import { createPrivateKey, type KeyObject } from "node:crypto"
import { DerReader } from "./asn1/reader.ts"
import { contextConstructed, contextPrimitive, tag } from "./asn1/tag.ts"
import {
  bitString,
  context,
  type Der,
  encode,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  unsignedInteger,
} from "./asn1/writer.ts"
import { type Curve, curveOf } from "./curve.ts"
import type { KeyAlgorithm } from "./key-algorithm.ts"
import { type PemBlock, type PemLabel, readPem, writePem } from "./pem.ts"
import {
  keyAlgorithmIdentifier,
  type PublicKey,
  publicKeyOf,
  readCurve,
  readKeyAlgorithm,
  rejectWeakRsa,
} from "./public-key.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

/** `traditional` is PKCS#1 for RSA and SEC 1 for elliptic curves; Ed25519 has PKCS#8 only (RFC 8410, section 7). */
export type PrivateKeyFormat = "traditional" | "pkcs8"

/** A private key. The secret is a private field, so that logs and JSON cannot contain it. */
export class PrivateKey {
  readonly publicKey: PublicKey
  /** RSA: RSAPrivateKey. EC: the scalar in as many octets as a coordinate. Ed25519: the seed. */
  readonly #secret: Uint8Array

  /** The public key must match the secret. For keys of clients use `readPrivateKey`. */
  constructor(publicKey: PublicKey, secret: Uint8Array) {
    this.publicKey = publicKey
    this.#secret = secret
  }

  get algorithm(): KeyAlgorithm {
    return this.publicKey.algorithm
  }

  der(format: PrivateKeyFormat): Uint8Array {
    const { algorithm } = this
    if (format === "traditional" && algorithm.type === "rsa") return this.#secret
    if (format === "traditional" && algorithm.type === "ec")
      return this.#sec1([context(0, [objectIdentifier(curveOf(algorithm.bits).oid)])])
    return pkcs8(algorithm, this.#pkcs8Content())
  }

  pem(format: PrivateKeyFormat): string {
    return writePem(format === "pkcs8" ? "PRIVATE KEY" : traditionalLabel[this.algorithm.type], this.der(format))
  }

  /**
   * Returns the key object that Node signs with. Callers that sign repeatedly should keep it: it costs more to create than most
   * signatures.
   */
  keyObject(): KeyObject {
    return keyObjectOf(this.der("pkcs8"))
  }

  #pkcs8Content(): Uint8Array {
    switch (this.algorithm.type) {
      case "rsa":
        return this.#secret
      case "ec":
        // The algorithm names the curve already (RFC 5915, section 3). OpenSSL omits it as well.
        return this.#sec1([])
      default:
        return encode(octetString(this.#secret))
    }
  }

  #sec1(parameters: readonly Der[]): Uint8Array {
    const point = context(1, [bitString(this.publicKey.octets)])
    return encode(sequence([sec1Version, octetString(this.#secret), ...parameters, point]))
  }
}

const pkcs8Version = integer(0)
const sec1Version = integer(1)

const pkcs8 = (algorithm: KeyAlgorithm, content: Uint8Array): Uint8Array =>
  encode(sequence([pkcs8Version, keyAlgorithmIdentifier(algorithm), octetString(content)]))

const keyObjectOf = (key: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.from(key.buffer, key.byteOffset, key.byteLength), format: "der", type: "pkcs8" })

const traditionalLabel: Readonly<Record<KeyAlgorithm["type"], PemLabel>> = {
  rsa: "RSA PRIVATE KEY",
  ec: "EC PRIVATE KEY",
  ed25519: "PRIVATE KEY",
}

/** Returns true for all labels of private keys, including unsupported ones. */
export const isPrivateKeyLabel = (label: string): boolean => label.endsWith("PRIVATE KEY")

const formsByLabel: Readonly<Record<string, Form>> = {
  "PRIVATE KEY": "PKCS#8",
  "RSA PRIVATE KEY": "PKCS#1",
  "EC PRIVATE KEY": "SEC 1",
}

/** Reads a block whose label satisfies `isPrivateKeyLabel`. */
export function readPrivateKeyBlock({ label, bytes }: PemBlock): PrivateKey {
  if (label === "ENCRYPTED PRIVATE KEY") throw new UnacceptableInput("The private key is encrypted; decrypt it first")
  if (label === "OPENSSH PRIVATE KEY")
    throw new UnacceptableInput("The private key is in OpenSSH format; convert it to PKCS#8 first")
  const form = formsByLabel[label]
  if (form === undefined) throw new UnacceptableInput(`Private keys of the kind "${label}" are not supported`)
  return readPrivateKey(bytes, form)
}

/** Reads PEM text with one private key. A block `EC PARAMETERS`, which OpenSSL writes before the key, is ignored. */
export function readPrivateKeyPem(text: string, maximumLength: number): PrivateKey {
  const blocks = readPem(text, maximumLength).filter(({ label }) => label !== "EC PARAMETERS")
  const [block] = blocks
  if (block === undefined || blocks.length > 1)
    throw new UnacceptableInput(`The PEM text contains ${blocks.length} blocks where one private key is expected`)
  if (!isPrivateKeyLabel(block.label))
    throw new UnacceptableInput(`The PEM text contains a block "${block.label}" where a private key is expected`)
  return readPrivateKeyBlock(block)
}

type Form = "PKCS#1" | "SEC 1" | "PKCS#8"

const document = "private key"

/**
 * Reads a private key in any of the three forms, or in `form`. Throws `MalformedDer` or `UnacceptableInput` if it is malformed, weak, or
 * does not match an included public key.
 */
export function readPrivateKey(der: Uint8Array, form: Form = formOf(der)): PrivateKey {
  const reader = new DerReader(der, document)
  const key = reader.sequence("PrivateKey")
  reader.finish("PrivateKey")
  switch (form) {
    case "PKCS#1":
      return readRsa(key, der)
    case "SEC 1":
      return readSec1(key, undefined)
    default:
      return readPkcs8(key)
  }
}

/** After the version, the forms have a modulus, a scalar or an algorithm. */
function formOf(der: Uint8Array): Form {
  const key = new DerReader(der, document).sequence("PrivateKey")
  key.integer("version")
  return key.next === tag.integer ? "PKCS#1" : key.next === tag.octetString ? "SEC 1" : "PKCS#8"
}

/** Version 0 is without the public key, version 1 with it (RFC 5958, section 2). */
function readPkcs8(key: DerReader): PrivateKey {
  const version = key.small("version", 1)
  const identifier = key.sequence("privateKeyAlgorithm")
  const found = readKeyAlgorithm(identifier)
  const secret = key.octetString("privateKey")
  if (key.next === contextConstructed(0)) key.value("attributes")
  const given = key.next === contextPrimitive(1) ? key.content(contextPrimitive(1), "publicKey") : undefined
  if (given !== undefined && (version !== 1 || given[0] !== 0)) key.refuse("publicKey", "is not allowed here")
  key.finish("publicKey")
  const read = readSecret(found, secret)
  if (given !== undefined) rejectOtherPublicKey(given.subarray(1), read.publicKey)
  return read
}

function readSecret(found: ReturnType<typeof readKeyAlgorithm>, secret: Uint8Array): PrivateKey {
  const reader = new DerReader(secret, document)
  if (found.type === "ed25519") {
    const seed = reader.octetString("CurvePrivateKey")
    reader.finish("CurvePrivateKey")
    return ed25519Key(seed)
  }
  const parts = reader.sequence("privateKey")
  reader.finish("privateKey")
  return found.type === "rsa" ? readRsa(parts, secret) : readSec1(parts, found.curve)
}

/** Larger keys can be certified, but signing with them would delay all other requests. */
const maxRsaPrivateBits = 8192

function readRsa(key: DerReader, der: Uint8Array): PrivateKey {
  // Version 1 has more than two primes.
  key.small("version", 0)
  const modulus = key.unsigned("modulus")
  const exponent = key.unsigned("publicExponent")
  const bits = rejectWeakRsa(modulus, exponent)
  if (bits > maxRsaPrivateBits)
    throw new UnacceptableInput(`RSA private keys > ${maxRsaPrivateBits} bits are not supported: got ${bits}`)
  const below = (field: string): bigint => {
    const number = key.unsigned(field)
    return number.length <= modulus.length ? bigInt(number) : key.refuse(field, "is larger than the modulus")
  }
  const d = below("privateExponent")
  const [p, q] = [below("prime1"), below("prime2")]
  const [dp, dq] = [below("exponent1"), below("exponent2")]
  const qInverse = below("coefficient")
  key.finish("coefficient")
  // RFC 8017, section 3.2. Primality is not checked: the creator of the key is responsible for it, and a key without primes cannot sign.
  const e = bigInt(exponent)
  const isConsistent =
    p > 1n &&
    q > 1n &&
    p * q === bigInt(modulus) &&
    d % (p - 1n) === dp &&
    d % (q - 1n) === dq &&
    (e * dp) % (p - 1n) === 1n &&
    (e * dq) % (q - 1n) === 1n &&
    qInverse < p &&
    (q * qInverse) % p === 1n
  if (!isConsistent) throw mismatch()
  const octets = encode(sequence([unsignedInteger(modulus), unsignedInteger(exponent)]))
  return new PrivateKey(publicKeyOf({ type: "rsa", bits }, octets), new Uint8Array(der))
}

const bigInt = (magnitude: Uint8Array): bigint => BigInt(`0x${Buffer.from(magnitude).toString("hex")}`)

function readSec1(key: DerReader, expected: Curve | undefined): PrivateKey {
  if (key.small("version", 1) !== 1) key.refuse("version", "is not 1")
  const scalar = key.octetString("privateKey")
  const parameters = key.optional(0, "parameters")
  const named = parameters === undefined ? undefined : readCurve(parameters)
  parameters?.finish("parameters")
  const publicKey = key.optional(1, "publicKey")
  const given = publicKey?.bitString("publicKey")
  publicKey?.finish("publicKey")
  key.finish("publicKey")
  const curve = expected ?? named
  if (curve === undefined) key.refuse("parameters", "are missing; the private key does not name its curve")
  if (named !== undefined && named !== curve)
    throw new UnacceptableInput("The private key and its algorithm name different elliptic curves")
  const read = ecKey(curve, scalar)
  if (given !== undefined) rejectOtherPublicKey(given, read.publicKey)
  return read
}

/** Old encoders omit leading zeros, which RFC 5915, section 3 requires. */
function ecKey({ bits, octets, ecdh }: Curve, scalar: Uint8Array): PrivateKey {
  if (scalar.length > octets) throw new UnacceptableInput(`The private key is too long for EC P-${bits}`)
  try {
    ecdh.setPrivateKey(scalar)
  } catch (error) {
    throw new UnacceptableInput(`The private key is out of range for EC P-${bits}`, error)
  }
  return new PrivateKey(
    publicKeyOf({ type: "ec", bits }, ecdh.getPublicKey()),
    leftPadded(new Uint8Array(scalar), octets),
  )
}

function leftPadded(octets: Uint8Array, length: number): Uint8Array {
  if (octets.length === length) return octets
  const padded = new Uint8Array(length)
  padded.set(octets, length - octets.length)
  return padded
}

const ed25519SeedOctets = 32

function ed25519Key(seed: Uint8Array): PrivateKey {
  if (seed.length !== ed25519SeedOctets)
    throw new UnacceptableInput(`The Ed25519 private key has ${seed.length} octets instead of ${ed25519SeedOctets}`)
  const { x = "" } = keyObjectOf(pkcs8({ type: "ed25519" }, encode(octetString(seed)))).export({ format: "jwk" })
  return new PrivateKey(publicKeyOf({ type: "ed25519" }, Buffer.from(x, "base64url")), new Uint8Array(seed))
}

function rejectOtherPublicKey(given: Uint8Array, { octets }: PublicKey): void {
  if (Buffer.compare(given, octets) !== 0) throw mismatch()
}

const mismatch = (cause?: unknown): UnacceptableInput =>
  new UnacceptableInput("The private key does not match its public key", cause)
