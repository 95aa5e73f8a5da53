// Values that `pkijs` reads, in our terms, and the bytes that it writes from them.
import * as asn1js from "asn1js"
import * as pkijs from "pkijs"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import type { CertificatePolicy } from "../../engine/src/x509/certificate-policies.ts"
import { type ExtensionValues, keyUsages } from "../../engine/src/x509/extensions.ts"
import type { GeneralName } from "../../engine/src/x509/general-name.ts"
import type { NameAttribute } from "../../engine/src/x509/name.ts"
import type { Subtree } from "../../engine/src/x509/name-constraints.ts"

// `pkijs` keeps an otherName with its tag, and would add a second tag when writing it.
const writeGeneralName = pkijs.GeneralName.prototype.toSchema
pkijs.GeneralName.prototype.toSchema = function toSchema(this: pkijs.GeneralName) {
  return this.type === 0 ? (this.value as never) : writeGeneralName.call(this)
}

const hex = (octets: ArrayBuffer | Uint8Array): string => Buffer.from(new Uint8Array(octets)).toString("hex")

interface Writable {
  toSchema(): { toBER(): ArrayBuffer }
}

const der = (value: Writable): Uint8Array => new Uint8Array(value.toSchema().toBER())

export interface ReadExtension {
  readonly oid: string
  readonly critical: boolean
  readonly value: string
}

/** Byte strings as hexadecimal. Names are not grouped into relative names, because `pkijs` does not keep the grouping. */
export interface ReadCertificate {
  readonly version: number
  readonly serialNumber: string
  readonly signatureAlgorithm: string
  readonly issuer: string
  readonly issuerName: readonly NameAttribute[]
  readonly notBefore: number
  readonly notAfter: number
  readonly subject: string
  readonly subjectName: readonly NameAttribute[]
  readonly subjectPublicKeyInfo: string
  readonly extensions: readonly ReadExtension[]
  readonly values: ExtensionValues
  readonly signature: string
}

export function readCertificate(octets: Uint8Array): ReadCertificate {
  const certificate = pkijs.Certificate.fromBER(octets)
  const { notBefore, notAfter, extensions = [] } = certificate
  return {
    version: certificate.version + 1,
    serialNumber: magnitude(certificate.serialNumber),
    signatureAlgorithm: hex(der(certificate.signatureAlgorithm)),
    issuer: hex(der(certificate.issuer)),
    issuerName: attributes(certificate.issuer),
    notBefore: notBefore.value.getTime(),
    notAfter: notAfter.value.getTime(),
    subject: hex(der(certificate.subject)),
    subjectName: attributes(certificate.subject),
    subjectPublicKeyInfo: hex(der(certificate.subjectPublicKeyInfo)),
    extensions: extensions.map(extensionOf),
    values: valuesOf(extensions),
    signature: hex(certificate.signatureValue.valueBlock.valueHexView),
  }
}

/** Encodes everything anew from the parsed values, including the contents of extensions that `pkijs` knows. */
export function rewriteCertificate(octets: Uint8Array): Uint8Array {
  const certificate = pkijs.Certificate.fromBER(octets)
  rewriteExtensions(certificate.extensions ?? [])
  return new Uint8Array(certificate.toSchema(true).toBER())
}

export interface ReadRequest {
  readonly subject: string
  readonly subjectName: readonly NameAttribute[]
  readonly subjectPublicKeyInfo: string
  readonly signatureAlgorithm: string
  readonly extensions: readonly ReadExtension[]
  readonly values: ExtensionValues
  readonly signature: string
}

export function readRequest(octets: Uint8Array): ReadRequest {
  const request = pkijs.CertificationRequest.fromBER(octets)
  const extensions = requestedExtensions(request)
  return {
    subject: hex(der(request.subject)),
    subjectName: attributes(request.subject),
    subjectPublicKeyInfo: hex(der(request.subjectPublicKeyInfo)),
    signatureAlgorithm: hex(der(request.signatureAlgorithm)),
    extensions: extensions.map(extensionOf),
    values: valuesOf(extensions),
    signature: hex(request.signatureValue.valueBlock.valueHexView),
  }
}

export function rewriteRequest(octets: Uint8Array): Uint8Array {
  const request = pkijs.CertificationRequest.fromBER(octets)
  // `pkijs` parses an empty list as a missing one.
  request.attributes ??= []
  for (const attribute of request.attributes) {
    if (attribute.type !== oids.extensionRequest) continue
    const extensions = new pkijs.Extensions({ schema: attribute.values[0] })
    rewriteExtensions(extensions.extensions)
    attribute.values = [extensions.toSchema()]
  }
  return new Uint8Array(request.toSchema(true).toBER())
}

