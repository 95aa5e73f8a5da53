// Signature algorithms of certificates, CRLs, requests and OCSP responses, with their names in `revocation_signature_algorithm` and their
// AlgorithmIdentifiers (RFC 4055, RFC 5758, RFC 8410).
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { tag } from "./asn1/tag.ts"
import { context, derNull, encode, integer, objectIdentifier, sequence } from "./asn1/writer.ts"
import type { KeyAlgorithm } from "./key-algorithm.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

export type SignatureAlgorithm =
  | "SHA256WithRSA"
  | "SHA384WithRSA"
  | "SHA512WithRSA"
  | "SHA256WithRSAPSS"
  | "SHA384WithRSAPSS"
  | "SHA512WithRSAPSS"
  | "ECDSAWithSHA256"
  | "ECDSAWithSHA384"
  | "ECDSAWithSHA512"
  | "Ed25519"

type Hash = "sha256" | "sha384" | "sha512"

/** Parameters to sign and verify with. */
export type SignatureScheme =
  | { readonly keyType: "rsa"; readonly hash: Hash; readonly padding: "PKCS#1" }
  /** `saltOctets` equals the hash length when signing (RFC 4055, section 3.1), and the value of the identifier when verifying. */
  | { readonly keyType: "rsa"; readonly hash: Hash; readonly padding: "PSS"; readonly saltOctets: number }
  | { readonly keyType: "ec"; readonly hash: Hash }
  | { readonly keyType: "ed25519" }

const hashOctets: Readonly<Record<Hash, number>> = { sha256: 32, sha384: 48, sha512: 64 }

const rsa = (hash: Hash): SignatureScheme => ({ keyType: "rsa", hash, padding: "PKCS#1" })
const pss = (hash: Hash): SignatureScheme => ({ keyType: "rsa", hash, padding: "PSS", saltOctets: hashOctets[hash] })
const ecdsa = (hash: Hash): SignatureScheme => ({ keyType: "ec", hash })

const schemes: Readonly<Record<SignatureAlgorithm, SignatureScheme>> = {
  SHA256WithRSA: rsa("sha256"),
  SHA384WithRSA: rsa("sha384"),
  SHA512WithRSA: rsa("sha512"),
  SHA256WithRSAPSS: pss("sha256"),
  SHA384WithRSAPSS: pss("sha384"),
  SHA512WithRSAPSS: pss("sha512"),
  ECDSAWithSHA256: ecdsa("sha256"),
  ECDSAWithSHA384: ecdsa("sha384"),
  ECDSAWithSHA512: ecdsa("sha512"),
  Ed25519: { keyType: "ed25519" },
}

const names = Object.keys(schemes) as readonly SignatureAlgorithm[]

export const signatureScheme = (algorithm: SignatureAlgorithm): SignatureScheme => schemes[algorithm]

/** Ignores case. Returns undefined for unknown names. */
export const parseSignatureAlgorithm = (text: string): SignatureAlgorithm | undefined =>
  names.find((name) => name.toLowerCase() === text.toLowerCase())

export interface SignatureChoice {
  /** 256, 384 or 512; 0 selects the default of the key. Only RSA keys use it. */
  readonly signatureBits: number
  /** Only RSA keys use it. */
  readonly usePss: boolean
}

/** Returns the algorithm that a CA key of this type signs with (RFC 5480, section 4, for curves). */
export function chooseSignatureAlgorithm(
  key: KeyAlgorithm,
  { signatureBits, usePss }: SignatureChoice,
): SignatureAlgorithm {
  switch (key.type) {
    case "rsa":
      return `SHA${rsaHashBits(signatureBits)}WithRSA${usePss ? "PSS" : ""}`
    case "ec":
      return curveChoices[key.bits]
    default:
      return "Ed25519"
  }
}

const rsaHashBits = (signatureBits: number): 256 | 384 | 512 =>
  signatureBits === 384 || signatureBits === 512 ? signatureBits : 256

const curveChoices = {
  224: "ECDSAWithSHA256",
  256: "ECDSAWithSHA256",
  384: "ECDSAWithSHA384",
  521: "ECDSAWithSHA512",
} as const

export const fitsKey = (algorithm: SignatureAlgorithm, key: KeyAlgorithm): boolean =>
  schemes[algorithm].keyType === key.type

/** Returns the AlgorithmIdentifier, DER. */
export const signatureAlgorithmIdentifier = (algorithm: SignatureAlgorithm): Uint8Array => identifiers[algorithm]

const identifier = (oid: string, ...parameters: readonly Uint8Array[]): Uint8Array =>
  encode(sequence([objectIdentifier(oid), ...parameters]))

/** The defaults of RFC 4055, section 3.1 are for SHA-1, so all fields are encoded. Only the trailer field has its default. */
const pssIdentifier = (hash: Hash): Uint8Array => {
  const digest = encode(sequence([objectIdentifier(oids[hash]), derNull]))
  const mask = encode(sequence([objectIdentifier(oids.mgf1), digest]))
  const salt = integer(hashOctets[hash])
  return identifier(oids.rsassaPss, encode(sequence([context(0, [digest]), context(1, [mask]), context(2, [salt])])))
}

