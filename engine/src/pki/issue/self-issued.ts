// The certificate that is to be signed again, as it is (specification 4.10): the tool for moving from one root to another.
import { invalid } from "../../core/errors.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { readCertificatePem } from "../../x509/certificate-pem.ts"
import { type ExtensionValues, parseExtensionValues } from "../../x509/extensions.ts"
import { type PublicKey, readPublicKey } from "../../x509/public-key.ts"
import { readSignatureAlgorithm } from "../../x509/signature-algorithm.ts"
import { assertStrongKey } from "../../x509/weak-rsa.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"

export interface ReadCertificate {
  readonly certificate: Certificate
  readonly key: PublicKey
  readonly values: ExtensionValues
}

/** Throws `invalid` with a fault on `certificate`. */
export function readSelfIssued(pem: string): ReadCertificate {
  try {
    const certificate = parseCertificate(readCertificatePem(pem))
    // Signed with a broken algorithm, it may be anybody's (specification 9, rule 2).
    readSignatureAlgorithm(certificate.signatureAlgorithm)
    return {
      certificate,
      key: assertStrongKey(readPublicKey(certificate.subjectPublicKeyInfo)),
      values: parseExtensionValues(certificate.extensions),
    }
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw invalid([{ field: ["certificate"], detail: error.message }])
  }
}
