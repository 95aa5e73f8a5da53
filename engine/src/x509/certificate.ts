// Certificates (RFC 5280, section 4.1): encoding of a template, assembly with its signature, and parsing.
import type { Instant } from "../core/time.ts"
import { DerReader } from "./asn1/reader.ts"
import { contextConstructed, contextPrimitive, tag } from "./asn1/tag.ts"
import { context, encode, integer, sequence, time, unsignedInteger } from "./asn1/writer.ts"
import { type Extension, encodeExtensions, readExtensions } from "./extension.ts"
import { type DistinguishedName, parseName } from "./name.ts"
import { assembleSigned, parseSigned, readAlgorithmIdentifier, readSubjectPublicKeyInfo } from "./signed.ts"

export interface CertificateTemplate {
  /** Magnitude, big-endian, without a sign octet. */
  readonly serialNumber: Uint8Array
  /** AlgorithmIdentifier, DER. */
  readonly signatureAlgorithm: Uint8Array
  /** Name, DER. */
  readonly issuer: Uint8Array
  /** In whole seconds. The validity includes both ends (section 4.1.2.5). */
  readonly notBefore: Instant
  readonly notAfter: Instant
  /** Name, DER. */
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly subjectPublicKeyInfo: Uint8Array
  /** issuerUniqueID and subjectUniqueID of a parsed certificate, DER. New certificates do not have them (section 4.1.2.8). */
  readonly uniqueIdentifiers?: Uint8Array
  readonly extensions: readonly Extension[]
}

/** Arrays are views on the input. */
export interface Certificate extends CertificateTemplate {
  readonly der: Uint8Array
  readonly version: 1 | 2 | 3
  /** The signed bytes. */
  readonly tbsCertificate: Uint8Array
  readonly issuerName: DistinguishedName
  readonly subjectName: DistinguishedName
  readonly signature: Uint8Array
}

const version3 = context(0, [integer(2)])

/** Encodes a TBSCertificate, always of version 3. */
export function encodeTbsCertificate(template: CertificateTemplate): Uint8Array {
  const { uniqueIdentifiers, extensions } = template
  const parts = [
    version3,
    unsignedInteger(template.serialNumber),
    template.signatureAlgorithm,
    template.issuer,
    sequence([time(template.notBefore), time(template.notAfter)]),
    template.subject,
    template.subjectPublicKeyInfo,
  ]
  if (uniqueIdentifiers !== undefined) parts.push(uniqueIdentifiers)
  if (extensions.length > 0) parts.push(context(3, [encodeExtensions(extensions)]))
  return encode(sequence(parts))
}

/** `signatureAlgorithm` must be the one of the TBSCertificate. */
export const assembleCertificate = (
  tbsCertificate: Uint8Array,
  signatureAlgorithm: Uint8Array,
  signature: Uint8Array,
): Uint8Array => assembleSigned({ body: tbsCertificate, signatureAlgorithm, signature })

export interface CertificateRules {
  /** Rejects serial numbers that a CA must not assign: zero, and those of more than 20 octets (section 4.1.2.2). */
  readonly conformingSerialNumber?: boolean
}

/** Parses strictly. Throws `MalformedDer`. The signature is not verified. */
export function parseCertificate(der: Uint8Array, rules: CertificateRules = {}): Certificate {
  const { body, signatureAlgorithm, signature } = parseSigned(der, "certificate", "tbsCertificate")
  const tbs = new DerReader(body, "certificate").sequence("tbsCertificate")
  const version = readVersion(tbs)
  const serialNumber = readSerialNumber(tbs, rules)
  const algorithm = readAlgorithmIdentifier(tbs, "signature")
  if (Buffer.compare(algorithm, signatureAlgorithm) !== 0) tbs.refuse("signature", "differs from signatureAlgorithm")
  const issuer = tbs.whole("issuer", tag.sequence)
  const issuerName = parseName(issuer, "issuer")
  const validity = tbs.sequence("validity")
  const notBefore = validity.time("notBefore")
  const notAfter = validity.time("notAfter")
  validity.finish("validity")
  const subject = tbs.whole("subject", tag.sequence)
  const subjectName = parseName(subject, "subject")
  const subjectPublicKeyInfo = readSubjectPublicKeyInfo(tbs)
  const uniqueIdentifiers = version === 1 ? undefined : readUniqueIdentifiers(tbs)
  const extensions = version === 3 ? readOptionalExtensions(tbs) : []
  tbs.finish("tbsCertificate")
  return {
    der,
    version,
    tbsCertificate: body,
    serialNumber,
    signatureAlgorithm,
    issuer,
    issuerName,
    notBefore,
    notAfter,
    subject,
    subjectName,
    subjectPublicKeyInfo,
    ...(uniqueIdentifiers === undefined ? {} : { uniqueIdentifiers }),
    extensions,
    signature,
  }
}

function readVersion(tbs: DerReader): 1 | 2 | 3 {
  const explicit = tbs.optional(0, "version")
  if (explicit === undefined) return 1
  const version = explicit.small("version", 2)
  explicit.finish("version")
  if (version === 0) explicit.refuse("version", "contains its default value")
  return version === 1 ? 2 : 3
}

const maxSerialNumberOctets = 20

function readSerialNumber(tbs: DerReader, { conformingSerialNumber = false }: CertificateRules): Uint8Array {
  const serialNumber = tbs.unsigned("serialNumber")
  if (!conformingSerialNumber) return serialNumber
  const [first = 0] = serialNumber
  if (first === 0) tbs.refuse("serialNumber", "is zero")
  if (serialNumber.length + (first >> 7) > maxSerialNumberOctets)
    tbs.refuse("serialNumber", `is longer than ${maxSerialNumberOctets} octets`)
  return serialNumber
}

function readUniqueIdentifiers(tbs: DerReader): Uint8Array | undefined {
  const found = [1, 2].flatMap((number) => {
    const field = number === 1 ? "issuerUniqueID" : "subjectUniqueID"
    return tbs.next === contextPrimitive(number) ? [tbs.taggedBitString(field, contextPrimitive(number))] : []
  })
  return found.length === 0 ? undefined : new Uint8Array(Buffer.concat(found))
}

function readOptionalExtensions(tbs: DerReader): readonly Extension[] {
  if (tbs.next !== contextConstructed(3)) return []
  const explicit = tbs.enter(contextConstructed(3), "extensions")
  const extensions = readExtensions(explicit, "extensions")
  explicit.finish("extensions")
  return extensions
}

/** Fields to replace when a certificate is signed again under another issuer. */
export interface Reissue {
  readonly issuer: Uint8Array
  readonly signatureAlgorithm: Uint8Array
  /** Default: the serial number of the certificate. */
  readonly serialNumber?: Uint8Array
  /** Each extension replaces the one with the same identifier, or is appended. */
  readonly extensions: readonly Extension[]
}

/** Encodes the TBSCertificate of the same certificate under another issuer. Fields that `reissue` does not name stay byte for byte. */
export function encodeReissuedTbsCertificate(certificate: CertificateTemplate, reissue: Reissue): Uint8Array {
  const replacing = new Map(reissue.extensions.map((extension) => [extension.oid, extension]))
  const preserved = certificate.extensions.map((extension) => replacing.get(extension.oid) ?? extension)
  const present = new Set(certificate.extensions.map(({ oid }) => oid))
  const added = reissue.extensions.filter(({ oid }) => !present.has(oid))
  return encodeTbsCertificate({ ...certificate, ...reissue, extensions: [...preserved, ...added] })
}
