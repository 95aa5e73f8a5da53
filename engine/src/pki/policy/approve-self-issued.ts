// Approves a self-issued certificate for signing by another issuer. Nothing else does.
import { invalid } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import type { KeyAlgorithm } from "../../x509/key-algorithm.ts"
import { sameName } from "../../x509/name.ts"
import { serialNumberOf } from "../../x509/serial-number.ts"
import type { ApprovedReissue } from "../issuance/certify.ts"
import type { ReadCertificate } from "../issuance/self-issued.ts"
import type { CertificationPaths } from "../issuers/chain.ts"
import { approved } from "./approved.ts"
import { pathViolations } from "./path-validation.ts"
import { rejectViolations } from "./violation.ts"

export interface SelfIssuedTerms {
  /** Algorithm of the issuer's key. */
  readonly key: KeyAlgorithm
  readonly requireMatchingCertificateAlgorithms: boolean
  readonly paths: CertificationPaths
  readonly now: Instant
}

/** Approves the certificate. Throws `invalid` with a fault on `certificate`. */
export function approveSelfIssued(
  { certificate, key, values }: ReadCertificate,
  terms: SelfIssuedTerms,
): ApprovedReissue {
  if (values.basicConstraints?.isCa !== true) throw refused("given certificate is not a CA certificate")
  if (!sameName(certificate.issuer, certificate.subject)) throw refused("given certificate is not self-issued")
  if (certificate.notAfter < certificate.notBefore)
    throw refused("given certificate has a notAfter before its notBefore")
  if (terms.requireMatchingCertificateAlgorithms && key.algorithm.type !== terms.key.type)
    throw refused("public key algorithm of the certificate does not match that of the issuer")
  const serialNumber = serialNumberOf(certificate.serialNumber)
  if (serialNumber === undefined)
    throw refused("the serial number of the certificate must be positive and at most 20 octets")
  rejectViolations(
    pathViolations(
      {
        subject: certificate.subjectName,
        subjectDer: certificate.subject,
        subjectAltName: values.subjectAltName ?? [],
        basicConstraints: values.basicConstraints,
        extendedKeyUsage: values.extendedKeyUsage ?? [],
        extensions: certificate.extensions,
      },
      terms.paths,
      { now: terms.now, fieldOf: () => "certificate" },
    ),
  )
  return approved({ certificate, serialNumber })
}

const refused = (detail: string) => invalid([{ field: ["certificate"], detail }])