function requestedExtensions(request: pkijs.CertificationRequest): pkijs.Extension[] {
  const attribute = request.attributes?.find(
    ({ type }) => type === oids.extensionRequest || type === oids.microsoftExtensionRequest,
  )
  return attribute === undefined ? [] : new pkijs.Extensions({ schema: attribute.values[0] }).extensions
}

function rewriteExtensions(extensions: readonly pkijs.Extension[]): void {
  for (const extension of extensions) {
    const { parsedValue } = extension
    if (parsedValue === undefined || "parsingError" in parsedValue) throw new Error(`${extension.extnID} is not read`)
    const schema = parsedValue instanceof pkijs.PkiObject ? parsedValue.toSchema() : parsedValue
    extension.extnValue = new asn1js.OctetString({ valueHex: schema.toBER() })
  }
}

const extensionOf = (extension: pkijs.Extension): ReadExtension => ({
  oid: dotted(extension.extnID),
  critical: extension.critical,
  value: hex(extension.extnValue.valueBlock.valueHexView),
})

const attributes = (name: pkijs.RelativeDistinguishedNames): readonly NameAttribute[] =>
  name.typesAndValues.map(({ type, value }) => ({ type: dotted(type), value: value.valueBlock.value }))

const numberOf = (value: number | asn1js.Integer): number =>
  typeof value === "number" ? value : Number.parseInt(hex(value.valueBlock.valueHexView), 16)

/** Converts arcs beyond the range of a double, which `pkijs` prints as groups of seven bits in hexadecimal. */
const dotted = (identifier: string): string =>
  identifier
    .replace(/\{\{([0-9a-f]+)\} - 80\}/, (_, groups: string) => String(arc(groups) - 80n))
    .replaceAll(/\{([0-9a-f]+)\}/g, (_, groups: string) => String(arc(groups)))

const arc = (groups: string): bigint =>
  Buffer.from(groups, "hex").reduce((value, group) => (value << 7n) | BigInt(group), 0n)

const magnitude = (value: asn1js.Integer): string => hex(value.valueBlock.valueHexView).replace(/^00(?=.)/, "")

function valuesOf(extensions: readonly pkijs.Extension[]): ExtensionValues {
  return Object.assign({}, ...extensions.map(valueOf)) as ExtensionValues
}

function valueOf({ extnID, parsedValue: value }: pkijs.Extension): ExtensionValues {
  switch (extnID) {
    case oids.basicConstraints: {
      const { cA, pathLenConstraint } = value as pkijs.BasicConstraints
      if (pathLenConstraint === undefined) return { basicConstraints: { isCa: cA } }
      return { basicConstraints: { isCa: cA, maxPathLength: numberOf(pathLenConstraint) } }
    }
    case oids.keyUsage: {
      const bits = flags(value as asn1js.BitString)
      return { keyUsage: keyUsages.filter((_, bit) => bits[bit] === "1") }
    }
    case oids.extendedKeyUsage:
      return { extendedKeyUsage: (value as pkijs.ExtKeyUsage).keyPurposes.map(dotted) }
    case oids.subjectAltName:
      return { subjectAltName: (value as pkijs.AltName).altNames.map(generalName) }
    case oids.subjectKeyIdentifier:
      return { subjectKeyIdentifier: octetsOf(value as asn1js.OctetString) }
    case oids.authorityKeyIdentifier: {
      const { keyIdentifier, authorityCertIssuer, authorityCertSerialNumber } = value as pkijs.AuthorityKeyIdentifier
      return {
        authorityKeyIdentifier: {
          ...(keyIdentifier === undefined ? {} : { keyIdentifier: octetsOf(keyIdentifier) }),
          ...(authorityCertIssuer === undefined ? {} : { issuer: authorityCertIssuer.map(generalName) }),
          ...(authorityCertSerialNumber === undefined
            ? {}
            : { serialNumber: Uint8Array.from(Buffer.from(magnitude(authorityCertSerialNumber), "hex")) }),
        },
      }
    }
    case oids.authorityInfoAccess: {
      const { accessDescriptions } = value as pkijs.InfoAccess
      const of = (method: string) =>
        uris(
          accessDescriptions.filter(({ accessMethod }) => accessMethod === method).map((each) => each.accessLocation),
        )
      return {
        authorityInfoAccess: { ocspServers: of(oids.ocspAccess), issuingCertificates: of(oids.caIssuersAccess) },
      }
    }
    case oids.crlDistributionPoints:
      return { crlDistributionPoints: distributionPoints(value as pkijs.CRLDistributionPoints) }
    case oids.freshestCrl:
      return { freshestCrl: distributionPoints(value as pkijs.CRLDistributionPoints) }
    case oids.certificatePolicies:
      return { certificatePolicies: (value as pkijs.CertificatePolicies).certificatePolicies.map(policy) }
    case oids.nameConstraints: {
      const { permittedSubtrees = [], excludedSubtrees = [] } = value as pkijs.NameConstraints
      return { nameConstraints: { permitted: permittedSubtrees.map(subtree), excluded: excludedSubtrees.map(subtree) } }
    }
    case oids.ocspNoCheck:
      return value instanceof asn1js.Null ? { ocspNoCheck: true } : {}
    case oids.noRevAvail:
      return value instanceof asn1js.Null ? { noRevAvail: true } : {}
    default:
      return {}
  }
}

