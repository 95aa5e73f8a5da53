import { unprocessable } from "../../core/errors.ts"
import type { Certificate } from "../../x509/certificate.ts"
import { parseExtensionValues } from "../../x509/extensions.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { namesOf } from "../issue/leaf.ts"
import type { ParsedIssuer } from "../issuers/held-issuer.ts"
import type { CertificateRecord } from "./certificate.ts"

/** Returns the record of a certificate that the issuer signed and the mount has not stored. */
export function presentedRecord(
  issuer: ParsedIssuer,
  certificate: Certificate,
  serialNumber: SerialNumber,
): CertificateRecord {
  return {
    mountId: issuer.mountId,
    serialNumber,
    certificate: certificate.der,
    issuerId: issuer.id,
    role: null,
    ...namesOf({ subject: certificate.subjectName, subjectAltName: alternativeNames(certificate) }),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
  }
}

function alternativeNames({ extensions }: Certificate) {
  try {
    return parseExtensionValues(extensions).subjectAltName ?? []
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw unprocessable(`the certificate could not be parsed: ${error.message}`)
  }
}
