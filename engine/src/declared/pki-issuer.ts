// Observation of any issuer under declared member names.
import type { AuthorityUrls, IssuerSettings } from "../pki/issuers/issuer.ts"
import type { IssuerView } from "../pki/issuers/issuer-api.ts"
import { writePem } from "../x509/pem.ts"
import { declaredInstant } from "./pki-values.ts"

export interface ObservedPkiIssuer extends AuthorityUrls, Omit<IssuerSettings, "urls"> {
  readonly mount: string
  readonly issuerId: string
  /** Null if it has none. */
  readonly issuerName: string | null
  /** Null if the mount does not have the key; the issuer then signs nothing. */
  readonly keyId: string | null
  /** PEM. */
  readonly certificate: string
  /** PEM; the issuer itself first. */
  readonly caChain: readonly string[]
  /** ISO 8601. */
  readonly revokedAt: string | null
}

export const observedPkiIssuer = (mount: string, issuer: IssuerView): ObservedPkiIssuer => {
  const { urls, ...settings } = issuer.settings
  return {
    mount,
    issuerId: issuer.id,
    issuerName: issuer.name,
    keyId: issuer.keyId,
    certificate: writePem("CERTIFICATE", issuer.certificate),
    caChain: issuer.caChain.map((certificate) => writePem("CERTIFICATE", certificate)),
    ...settings,
    ...urls,
    revokedAt: declaredInstant(issuer.revokedAt),
  }
}
