// Extensions of a CSR that are copied into the certificate.
import { oids } from "../../x509/asn1/oids.ts"
import type { CertificationRequest } from "../../x509/certification-request.ts"
import type { Extension } from "../../x509/extension.ts"

/** Content of a CSR with a verified signature. */
export type CsrContent = Pick<CertificationRequest, "subject" | "subjectName" | "extensions" | "extensionValues">

export interface CopiedExtensions {
  readonly extensions: readonly Extension[]
  readonly warnings: readonly string[]
}

/** Returns the extensions of the CSR, except those that the issuer determines and those in `decided`. */
export function copiedExtensions(requested: readonly Extension[], decided: ReadonlySet<string>): CopiedExtensions {
  return {
    extensions: requested.filter(({ oid }) => !decided.has(oid) && !issuersOwn.has(oid)),
    warnings: requested.flatMap(({ oid }) => {
      const name = issuersOwn.get(oid)
      if (name === undefined || decided.has(oid)) return []
      return [`specified CSR contained ${name} extension that was ignored during issuance`]
    }),
  }
}

const issuersOwn: ReadonlyMap<string, string> = new Map([
  [oids.basicConstraints, "a Basic Constraints"],
  [oids.authorityKeyIdentifier, "an Authority Key Identifier"],
  [oids.authorityInfoAccess, "an Authority Information Access"],
  [oids.crlDistributionPoints, "a CRL Distribution Points"],
  [oids.freshestCrl, "a Freshest CRL"],
  [oids.issuerAltName, "an Issuer Alternative Name"],
])
