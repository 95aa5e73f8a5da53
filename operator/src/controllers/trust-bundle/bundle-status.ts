// State that the status of a TrustBundle keeps: the present and former roots of its issuers.
import { writePem } from "@chancery/engine/x509"
import { secondTime } from "../../kube/kubernetes-object.ts"
import { certificatesIn } from "../certificate/stored-certificate.ts"
import type { TrustedAuthority } from "../certificate/trust-bundle.ts"
import type { OwnStatus } from "../reconcile-result.ts"

export interface StoredAuthority {
  /** `Issuer/namespace/name` or `ClusterIssuer/name`. */
  readonly source: string
  /** PEM. */
  readonly certificate: string
  readonly until?: string
}

export interface NamespaceFailure {
  readonly namespace: string
  readonly message: string
}

export interface TrustBundleStatus extends OwnStatus {
  readonly certificates?: number
  readonly expired?: number
  readonly notAfter?: string
  readonly fingerprint?: string
  readonly namespacesSelected?: number
  readonly namespacesInSync?: number
  readonly failures?: readonly NamespaceFailure[]
  readonly authorities?: readonly StoredAuthority[]
}

/** Returns the roots that were published for an issuer. */
export const authoritiesOf = ({ authorities = [] }: TrustBundleStatus, source: string): readonly TrustedAuthority[] =>
  authorities
    .filter((each) => each.source === source)
    .flatMap(({ certificate, until }) =>
      certificatesIn(certificate).map((der) => ({
        certificate: der,
        until: until === undefined ? undefined : Date.parse(until),
      })),
    )

export const storedAuthorities = (
  source: string,
  authorities: readonly TrustedAuthority[],
): readonly StoredAuthority[] =>
  authorities.map(({ certificate, until }) => ({
    source,
    certificate: `${writePem("CERTIFICATE", certificate)}\n`,
    ...(until === undefined ? {} : { until: secondTime(until) }),
  }))
