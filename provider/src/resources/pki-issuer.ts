// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/**
 * Changing the subject, the extensions or the key forces replacement: the old issuer is deleted first, unless `name` changes
 * too. The members after `bundle` are updated in place and return to their defaults when removed, except `usage` and
 * `isDefault`.
 */
export interface PkiIssuerArgs extends LifecycleArgs {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. Changing it forces replacement. */
  mount?: pulumi.Input<string>
  /** Name, unique in the mount. Default: the resource's name in the program. */
  name?: pulumi.Input<string>
  /**
   * `root`: signs itself. `intermediate`: signed by an issuer of this server (`parentMount`, `parentIssuerRef`) or elsewhere
   * (`csr`, then `signedCertificate`). `imported`: imported with its key (`bundle`). Changing it forces replacement.
   */
  kind: pulumi.Input<"root" | "intermediate" | "imported">
  /** Common name (CN) of the subject. Changing it forces replacement. */
  commonName?: pulumi.Input<string>
  /** DNS and e-mail SANs. Changing it forces replacement. */
  altNames?: pulumi.Input<pulumi.Input<string>[]>
  /** IP SANs. Changing it forces replacement. */
  ipSans?: pulumi.Input<pulumi.Input<string>[]>
  /** URI SANs. Changing it forces replacement. */
  uriSans?: pulumi.Input<pulumi.Input<string>[]>
  /** Other SANs as `<oid>;UTF8:<value>`. Changing it forces replacement. */
  otherSans?: pulumi.Input<pulumi.Input<string>[]>
  /** Do not add the common name to the SANs. Default: false. Changing it forces replacement. */
  excludeCnFromSans?: pulumi.Input<boolean>
  /**
   * Serial number in the subject. The serial number of the certificate is the output `serialNumber`. Changing it forces
   * replacement.
   */
  subjectSerialNumber?: pulumi.Input<string>
  /**
   * Lifetime, such as `720h` or `30d`, limited to the maximum of the role or else of the mount. The output `expiration` is the
   * actual expiry. Default: that of the role, else of the mount. Changing it forces replacement.
   */
  ttl?: pulumi.Input<string>
  /** Start of validity (ISO 8601). Default: the time of issuance, backdated by the role. Changing it forces replacement. */
  notBefore?: pulumi.Input<string>
  /** End of validity (ISO 8601). Excludes `ttl`. Changing it forces replacement. */
  notAfter?: pulumi.Input<string>
  /** Organizational units (OU) of the subject. Changing it forces replacement. */
  organizationalUnits?: pulumi.Input<pulumi.Input<string>[]>
  /** Organizations (O) of the subject. Changing it forces replacement. */
  organizations?: pulumi.Input<pulumi.Input<string>[]>
  /** Countries (C) of the subject, as codes of two letters. Changing it forces replacement. */
  countries?: pulumi.Input<pulumi.Input<string>[]>
  /** Localities (L) of the subject. Changing it forces replacement. */
  localities?: pulumi.Input<pulumi.Input<string>[]>
  /** States or provinces (ST) of the subject. Changing it forces replacement. */
  provinces?: pulumi.Input<pulumi.Input<string>[]>
  /** Street addresses of the subject. Changing it forces replacement. */
  streetAddresses?: pulumi.Input<pulumi.Input<string>[]>
  /** Postal codes of the subject. Changing it forces replacement. */
  postalCodes?: pulumi.Input<pulumi.Input<string>[]>
  /** Time by which the start of validity is backdated. Default: `30s`. Changing it forces replacement. */
  notBeforeDuration?: pulumi.Input<string>
  /**
   * Maximum number of intermediate authorities below it. -1: as many as its issuer allows. Default: -1. Changing it forces
   * replacement.
   */
  maxPathLength?: pulumi.Input<number>
  /** Name constraints: permitted DNS domains; a leading "." means subdomains only. Changing it forces replacement. */
  permittedDnsDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: excluded DNS domains. Changing it forces replacement. */
  excludedDnsDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: permitted e-mail addresses or domains. Changing it forces replacement. */
  permittedEmailAddresses?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: excluded e-mail addresses or domains. Changing it forces replacement. */
  excludedEmailAddresses?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: permitted IP ranges (CIDR). Changing it forces replacement. */
  permittedIpRanges?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: excluded IP ranges (CIDR). Changing it forces replacement. */
  excludedIpRanges?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: permitted URI domains. Changing it forces replacement. */
  permittedUriDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: excluded URI domains. Changing it forces replacement. */
  excludedUriDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Key usages besides `CertSign` and `CRLSign`. Changing it forces replacement. */
  keyUsages?: pulumi.Input<pulumi.Input<string>[]>
  /** Bits of the signature's hash: 256, 384 or 512. 0: chosen by the issuer's key. Default: 0. Changing it forces replacement. */
  signatureBits?: pulumi.Input<number>
  /** Sign with RSASSA-PSS if the issuer's key is RSA. Default: false. Changing it forces replacement. */
  usePss?: pulumi.Input<boolean>
  /** Subject key identifier (hexadecimal). Default: computed from the key. Changing it forces replacement. */
  skid?: pulumi.Input<string>
  /** Type of the key. Default: `rsa`. Changing it forces replacement. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519">
  /** Size of the key in bits. 0: 2048 for RSA, 256 for EC. Default: 0. Changing it forces replacement. */
  keyBits?: pulumi.Input<number>
  /** Name of the key, unique in the mount. Default: the name of the issuer. */
  keyName?: pulumi.Input<string>
  /** Mount of the issuer that signs. Default: this mount. Changing it forces replacement. */
  parentMount?: pulumi.Input<string>
  /** Issuer that signs, by id or name. Default: `default`, if `parentMount` is declared. Changing it forces replacement. */
  parentIssuerRef?: pulumi.Input<string>
  /** Certificate that another authority signed for `csr`, followed by its chain (PEM). A later one replaces it under its name. */
  signedCertificate?: pulumi.Input<string>
  /** Add basicConstraints CA:TRUE to `csr`. Some authorities require it. Default: false. Changing it forces replacement. */
  addBasicConstraints?: pulumi.Input<boolean>
  /**
   * Certificate of the issuer, its chain and its private key (PEM). A secret; it is in no output. Changing it forces
   * replacement.
   */
  bundle?: pulumi.Input<string>
  /** What happens if a certificate would outlive the issuer. Default: `err`. */
  leafNotAfterBehavior?: pulumi.Input<"err" | "truncate" | "permit" | "always_enforce_err">
  /** Allowed uses; `read-only` is always included. Default: all that its certificate allows. */
  usage?: pulumi.Input<pulumi.Input<"read-only" | "issuing-certificates" | "crl-signing" | "ocsp-signing">[]>
  /** Ids of the issuers above it, nearest first. Empty: the chain that the server finds. */
  manualChain?: pulumi.Input<pulumi.Input<string>[]>
  /** Signature algorithm of CRLs and OCSP responses, such as `SHA256WithRSAPSS`. Empty: chosen by the key. */
  revocationSignatureAlgorithm?: pulumi.Input<string>
  /** Issue names that the name constraints of the issuer or of its chain forbid. Default: false. */
  disableNameConstraintChecks?: pulumi.Input<boolean>
  /** Issue although a certificate in `manualChain` has signed one that names another issuer. Default: false. */
  disableNameChecks?: pulumi.Input<boolean>
  /** Issue although a certificate of the chain limits the path length to less. Default: false. */
  disablePathLengthChecks?: pulumi.Input<boolean>
  /** Issue although the certificate or its chain has a critical extension that verifiers do not process. Default: false. */
  disableCriticalExtensionChecks?: pulumi.Input<boolean>
  /** URLs of its certificate. Empty: those of the mount. */
  issuingCertificates?: pulumi.Input<pulumi.Input<string>[]>
  /** URLs of its CRL. Empty: those of the mount. */
  crlDistributionPoints?: pulumi.Input<pulumi.Input<string>[]>
  /** URLs of its delta CRL. Empty: those of the mount. */
  deltaCrlDistributionPoints?: pulumi.Input<pulumi.Input<string>[]>
  /** URLs of its OCSP responder. Empty: those of the mount. */
  ocspServers?: pulumi.Input<pulumi.Input<string>[]>
  /** Expand `{{issuer_id}}`, `{{cluster_path}}` and `{{cluster_aia_path}}` in these URLs. Default: false. */
  enableTemplating?: pulumi.Input<boolean>
  /** Make it the default issuer of the mount. False does not change the default issuer. */
  isDefault?: pulumi.Input<boolean>
  /**
   * Adopt an existing issuer of this name, subject and key. Destroying the stack then keeps it unless `deletionPolicy` is set.
   */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of an issuer: every setting in force. */
export interface PkiIssuerState extends Adopted {
  /** Path of the mount. */
  readonly mount: string
  /** What happens if a certificate would outlive the issuer. */
  readonly leafNotAfterBehavior: "err" | "truncate" | "permit" | "always_enforce_err"
  /** Signature algorithm of CRLs and OCSP responses, such as `SHA256WithRSAPSS`. Empty: chosen by the key. */
  readonly revocationSignatureAlgorithm: string
  /** Issue names that the name constraints of the issuer or of its chain forbid. */
  readonly disableNameConstraintChecks: boolean
  /** Issue although a certificate in `manualChain` has signed one that names another issuer. */
  readonly disableNameChecks: boolean
  /** Issue although a certificate of the chain limits the path length to less. */
  readonly disablePathLengthChecks: boolean
  /** Issue although the certificate or its chain has a critical extension that verifiers do not process. */
  readonly disableCriticalExtensionChecks: boolean
  /** Expand `{{issuer_id}}`, `{{cluster_path}}` and `{{cluster_aia_path}}` in these URLs. */
  readonly enableTemplating: boolean
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
  /** Allowed uses; `read-only` is always included. Default: all that its certificate allows. */
  readonly usage: readonly ("read-only" | "issuing-certificates" | "crl-signing" | "ocsp-signing")[]
  /** Ids of the issuers above it, nearest first. Empty: the chain that the server finds. */
  readonly manualChain: readonly string[]
  /** URLs of its certificate. Empty: those of the mount. */
  readonly issuingCertificates: readonly string[]
  /** URLs of its CRL. Empty: those of the mount. */
  readonly crlDistributionPoints: readonly string[]
  /** URLs of its delta CRL. Empty: those of the mount. */
  readonly deltaCrlDistributionPoints: readonly string[]
  /** URLs of its OCSP responder. Empty: those of the mount. */
  readonly ocspServers: readonly string[]
  /** The issuer is the default issuer of the mount. */
  readonly isDefault: boolean
}

/**
 * A certificate authority whose key stays in a mount. `deletionPolicy: "safe"` keeps it while certificates it issued are valid;
 * deleting it deletes its key. Its id is `MOUNT/ISSUER_ID`, that of an intermediate `MOUNT/KEY_ID`.
 */
export const PkiIssuer: ResourceClass<PkiIssuerArgs, PkiIssuerState> = declaredResource<PkiIssuerArgs, PkiIssuerState>({
  kind: "pkiIssuer",
  outputs: ["mount", "leafNotAfterBehavior", "revocationSignatureAlgorithm", "disableNameConstraintChecks", "disableNameChecks", "disablePathLengthChecks", "disableCriticalExtensionChecks", "enableTemplating", "name", "issuerId", "keyId", "keyName", "csr", "certificate", "caChain", "serialNumber", "expiration", "revokedAt", "usage", "manualChain", "issuingCertificates", "crlDistributionPoints", "deltaCrlDistributionPoints", "ocspServers", "isDefault", "adopted"],
  named: "name",
  secretInputs: { bundle: true },
})
export type PkiIssuer = InstanceType<typeof PkiIssuer>
