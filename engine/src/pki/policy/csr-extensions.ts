// The extensions of a CSR that go into a certificate as they are.
import { oids } from "../../x509/asn1/oids.ts"
import type { CertificationRequest } from "../../x509/certification-request.ts"
import type { Extension } from "../../x509/extension.ts"

/** What a CSR, once its signature is verified, has a certificate say. */
export type CsrContent = Pick<CertificationRequest, "subject" | "subjectName" | "extensions" | "extensionValues">

export interface CopiedExtensions {
  readonly extensions: readonly Extension[]
  readonly warnings: readonly string[]
}

/** But for those that say something about the issuer, which are the issuer's to say, and those that are `decided` otherwise. */
export function copiedExtensions(asked: readonly Extension[], decided: ReadonlySet<string>): CopiedExtensions {
  return {
    extensions: asked.filter(({ oid }) => !decided.has(oid) && !issuersOwn.has(oid)),
    warnings: asked.flatMap(({ oid }) => {
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
