// Issuer: the certificate of a certificate authority in a mount, with the settings for its use.
import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { ExtensionValues } from "../../x509/extensions.ts"
import type { MountId } from "../mounts/mount.ts"

/** `read-only` always holds: a certificate that is in the mount can be read. */
export const issuerUsages = ["read-only", "issuing-certificates", "crl-signing", "ocsp-signing"] as const
export type IssuerUsage = (typeof issuerUsages)[number]

/** Treatment of a certificate that would outlive its issuer (docs/authorities.md). */
export const leafNotAfterBehaviors = ["err", "truncate", "permit", "always_enforce_err"] as const
export type LeafNotAfterBehavior = (typeof leafNotAfterBehaviors)[number]

/** Where clients find the issuer's certificate, its revocation lists and its OCSP responders (RFC 5280, 4.2.2.1 and 4.2.1.13). */
export interface AuthorityUrls {
  readonly issuingCertificates: readonly string[]
  readonly crlDistributionPoints: readonly string[]
  readonly deltaCrlDistributionPoints: readonly string[]
  readonly ocspServers: readonly string[]
  /** `{{issuer_id}}`, `{{cluster_path}}` and `{{cluster_aia_path}}` in them are filled in at issuance. */
  readonly enableTemplating: boolean
}

/** What an operator sets. */
export interface IssuerSettings {
  readonly leafNotAfterBehavior: LeafNotAfterBehavior
  readonly usage: readonly IssuerUsage[]
  /** The chain to serve instead of the one that is built; begins with the issuer itself. Empty: build it. */
  readonly manualChain: readonly IssuerId[]
  /** A name such as `SHA256WithRSAPSS`; empty: what suits the key. */
  readonly revocationSignatureAlgorithm: string
  /** Issue names that the name constraints of the issuer or of its chain forbid. */
  readonly disableNameConstraintChecks: boolean
  /** Issue although a certificate of the manual chain is not named as the issuer of one before it. */
  readonly disableNameChecks: boolean
  /** Issue below certificates that allow no longer path. */
  readonly disablePathLengthChecks: boolean
  /** Issue although a critical extension of the certificate or of its chain is one that verifiers do not process. */
  readonly disableCriticalExtensionChecks: boolean
  /** Takes the place of the mount's whole set where any URL is given. */
  readonly urls: AuthorityUrls
}

export interface Issuer {
  readonly id: IssuerId
  readonly mountId: MountId
  /** Unique in its mount. */
  readonly name: string | null
  /** Null: the key is not here, and nothing can be signed. */
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
  /** Everything but the certificate. */
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

/** Each check that verifiers make is made, and the issuer refuses what fails it. */
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

// What an issuer may do, by its own certificate (RFC 5280, section 4.2.1.3).

/** Why the certificate rules a usage out, as the end of a sentence. Without a key usage everything is allowed. */
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
