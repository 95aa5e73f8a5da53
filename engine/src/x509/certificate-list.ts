// Certificate revocation lists (RFC 5280, section 5). Entries are encoded once, when a certificate is revoked or first listed. A list of
// a million entries is then written by copying octets.
import type { Instant } from "../core/time.ts"
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { contextPrimitive, tag } from "./asn1/tag.ts"
import {
  bitString,
  context,
  type Der,
  encode,
  generalizedTime,
  header,
  integer,
  primitive,
  sequence,
  time,
  unsignedInteger,
} from "./asn1/writer.ts"
import { encodeExtensions, type Extension, findExtension, readExtensions } from "./extension.ts"
import { parseSigned, readAlgorithmIdentifier } from "./signed.ts"

/** CRLReason (RFC 5280, section 5.3.1) by its number; 7 is not used. */
export const revocationReasons = {
  unspecified: 0,
  keyCompromise: 1,
  caCompromise: 2,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  certificateHold: 6,
  removeFromCrl: 8,
  privilegeWithdrawn: 9,
  aaCompromise: 10,
} as const
export type RevocationReason = keyof typeof revocationReasons

export interface RevokedEntry {
  /** Magnitude, big-endian. */
  readonly serialNumber: Uint8Array
  readonly revokedAt: Instant
  /** The entry has no reason extension for `unspecified` (RFC 5280, section 5.3.1). */
  readonly reason: RevocationReason
  /** Time of the suspected compromise of the key, if known. */
  readonly invalidityDate?: Instant
  /** Further extensions, copied unchanged. */
  readonly extensions?: readonly Extension[]
}

/** Encodes one element of `revokedCertificates` as DER. */
export function encodeRevokedEntry(entry: RevokedEntry): Uint8Array {
  const { reason, invalidityDate } = entry
  const extensions: Extension[] = [...(entry.extensions ?? [])]
  if (invalidityDate !== undefined)
    extensions.unshift({ oid: oids.invalidityDate, critical: false, value: generalizedTime(invalidityDate) })
  if (reason !== "unspecified") {
    const value = primitive(tag.enumerated, [revocationReasons[reason]])
    extensions.unshift({ oid: oids.crlReason, critical: false, value })
  }
  const parts: Der[] = [unsignedInteger(entry.serialNumber), time(entry.revokedAt)]
  if (extensions.length > 0) parts.push(encodeExtensions(extensions))
  return encode(sequence(parts))
}

export interface CertificateListTemplate {
  /** AlgorithmIdentifier, DER. */
  readonly signatureAlgorithm: Uint8Array
  /** Name, DER. */
  readonly issuer: Uint8Array
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant
  readonly extensions: readonly Extension[]
}

/** Octets before and after the content of a structure, such as the entries of a TBSCertList of version 2. */
export interface TbsFrame {
  readonly before: Uint8Array
  readonly after: Uint8Array
}

/** Encodes a TBSCertList without its entries. `revokedCertificates` is absent if there are none (RFC 5280, section 5.1.2.6). */
export function frameTbsCertificateList(template: CertificateListTemplate, entriesLength: number): TbsFrame {
  const { signatureAlgorithm, issuer, thisUpdate, nextUpdate, extensions } = template
  const parts = [integer(1), signatureAlgorithm, issuer, time(thisUpdate), time(nextUpdate)]
  if (entriesLength > 0) parts.push(header(tag.sequence, entriesLength))
  const after = encode(context(0, [encodeExtensions(extensions)]))
  let length = entriesLength + after.length
  for (const part of parts) length += part.length
  return { before: Buffer.concat([header(tag.sequence, length), ...parts]), after }
}

/** Encodes the octets around a TBSCertList in the CertificateList. */
export function frameSigned(tbsLength: number, signatureAlgorithm: Uint8Array, signature: Uint8Array): TbsFrame {
  const after = Buffer.concat([signatureAlgorithm, encode(bitString(signature))])
  return { before: header(tag.sequence, tbsLength + after.length), after }
}

/** `number` is a magnitude of at most 20 octets (RFC 5280, section 5.2.3). */
export const crlNumber = (number: Uint8Array): Extension => ({
  oid: oids.crlNumber,
  critical: false,
  value: unsignedInteger(number),
})

