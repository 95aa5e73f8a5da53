// Extensions about keys, their usage and their subject (RFC 5280, section 4.2.1), and a parser of all known extensions.
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { contextConstructed, contextPrimitive } from "./asn1/tag.ts"
import {
  derNull,
  derTrue,
  encode,
  integer,
  namedBits,
  objectIdentifier,
  octetString,
  primitive,
  sequence,
} from "./asn1/writer.ts"
import { type CertificatePolicy, parseCertificatePolicies } from "./certificate-policies.ts"
import {
  type AuthorityInfoAccess,
  type DistributionPointUrls,
  parseAuthorityInfoAccess,
  parseCrlDistributionPoints,
} from "./distribution-points.ts"
import type { Extension } from "./extension.ts"
import { type GeneralName, encodeGeneralName, readGeneralNames } from "./general-name.ts"
import { type NameConstraints, parseNameConstraints } from "./name-constraints.ts"

/** In the order of their bits. */
export const keyUsages = [
  "digitalSignature",
  "contentCommitment",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
  "encipherOnly",
  "decipherOnly",
] as const

export type KeyUsage = (typeof keyUsages)[number]

export interface BasicConstraints {
  readonly isCa: boolean
  /** Number of intermediates that may follow; absent if unlimited. Only set for a CA. */
  readonly maxPathLength?: number
}

export interface AuthorityKeyIdentifier {
  readonly keyIdentifier?: Uint8Array
  /** Other way to identify the issuer's certificate. It is read but never written. */
  readonly issuer?: readonly GeneralName[]
  /** Magnitude, big-endian. */
  readonly serialNumber?: Uint8Array
}

export function basicConstraints({ isCa, maxPathLength }: BasicConstraints): Extension {
  const parts = [...(isCa ? [derTrue] : []), ...(maxPathLength === undefined ? [] : [integer(maxPathLength)])]
  return { oid: oids.basicConstraints, critical: true, value: encode(sequence(parts)) }
}

/** `usages` must not be empty (RFC 5280, section 4.2.1.3). */
export const keyUsage = (usages: readonly KeyUsage[]): Extension => ({
  oid: oids.keyUsage,
  critical: true,
  value: namedBits(usages.map((usage) => keyUsages.indexOf(usage))),
})

/** `purposes` are dotted object identifiers, at least one. */
export const extendedKeyUsage = (purposes: readonly string[]): Extension => ({
  oid: oids.extendedKeyUsage,
  critical: false,
  value: encode(sequence(purposes.map(objectIdentifier))),
})

/** `names` must not be empty. The extension is critical if the subject is empty (RFC 5280, section 4.2.1.6). */
export const subjectAltName = (
  names: readonly GeneralName[],
  { critical }: { readonly critical: boolean },
): Extension => ({
  oid: oids.subjectAltName,
  critical,
  value: encode(sequence(names.map(encodeGeneralName))),
})

export const subjectKeyIdentifier = (identifier: Uint8Array): Extension => ({
  oid: oids.subjectKeyIdentifier,
  critical: false,
  value: encode(octetString(identifier)),
})

/** `identifier` is the subject key identifier of the issuer of a certificate or a CRL. */
export const authorityKeyIdentifier = (identifier: Uint8Array): Extension => ({
  oid: oids.authorityKeyIdentifier,
  critical: false,
  value: encode(sequence([primitive(contextPrimitive(0), identifier)])),
})

/** Clients do not check the revocation of a delegated OCSP responder's certificate (RFC 6960, section 4.2.2.2.1). */
export const ocspNoCheck: Extension = { oid: oids.ocspNoCheck, critical: false, value: derNull }

/** Values of the known extensions. Members of missing extensions are absent. */
export interface ExtensionValues {
  readonly basicConstraints?: BasicConstraints
  readonly keyUsage?: readonly KeyUsage[]
  /** Dotted object identifiers. */
  readonly extendedKeyUsage?: readonly string[]
  readonly subjectAltName?: readonly GeneralName[]
  readonly subjectKeyIdentifier?: Uint8Array
  readonly authorityKeyIdentifier?: AuthorityKeyIdentifier
  readonly authorityInfoAccess?: AuthorityInfoAccess
  readonly crlDistributionPoints?: readonly DistributionPointUrls[]
  readonly freshestCrl?: readonly DistributionPointUrls[]
  readonly certificatePolicies?: readonly CertificatePolicy[]
  readonly nameConstraints?: NameConstraints
  readonly ocspNoCheck?: true
  /** No revocation information will be published (RFC 9608). */
  readonly noRevAvail?: true
}

