// Values that our reader returns, in the form in which two readers are compared.
import { parseCertificate } from "../../engine/src/x509/certificate.ts"
import { parseCertificationRequest } from "../../engine/src/x509/certification-request.ts"
import type { Extension } from "../../engine/src/x509/extension.ts"
import { parseExtensionValues } from "../../engine/src/x509/extensions.ts"
import type { ReadCertificate, ReadExtension, ReadRequest } from "./pkijs-values.ts"

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

const extensionOf = ({ oid, critical, value }: Extension): ReadExtension => ({ oid, critical, value: hex(value) })

export function readCertificate(octets: Uint8Array): ReadCertificate {
  const certificate = parseCertificate(octets)
  return {
    version: certificate.version,
    serialNumber: hex(certificate.serialNumber),
    signatureAlgorithm: hex(certificate.signatureAlgorithm),
    issuer: hex(certificate.issuer),
    issuerName: certificate.issuerName.flat(),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    subject: hex(certificate.subject),
    subjectName: certificate.subjectName.flat(),
    subjectPublicKeyInfo: hex(certificate.subjectPublicKeyInfo),
    extensions: certificate.extensions.map(extensionOf),
    values: parseExtensionValues(certificate.extensions),
    signature: hex(certificate.signature),
  }
}

export function readRequest(octets: Uint8Array): ReadRequest {
  const request = parseCertificationRequest(octets)
  return {
    subject: hex(request.subject),
    subjectName: request.subjectName.flat(),
    subjectPublicKeyInfo: hex(request.subjectPublicKeyInfo),
    signatureAlgorithm: hex(request.signatureAlgorithm),
    extensions: request.extensions.map(extensionOf),
    values: request.extensionValues,
    signature: hex(request.signature),
  }
}
