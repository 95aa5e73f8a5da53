import type * as pulumi from "@pulumi/pulumi"
import type { AuthorityArgs, Texts } from "./certificate-args.ts"
import type { Adopted, LifecycleArgs } from "./lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "./pulumi-resource.ts"

type LeafNotAfterBehavior = "err" | "truncate" | "permit" | "always_enforce_err"
type IssuerUsage = "read-only" | "issuing-certificates" | "crl-signing" | "ocsp-signing"

/**
 * Changing the subject, the extensions or the key forces replacement: the old issuer is deleted first, unless `name` changes too.
 * The members after `bundle` are updated in place and return to their defaults when removed, except `usage` and `isDefault`.
 */
export interface PkiIssuerArgs extends LifecycleArgs, AuthorityArgs {
  /**
   * `root`: signs itself. `intermediate`: signed by an issuer of this server (`parentMount`, `parentIssuerRef`) or elsewhere
   * (`csr`, then `signedCertificate`). `imported`: comes with its key (`bundle`).
   */
  kind: pulumi.Input<"root" | "intermediate" | "imported">
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. Changing it forces replacement. */
  mount?: pulumi.Input<string>
  /** Name, unique in the mount. Default: the resource's name in the program. */
  name?: pulumi.Input<string>
  /** Type of the key. Default: `rsa`. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519">
  /** Size of the key in bits. Default (or 0): 2048 for RSA, 256 for EC. */
  keyBits?: pulumi.Input<number>
  /** Name of the key, unique in the mount. Default: the name of the issuer. */
  keyName?: pulumi.Input<string>
  /** Mount of the issuer that signs. Default: this mount. */
  parentMount?: pulumi.Input<string>
  /** Issuer that signs, by id or name. Default: `default`, if `parentMount` is declared. */
  parentIssuerRef?: pulumi.Input<string>
  /** Certificate that another authority signed for `csr`, followed by its chain (PEM). A later one replaces it under its name. */
  signedCertificate?: pulumi.Input<string>
  /** Add basicConstraints CA:TRUE to `csr`. Some authorities require it. Default: false. */
  addBasicConstraints?: pulumi.Input<boolean>
  /** Certificate of the issuer, its chain and its private key (PEM). A secret; it is in no output. */
  bundle?: pulumi.Input<string>
  /** What happens if a certificate would outlive the issuer. Default: `err`. */
  leafNotAfterBehavior?: pulumi.Input<LeafNotAfterBehavior>
  /** Allowed uses; `read-only` is always included. Default: all that its certificate allows. */
  usage?: pulumi.Input<pulumi.Input<IssuerUsage>[]>
  /** Ids of the issuers above it, nearest first. Default: the chain that the server finds. */
  manualChain?: Texts
  /** Signature algorithm of CRLs and OCSP responses, such as `SHA256WithRSAPSS`. Default: chosen by the key. */
  revocationSignatureAlgorithm?: pulumi.Input<string>
  /** Issue names that the name constraints of the issuer or of its chain forbid. Default: false. */
  disableNameConstraintChecks?: pulumi.Input<boolean>
  /** Issue although a certificate in `manualChain` has signed one that names another issuer. Default: false. */
  disableNameChecks?: pulumi.Input<boolean>
  /** Issue although a certificate of the chain limits the path length to less. Default: false. */
  disablePathLengthChecks?: pulumi.Input<boolean>
  /** Issue although the certificate or its chain has a critical extension that verifiers do not process. Default: false. */
  disableCriticalExtensionChecks?: pulumi.Input<boolean>
  /** URLs of its certificate. Default: those of the mount. */
  issuingCertificates?: Texts
  /** URLs of its CRL. Default: those of the mount. */
  crlDistributionPoints?: Texts
  /** URLs of its delta CRL. Default: those of the mount. */
  deltaCrlDistributionPoints?: Texts
  /** URLs of its OCSP responder. Default: those of the mount. */
  ocspServers?: Texts
  /** Expand `{{issuer_id}}`, `{{cluster_path}}` and `{{cluster_aia_path}}` in these URLs. Default: false. */
  enableTemplating?: pulumi.Input<boolean>
  /** Make it the default issuer of the mount. False does not change the default issuer. */
  isDefault?: pulumi.Input<boolean>
  /** Adopt an existing issuer of this name, subject and key. Destroying the stack then keeps it. */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of an issuer: every setting in force. */
export interface PkiIssuerState extends Adopted {
  /** Path of the mount. */
  readonly mount: string
  /** Name. Empty if it has none. */
  readonly name: string
  /** Id of the issuer. Null until its certificate is signed. */
  readonly issuerId: string | null
  /** Id of the key. Null if the mount does not have the key; the issuer then signs nothing. */
  readonly keyId: string | null
  /** Name of the key. Null if it has none. */
  readonly keyName: string | null
  /** Certificate signing request (PEM) for another authority. Null if no signature is pending. */
  readonly csr: string | null
  /** Certificate of the issuer (PEM). Null until it is signed. */
  readonly certificate: string | null
  /** Chain (PEM), the issuer's certificate first. */
  readonly caChain: readonly string[]
  /** Serial number of the certificate: hexadecimal octets joined by ":". Null until it is signed. */
  readonly serialNumber: string | null
  /** End of validity (ISO 8601). Null until the certificate is signed. */
  readonly expiration: string | null
  /** Time of revocation (ISO 8601). Null if the issuer is not revoked. */
  readonly revokedAt: string | null
  /** What happens if a certificate would outlive the issuer. */
  readonly leafNotAfterBehavior: LeafNotAfterBehavior
  /** Allowed uses. */
  readonly usage: readonly IssuerUsage[]
  /** Ids of the issuers above it, nearest first. Empty: the chain that the server finds. */
  readonly manualChain: readonly string[]
  /** Signature algorithm of CRLs and OCSP responses. Empty: chosen by the key. */
  readonly revocationSignatureAlgorithm: string
  /** Issue names that the name constraints of the issuer or of its chain forbid. */
  readonly disableNameConstraintChecks: boolean
  /** Issue although a certificate in `manualChain` has signed one that names another issuer. */
  readonly disableNameChecks: boolean
  /** Issue although a certificate of the chain limits the path length to less. */
  readonly disablePathLengthChecks: boolean
  /** Issue although the certificate or its chain has a critical extension that verifiers do not process. */
  readonly disableCriticalExtensionChecks: boolean
  /** URLs of its certificate. Empty: those of the mount. */
  readonly issuingCertificates: readonly string[]
  /** URLs of its CRL. Empty: those of the mount. */
  readonly crlDistributionPoints: readonly string[]
  /** URLs of its delta CRL. Empty: those of the mount. */
  readonly deltaCrlDistributionPoints: readonly string[]
  /** URLs of its OCSP responder. Empty: those of the mount. */
  readonly ocspServers: readonly string[]
  /** `{{issuer_id}}`, `{{cluster_path}}` and `{{cluster_aia_path}}` in these URLs are expanded. */
  readonly enableTemplating: boolean
  /** The issuer is the default issuer of the mount. */
  readonly isDefault: boolean
}

const outputs = [
  "mount",
  "name",
  "issuerId",
  "keyId",
  "keyName",
  "csr",
  "certificate",
  "caChain",
  "serialNumber",
  "expiration",
  "revokedAt",
  "leafNotAfterBehavior",
  "usage",
  "manualChain",
  "revocationSignatureAlgorithm",
  "disableNameConstraintChecks",
  "disableNameChecks",
  "disablePathLengthChecks",
  "disableCriticalExtensionChecks",
  "issuingCertificates",
  "crlDistributionPoints",
  "deltaCrlDistributionPoints",
  "ocspServers",
  "enableTemplating",
  "isDefault",
  "adopted",
] as const satisfies readonly (keyof PkiIssuerState)[]

/**
 * A certificate authority whose key stays in a mount. `deletionPolicy: "safe"` keeps it while certificates it issued are valid;
 * deleting it deletes its key. Its id is `MOUNT/ISSUER_ID`, that of an intermediate `MOUNT/KEY_ID`.
 */
export const PkiIssuer: ResourceClass<PkiIssuerArgs, PkiIssuerState> = declaredResource<PkiIssuerArgs, PkiIssuerState>({
  kind: "pkiIssuer",
  outputs,
  named: "name",
  secretInputs: { bundle: true },
})
export type PkiIssuer = InstanceType<typeof PkiIssuer>