const identifiers: Readonly<Record<SignatureAlgorithm, Uint8Array>> = {
  SHA256WithRSA: identifier(oids.sha256WithRsa, derNull),
  SHA384WithRSA: identifier(oids.sha384WithRsa, derNull),
  SHA512WithRSA: identifier(oids.sha512WithRsa, derNull),
  SHA256WithRSAPSS: pssIdentifier("sha256"),
  SHA384WithRSAPSS: pssIdentifier("sha384"),
  SHA512WithRSAPSS: pssIdentifier("sha512"),
  ECDSAWithSHA256: identifier(oids.ecdsaWithSha256),
  ECDSAWithSHA384: identifier(oids.ecdsaWithSha384),
  ECDSAWithSHA512: identifier(oids.ecdsaWithSha512),
  Ed25519: identifier(oids.ed25519),
}

export interface ReadSignatureAlgorithm {
  readonly algorithm: SignatureAlgorithm
  /** Scheme of the algorithm, with the salt length of the identifier. */
  readonly scheme: SignatureScheme
}

const document = "signature algorithm"

/** Throws `MalformedDer` or `UnacceptableInput` if the AlgorithmIdentifier is malformed, unsupported or broken. */
export function readSignatureAlgorithm(der: Uint8Array): ReadSignatureAlgorithm {
  const reader = new DerReader(der, document)
  const parts = reader.sequence("AlgorithmIdentifier")
  reader.finish("AlgorithmIdentifier")
  const oid = parts.oid("algorithm")
  if (oid === oids.rsassaPss) return readPss(parts)
  const algorithm = byOid.get(oid)
  if (algorithm === undefined) throw unsupported(oid)
  const scheme = schemes[algorithm]
  // RFC 4055, section 5: NULL is written, and its absence is accepted. Other algorithms have no parameters (RFC 5758, RFC 8410).
  if (scheme.keyType === "rsa") skipNull(parts)
  parts.finish("parameters")
  return { algorithm, scheme }
}

const byOid: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  [oids.sha256WithRsa, "SHA256WithRSA"],
  [oids.sha384WithRsa, "SHA384WithRSA"],
  [oids.sha512WithRsa, "SHA512WithRSA"],
  [oids.ecdsaWithSha256, "ECDSAWithSHA256"],
  [oids.ecdsaWithSha384, "ECDSAWithSHA384"],
  [oids.ecdsaWithSha512, "ECDSAWithSHA512"],
  [oids.ed25519, "Ed25519"],
])

/** Hashes of rejected algorithms, for error messages. */
const weakHashes: ReadonlyMap<string, string> = new Map([
  [oids.md5WithRsa, "MD5"],
  [oids.sha1WithRsa, "SHA-1"],
  [oids.sha224WithRsa, "SHA-224"],
  [oids.ecdsaWithSha1, "SHA-1"],
  [oids.ecdsaWithSha224, "SHA-224"],
  [oids.sha1, "SHA-1"],
  [oids.sha224, "SHA-224"],
])

function unsupported(oid: string): UnacceptableInput {
  const weak = weakHashes.get(oid)
  return new UnacceptableInput(
    weak === undefined
      ? `Signatures of the algorithm ${oid} are not supported`
      : `Signatures with ${weak} are not supported; use SHA-256 or better`,
  )
}

function skipNull(reader: DerReader): void {
  if (reader.next === tag.null) reader.null("parameters")
}

const hashByOid: ReadonlyMap<string, Hash> = new Map([
  [oids.sha256, "sha256"],
  [oids.sha384, "sha384"],
  [oids.sha512, "sha512"],
])

const pssNames: Readonly<Record<Hash, SignatureAlgorithm>> = {
  sha256: "SHA256WithRSAPSS",
  sha384: "SHA384WithRSAPSS",
  sha512: "SHA512WithRSAPSS",
}

/** Maximum for a modulus of 16384 bits (RFC 8017, section 9.1.1). */
const maxSalt = 2048 - 32 - 2

function readPss(parts: DerReader): ReadSignatureAlgorithm {
  const parameters = parts.sequence("parameters")
  parts.finish("parameters")
  const hash = readHash(parameters.optional(0, "hashAlgorithm"), "hashAlgorithm")
  const mask = parameters.optional(1, "maskGenAlgorithm")
  if (mask === undefined) throw unsupported(oids.sha1)
  const generator = mask.sequence("maskGenAlgorithm")
  mask.finish("maskGenAlgorithm")
  if (generator.oid("maskGenAlgorithm") !== oids.mgf1) generator.refuse("maskGenAlgorithm", "is not MGF1")
  if (readHash(generator, "maskGenAlgorithm") !== hash)
    throw new UnacceptableInput("RSASSA-PSS signatures with different hashes for mask and message are not supported")
  const salt = parameters.optional(2, "saltLength")
  const saltOctets = salt?.small("saltLength", maxSalt) ?? 20
  salt?.finish("saltLength")
  // Only the default, 1, is defined, and DER omits defaults.
  parameters.finish("trailerField")
  // Older releases of OpenSSL use a longer salt. A shorter one weakens the security proof (RFC 8017, section 9.1).
  if (saltOctets < hashOctets[hash])
    throw new UnacceptableInput(
      `RSASSA-PSS signatures need a salt as long as the hash, ${hashOctets[hash]} octets; got ${saltOctets}`,
    )
  return { algorithm: pssNames[hash], scheme: { keyType: "rsa", hash, padding: "PSS", saltOctets } }
}

/** The default of a missing hash is SHA-1. */
function readHash(within: DerReader | undefined, field: string): Hash {
  if (within === undefined) throw unsupported(oids.sha1)
  const identifier = within.sequence(field)
  within.finish(field)
  const oid = identifier.oid(field)
  const hash = hashByOid.get(oid)
  if (hash === undefined) throw unsupported(oid)
  skipNull(identifier)
  identifier.finish(field)
  return hash
}
