// Parses the self-issued certificate that another issuer signs again, to move from one root to another
// (https://developer.hashicorp.com/vault/api-docs/secret/pki#sign-self-issued).
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

/** Parses the certificate. Throws `invalid` with a fault on `certificate`. */
export function readSelfIssued(pem: string): ReadCertificate {
  try {
    const certificate = parseCertificate(readCertificatePem(pem))
    // A certificate with a broken signature algorithm may be forged.
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