/** References the complete list that a delta CRL is based on (RFC 5280, section 5.2.4). */
export const deltaCrlIndicator = (baseNumber: Uint8Array): Extension => ({
  oid: oids.deltaCrlIndicator,
  critical: true,
  value: unsignedInteger(baseNumber),
})

/** Limits a list to the certificates whose distribution point has these URLs (RFC 5280, section 5.2.5). */
export function issuingDistributionPoint(urls: readonly string[]): Extension {
  const names = urls.map((url) => primitive(contextPrimitive(6), Buffer.from(url, "latin1")))
  return {
    oid: oids.issuingDistributionPoint,
    critical: true,
    value: encode(sequence([context(0, [context(0, names)])])),
  }
}

export interface CertificateList {
  /** TBSCertList, DER. */
  readonly tbs: Uint8Array
  /** AlgorithmIdentifier, DER. */
  readonly signatureAlgorithm: Uint8Array
  readonly signature: Uint8Array
  /** Name, DER. */
  readonly issuer: Uint8Array
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant | undefined
  readonly entries: readonly ListedEntry[]
  readonly extensions: readonly Extension[]
  /** CRLNumber. Undefined if absent or above 2⁵³ − 1. Numbers that Chancery assigns are smaller. */
  readonly number: number | undefined
}

export interface ListedEntry {
  readonly serialNumber: Uint8Array
  readonly revokedAt: Instant
  readonly extensions: readonly Extension[]
}

/** Parses a CertificateList. Throws `MalformedDer`. The signature is not verified. */
export function parseCertificateList(der: Uint8Array): CertificateList {
  const { body: tbs, signatureAlgorithm, signature } = parseSigned(der, "CRL", "tbsCertList")
  const read = readTbs(tbs, signatureAlgorithm)
  return { tbs, signatureAlgorithm, signature, ...read, number: numberIn(read.extensions) }
}

function numberIn(extensions: readonly Extension[]): number | undefined {
  const value = findExtension(extensions, oids.crlNumber)?.value
  if (value === undefined) return undefined
  const reader = new DerReader(value, "cRLNumber")
  const magnitude = reader.unsigned("cRLNumber")
  reader.finish("cRLNumber")
  const number = Number(BigInt(`0x${Buffer.from(magnitude).toString("hex")}`))
  return Number.isSafeInteger(number) ? number : undefined
}

function readTbs(tbs: Uint8Array, outerAlgorithm: Uint8Array) {
  const reader = new DerReader(tbs, "CRL").sequence("tbsCertList")
  const version = readVersion(reader)
  const algorithm = readAlgorithmIdentifier(reader, "signature")
  if (Buffer.compare(algorithm, outerAlgorithm) !== 0) reader.refuse("signature", "differs from signatureAlgorithm")
  const issuer = reader.value("issuer", tag.sequence)
  const thisUpdate = reader.time("thisUpdate")
  const nextUpdate =
    reader.next === tag.utcTime || reader.next === tag.generalizedTime ? reader.time("nextUpdate") : undefined
  const entries = reader.next === tag.sequence ? readEntries(reader.sequence("revokedCertificates"), version) : []
  const wrapped = reader.optional(0, "crlExtensions")
  if (wrapped !== undefined && version < 2) reader.refuse("crlExtensions", "require version 2")
  const extensions = wrapped === undefined ? [] : readExtensions(wrapped, "crlExtensions")
  wrapped?.finish("crlExtensions")
  reader.finish("tbsCertList")
  return { issuer, thisUpdate, nextUpdate, entries, extensions }
}

/** Version 1 is not encoded (RFC 5280, section 5.1.2.1). */
function readVersion(reader: DerReader): 1 | 2 {
  if (reader.next !== tag.integer) return 1
  if (reader.small("version", 1) === 0) reader.refuse("version", "is present and not version 2")
  return 2
}

function readEntries(reader: DerReader, version: 1 | 2): readonly ListedEntry[] {
  const entries: ListedEntry[] = []
  while (!reader.done) {
    const entry = reader.sequence("revokedCertificate")
    const serialNumber = entry.unsigned("userCertificate")
    const revokedAt = entry.time("revocationDate")
    if (version < 2 && !entry.done) entry.refuse("crlEntryExtensions", "require version 2")
    const extensions = entry.done ? [] : readExtensions(entry, "crlEntryExtensions")
    entry.finish("revokedCertificate")
    entries.push({ serialNumber, revokedAt, extensions })
  }
  return entries
}