/** Parses known extensions and ignores others. Throws `MalformedDer` with the name of the extension. */
export function parseExtensionValues(extensions: readonly Extension[]): ExtensionValues {
  const values: { -readonly [Name in keyof ExtensionValues]: ExtensionValues[Name] } = {}
  for (const { oid, value } of extensions) {
    switch (oid) {
      case oids.basicConstraints:
        values.basicConstraints = parseBasicConstraints(value)
        break
      case oids.keyUsage:
        values.keyUsage = parseKeyUsage(value)
        break
      case oids.extendedKeyUsage:
        values.extendedKeyUsage = parseExtendedKeyUsage(value)
        break
      case oids.subjectAltName:
        values.subjectAltName = parseSubjectAltName(value)
        break
      case oids.subjectKeyIdentifier:
        values.subjectKeyIdentifier = parseSubjectKeyIdentifier(value)
        break
      case oids.authorityKeyIdentifier:
        values.authorityKeyIdentifier = parseAuthorityKeyIdentifier(value)
        break
      case oids.authorityInfoAccess:
        values.authorityInfoAccess = parseAuthorityInfoAccess(value)
        break
      case oids.crlDistributionPoints:
        values.crlDistributionPoints = parseCrlDistributionPoints(value, "cRLDistributionPoints")
        break
      case oids.freshestCrl:
        values.freshestCrl = parseCrlDistributionPoints(value, "freshestCRL")
        break
      case oids.certificatePolicies:
        values.certificatePolicies = parseCertificatePolicies(value)
        break
      case oids.nameConstraints:
        values.nameConstraints = parseNameConstraints(value)
        break
      case oids.ocspNoCheck:
        values.ocspNoCheck = parseNull(value, "ocsp-nocheck")
        break
      case oids.noRevAvail:
        values.noRevAvail = parseNull(value, "noRevAvail")
        break
      default:
      // Values of unknown extensions are not interpreted.
    }
  }
  return values
}

export function parseBasicConstraints(value: Uint8Array): BasicConstraints {
  return parsed(value, "basicConstraints", (reader) => {
    const constraints = reader.sequence("basicConstraints")
    const isCa = constraints.flag("cA")
    const maxPathLength = constraints.done ? undefined : constraints.small("pathLenConstraint", 0x7fff_ffff)
    constraints.finish("basicConstraints")
    return maxPathLength === undefined ? { isCa } : { isCa, maxPathLength }
  })
}

function parseKeyUsage(value: Uint8Array): readonly KeyUsage[] {
  return parsed(value, "keyUsage", (reader) => {
    const bits = reader.namedBits("keyUsage", keyUsages.length)
    if (bits.length === 0) reader.refuse("keyUsage", "has no bits set")
    return bits.map((bit) => keyUsages[bit] as KeyUsage)
  })
}

function parseExtendedKeyUsage(value: Uint8Array): readonly string[] {
  return parsed(value, "extKeyUsage", (reader) => {
    const list = reader.sequence("extKeyUsage")
    if (list.done) list.refuse("extKeyUsage", "is empty")
    const purposes: string[] = []
    while (!list.done) purposes.push(list.oid("keyPurposeId"))
    return purposes
  })
}

const parseSubjectAltName = (value: Uint8Array): readonly GeneralName[] =>
  parsed(value, "subjectAltName", (reader) => readGeneralNames(reader.sequence("subjectAltName"), "subjectAltName"))

const parseSubjectKeyIdentifier = (value: Uint8Array): Uint8Array =>
  parsed(value, "subjectKeyIdentifier", (reader) => reader.octetString("subjectKeyIdentifier"))

function parseAuthorityKeyIdentifier(value: Uint8Array): AuthorityKeyIdentifier {
  return parsed(value, "authorityKeyIdentifier", (reader) => {
    const identifier = reader.sequence("authorityKeyIdentifier")
    const has = (identifierOctet: number) => identifier.next === identifierOctet
    const keyIdentifier = has(contextPrimitive(0))
      ? identifier.content(contextPrimitive(0), "keyIdentifier")
      : undefined
    const issuer = has(contextConstructed(1))
      ? readGeneralNames(identifier.enter(contextConstructed(1), "authorityCertIssuer"), "authorityCertIssuer")
      : undefined
    const serialNumber = has(contextPrimitive(2))
      ? identifier.unsigned("authorityCertSerialNumber", contextPrimitive(2))
      : undefined
    identifier.finish("authorityKeyIdentifier")
    if ((issuer === undefined) !== (serialNumber === undefined))
      identifier.refuse("authorityKeyIdentifier", "must contain both or neither of an issuer and a serial number")
    return {
      ...(keyIdentifier === undefined ? {} : { keyIdentifier }),
      ...(issuer === undefined ? {} : { issuer }),
      ...(serialNumber === undefined ? {} : { serialNumber }),
    }
  })
}

const parseNull = (value: Uint8Array, document: string): true =>
  parsed(value, document, (reader) => {
    reader.null(document)
    return true
  })

function parsed<Value>(value: Uint8Array, document: string, read: (reader: DerReader) => Value): Value {
  const reader = new DerReader(value, document)
  const result = read(reader)
  reader.finish(document)
  return result
}
