// Issuer: the certificate of a certificate authority in a mount, with the settings for its use.
import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { ExtensionValues } from "../../x509/extensions.ts"
import type { MountId } from "../mounts/mount.ts"

/** Usages of an issuer. `read-only` is always set: a certificate in the mount can always be read. */
export const issuerUsages = ["read-only", "issuing-certificates", "crl-signing", "ocsp-signing"] as const
export type IssuerUsage = (typeof issuerUsages)[number]

/** Treatment of a certificate that would outlive its issuer (docs/authorities.md). */
export const leafNotAfterBehaviors = ["err", "truncate", "permit", "always_enforce_err"] as const
export type LeafNotAfterBehavior = (typeof leafNotAfterBehaviors)[number]

/** URLs of an issuer's certificate, its revocation lists and its OCSP responders (RFC 5280, 4.2.2.1 and 4.2.1.13). */
export interface AuthorityUrls {
  readonly issuingCertificates: readonly string[]
  readonly crlDistributionPoints: readonly string[]
  readonly deltaCrlDistributionPoints: readonly string[]
  readonly ocspServers: readonly string[]
  /** Fill in `{{issuer_id}}`, `{{cluster_path}}` and `{{cluster_aia_path}}` in the URLs at issuance. */
  readonly enableTemplating: boolean
}

/** Settings that operators set. */
export interface IssuerSettings {
  readonly leafNotAfterBehavior: LeafNotAfterBehavior
  readonly usage: readonly IssuerUsage[]
  /** Chain to serve instead of the one that is built. It begins with the issuer itself. Empty: the chain is built. */
  readonly manualChain: readonly IssuerId[]
  /** Name such as `SHA256WithRSAPSS`. Empty: an algorithm that suits the key. */
  readonly revocationSignatureAlgorithm: string
  /** Issue for names that the name constraints of the issuer or of its chain forbid. */
  readonly disableNameConstraintChecks: boolean
  /** Issue although a member of the manual chain does not match the issuer name of an earlier member. */
  readonly disableNameChecks: boolean
  /** Issue although the path length of a certificate above is exhausted. */
  readonly disablePathLengthChecks: boolean
  /** Issue although verifiers do not process a critical extension of the certificate or of its chain. */
  readonly disableCriticalExtensionChecks: boolean
  /** URLs of this issuer. If there is any, they replace the mount's whole set. */
  readonly urls: AuthorityUrls
}

export interface Issuer {
  readonly id: IssuerId
  readonly mountId: MountId
  /** Unique in its mount. */
  readonly name: string | null
  /** Null if the mount does not have the key; such an issuer cannot sign. */
  readonly keyId: KeyId | null
  /** DER. */
  readonly certificate: Uint8Array
  readonly settings: IssuerSettings
  readonly revokedAt: Instant | null
  readonly createdAt: Instant
}

export interface IssuerRepository {
  list(mountId: MountId): Promise<readonly Issuer[]>
  insert(issuer: Issuer): Promise<void>
  /** Saves everything except the certificate. */
  save(issuer: Issuer): Promise<void>
  remove(issuer: Pick<Issuer, "id" | "mountId">): Promise<void>
}

export const noUrls: AuthorityUrls = {
  issuingCertificates: [],
  crlDistributionPoints: [],
  deltaCrlDistributionPoints: [],
  ocspServers: [],
  enableTemplating: false,
}

/** No check is disabled: the issuer rejects certificates that verifiers would reject. */
export const noDisabledChecks = {
  disableNameConstraintChecks: false,
  disableNameChecks: false,
  disablePathLengthChecks: false,
  disableCriticalExtensionChecks: false,
} as const satisfies Partial<IssuerSettings>

export const disabledCheckNames = [
  "disableNameConstraintChecks",
  "disableNameChecks",
  "disablePathLengthChecks",
  "disableCriticalExtensionChecks",
] as const

export const defaultIssuerSettings: IssuerSettings = {
  leafNotAfterBehavior: "err",
  usage: issuerUsages,
  manualChain: [],
  revocationSignatureAlgorithm: "",
  ...noDisabledChecks,
  urls: noUrls,
}

// Usages that an issuer's certificate allows (RFC 5280, section 4.2.1.3).

/** Returns why the certificate does not allow a usage, as the end of a sentence. A certificate without key usage allows all. */
export function usageProblem(usage: IssuerUsage, { keyUsage }: ExtensionValues): string | undefined {
  if (keyUsage === undefined) return undefined
  if (usage === "issuing-certificates" && !keyUsage.includes("keyCertSign"))
    return "has a key usage without CertSign, so it cannot issue certificates"
  if (usage === "crl-signing" && !keyUsage.includes("cRLSign"))
    return "has a key usage without CRLSign, so it cannot sign revocation lists"
  return undefined
}

export const certifiableUsages = (values: ExtensionValues): readonly IssuerUsage[] =>
  issuerUsages.filter((usage) => usageProblem(usage, values) === undefined)
