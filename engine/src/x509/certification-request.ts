// PKCS #10 certification requests (RFC 2986).
import { oids } from "./asn1/oids.ts"
import { DerReader, rejectMalformed } from "./asn1/reader.ts"
import { contextConstructed, tag } from "./asn1/tag.ts"
import { context, encode, integer, objectIdentifier, sequence, setOf } from "./asn1/writer.ts"
import { type Extension, encodeExtensions, readExtensions } from "./extension.ts"
import { type ExtensionValues, parseExtensionValues } from "./extensions.ts"
import { type DistinguishedName, parseName } from "./name.ts"
import { assembleSigned, parseSigned, readSubjectPublicKeyInfo } from "./signed.ts"

export interface CertificationRequestTemplate {
  /** Name, DER. */
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly subjectPublicKeyInfo: Uint8Array
  readonly extensions: readonly Extension[]
}

/** Arrays are views on the input. */
export interface CertificationRequest extends CertificationRequestTemplate {
  readonly der: Uint8Array
  /** The signed bytes. */
  readonly certificationRequestInfo: Uint8Array
  readonly subjectName: DistinguishedName
  /** Parsed values of the requested extensions. */
  readonly extensionValues: ExtensionValues
  /** AlgorithmIdentifier, DER. */
  readonly signatureAlgorithm: Uint8Array
  readonly signature: Uint8Array
}

export const encodeCertificationRequestInfo = ({
  subject,
  subjectPublicKeyInfo,
  extensions,
}: CertificationRequestTemplate): Uint8Array =>
  encode(
    sequence([
      integer(0),
      subject,
      subjectPublicKeyInfo,
      context(
        0,
        extensions.length === 0
          ? []
          : [sequence([objectIdentifier(oids.extensionRequest), setOf([encodeExtensions(extensions)])])],
      ),
    ]),
  )

export const assembleCertificationRequest = (
  certificationRequestInfo: Uint8Array,
  signatureAlgorithm: Uint8Array,
  signature: Uint8Array,
): Uint8Array => assembleSigned({ body: certificationRequestInfo, signatureAlgorithm, signature })

/** Parses strictly. Throws `MalformedDer`. The signature is not verified. */
export function parseCertificationRequest(der: Uint8Array): CertificationRequest {
  const { body, signatureAlgorithm, signature } = parseSigned(der, "request", "certificationRequestInfo")
  const info = new DerReader(body, "request").sequence("certificationRequestInfo")
  info.small("version", 0)
  const subject = info.whole("subject", tag.sequence)
  const subjectName = parseName(subject, "subject")
  const subjectPublicKeyInfo = readSubjectPublicKeyInfo(info)
  const extensions = readRequestedExtensions(info)
  info.finish("certificationRequestInfo")
  return {
    der,
    certificationRequestInfo: body,
    subject,
    subjectName,
    subjectPublicKeyInfo,
    extensions,
    extensionValues: parseExtensionValues(extensions),
    signatureAlgorithm,
    signature,
  }
}

function readRequestedExtensions(info: DerReader): readonly Extension[] {
  // Some clients omit an empty list of attributes, for example `openssl req -asn1-kludge`.
  if (info.done) return []
  // The order of this SET OF is not checked, because requests made with Go keep the order of their template.
  const attributes = info.enter(contextConstructed(0), "attributes")
  const seen = new Set<string>()
  let extensions: readonly Extension[] | undefined
  while (!attributes.done) {
    const attribute = attributes.sequence("attribute")
    const type = attribute.oid("attribute type")
    if (seen.has(type)) attribute.refuse(`attribute ${type}`, "occurs twice")
    seen.add(type)
    if (type !== oids.extensionRequest && type !== oids.microsoftExtensionRequest) attribute.value("values", tag.set)
    else if (extensions === undefined) extensions = readExtensionRequest(attribute)
    else attribute.refuse("extensionRequest", "occurs twice: as the attribute of PKCS #9 and as that of Microsoft")
    attribute.finish("attribute")
  }
  // Unknown extensions may be copied into a certificate, so they must at least be DER.
  for (const { oid, value } of extensions ?? []) rejectMalformed(value, `extension ${oid}`)
  return extensions ?? []
}

function readExtensionRequest(attribute: DerReader): readonly Extension[] {
  const values = attribute.enter(tag.set, "extensionRequest")
  const extensions = readExtensions(values, "extensionRequest")
  values.finish("extensionRequest")
  return extensions
}