const flags = ({ valueBlock }: asn1js.BitString): string =>
  Array.from(valueBlock.valueHexView, (octet) => octet.toString(2).padStart(8, "0"))
    .join("")
    .slice(0, valueBlock.valueHexView.length * 8 - valueBlock.unusedBits)

const octetsOf = ({ valueBlock }: asn1js.OctetString): Uint8Array => Uint8Array.from(valueBlock.valueHexView)

function generalName(name: pkijs.GeneralName): GeneralName {
  switch (name.type) {
    case 0:
      return otherName(name.value as asn1js.Constructed)
    case 1:
      return { kind: "email", value: name.value as string }
    case 2:
      return { kind: "dns", value: name.value as string }
    case 4:
      return { kind: "directory", name: der(name.value as pkijs.RelativeDistinguishedNames) }
    case 6:
      return { kind: "uri", value: name.value as string }
    case 7:
      return { kind: "ip", octets: octetsOf(name.value as asn1js.OctetString) }
    case 8:
      return { kind: "registered-id", oid: dotted(name.value as string) }
    default:
      throw new Error(`No name of ours has the type ${name.type}.`)
  }
}

function otherName(whole: asn1js.Constructed): GeneralName {
  const [type, explicit] = whole.valueBlock.value as [asn1js.ObjectIdentifier, asn1js.Constructed]
  const [value] = explicit.valueBlock.value
  return value instanceof asn1js.Utf8String
    ? { kind: "other", oid: dotted(type.getValue()), value: value.getValue() }
    : { kind: "unsupported", der: new Uint8Array(whole.toBER()) }
}

function subtree({ base }: pkijs.GeneralSubtree): Subtree {
  const name = generalName(base)
  if (name.kind !== "ip") return name
  const half = name.octets.length / 2
  const mask = Array.from(name.octets.subarray(half), (octet) => octet.toString(2).padStart(8, "0")).join("")
  return { kind: "ip", octets: name.octets.slice(0, half), prefixBits: mask.replaceAll("0", "").length }
}

const uris = (names: readonly pkijs.GeneralName[]): readonly string[] =>
  names.filter(({ type }) => type === 6).map(({ value }) => value as string)

const distributionPoints = (list: pkijs.CRLDistributionPoints): readonly (readonly string[])[] =>
  list.distributionPoints.map(({ distributionPoint }) =>
    Array.isArray(distributionPoint) ? uris(distributionPoint) : [],
  )

function policy({ policyIdentifier, policyQualifiers = [] }: pkijs.PolicyInformation): CertificatePolicy {
  const of = (id: string) =>
    policyQualifiers.filter(({ policyQualifierId }) => policyQualifierId === id).map(({ qualifier }) => qualifier)
  const text = (value: asn1js.BaseStringBlock): string => value.getValue()
  return {
    oid: dotted(policyIdentifier),
    cps: of(oids.cpsQualifier).map((qualifier) => text(qualifier as unknown as asn1js.IA5String)),
    notices: of(oids.userNoticeQualifier).flatMap((qualifier) =>
      (qualifier as unknown as asn1js.Sequence).valueBlock.value
        .filter((part) => part instanceof asn1js.BaseStringBlock)
        .map(text),
    ),
  }
}
