// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/** Changing any member except `renewBefore` and `onDestroy` forces replacement. */
export interface PkiIntermediateArgs extends Pick<LifecycleArgs, "timeouts"> {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. */
  mount?: pulumi.Input<string>
  /** Issuer that signs, by id or name. Default: that of the role, else the default issuer. */
  issuerRef?: pulumi.Input<string>
  /** Encoding of the outputs: `pem`, `der` (base64), or `pem_bundle` with the chain in `certificate`. Default: `pem`. */
  format?: pulumi.Input<"pem" | "der" | "pem_bundle">
  /** Leave the root out of `caChain`. Default: false. */
  removeRootsFromChain?: pulumi.Input<boolean>
  /**
   * Time before expiry from which `pulumi up` replaces the certificate, such as `168h`; shorter than its lifetime. Default:
   * never.
   */
  renewBefore?: pulumi.Input<string>
  /** Common name (CN) of the subject. */
  commonName?: pulumi.Input<string>
  /** DNS and e-mail SANs. */
  altNames?: pulumi.Input<pulumi.Input<string>[]>
  /** IP SANs. */
  ipSans?: pulumi.Input<pulumi.Input<string>[]>
  /** URI SANs. */
  uriSans?: pulumi.Input<pulumi.Input<string>[]>
  /** Other SANs as `<oid>;UTF8:<value>`. */
  otherSans?: pulumi.Input<pulumi.Input<string>[]>
  /** Do not add the common name to the SANs. Default: false. */
  excludeCnFromSans?: pulumi.Input<boolean>
  /** Serial number in the subject. The serial number of the certificate is the output `serialNumber`. */
  subjectSerialNumber?: pulumi.Input<string>
  /**
   * Lifetime, such as `720h` or `30d`, limited to the maximum of the role or else of the mount. The output `expiration` is the
   * actual expiry. Default: that of the role, else of the mount.
   */
  ttl?: pulumi.Input<string>
  /** Start of validity (ISO 8601). Default: the time of issuance, backdated by the role. */
  notBefore?: pulumi.Input<string>
  /** End of validity (ISO 8601). Excludes `ttl`. */
  notAfter?: pulumi.Input<string>
  /** Organizational units (OU) of the subject. */
  organizationalUnits?: pulumi.Input<pulumi.Input<string>[]>
  /** Organizations (O) of the subject. */
  organizations?: pulumi.Input<pulumi.Input<string>[]>
  /** Countries (C) of the subject, as codes of two letters. */
  countries?: pulumi.Input<pulumi.Input<string>[]>
  /** Localities (L) of the subject. */
  localities?: pulumi.Input<pulumi.Input<string>[]>
  /** States or provinces (ST) of the subject. */
  provinces?: pulumi.Input<pulumi.Input<string>[]>
  /** Street addresses of the subject. */
  streetAddresses?: pulumi.Input<pulumi.Input<string>[]>
  /** Postal codes of the subject. */
  postalCodes?: pulumi.Input<pulumi.Input<string>[]>
  /** Time by which the start of validity is backdated. Default: `30s`. */
  notBeforeDuration?: pulumi.Input<string>
  /** Maximum number of intermediate authorities below it. -1: as many as its issuer allows. Default: -1. */
  maxPathLength?: pulumi.Input<number>
  /** Name constraints: permitted DNS domains; a leading "." means subdomains only. */
  permittedDnsDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: excluded DNS domains. */
  excludedDnsDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: permitted e-mail addresses or domains. */
  permittedEmailAddresses?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: excluded e-mail addresses or domains. */
  excludedEmailAddresses?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: permitted IP ranges (CIDR). */
  permittedIpRanges?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: excluded IP ranges (CIDR). */
  excludedIpRanges?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: permitted URI domains. */
  permittedUriDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Name constraints: excluded URI domains. */
  excludedUriDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Key usages besides `CertSign` and `CRLSign`. */
  keyUsages?: pulumi.Input<pulumi.Input<string>[]>
  /** Bits of the signature's hash: 256, 384 or 512. 0: chosen by the issuer's key. Default: 0. */
  signatureBits?: pulumi.Input<number>
  /** Sign with RSASSA-PSS if the issuer's key is RSA. Default: false. */
  usePss?: pulumi.Input<boolean>
  /** Subject key identifier (hexadecimal). Default: computed from the key. */
  skid?: pulumi.Input<string>
  /** Certificate signing request (PKCS #10, PEM). */
  csr: pulumi.Input<string>
  /** Use the subject, names and extensions of the CSR instead of the declared ones. Default: false. */
  useCsrValues?: pulumi.Input<boolean>
  /** Apply the issuer's `leafNotAfterBehavior` to certificates that outlive it, instead of truncating them. Default: false. */
  enforceLeafNotAfterBehavior?: pulumi.Input<boolean>
  /** Action on the certificate when it is removed or replaced. Default: `retain`. */
  onDestroy?: pulumi.Input<"retain" | "revoke">
}

/** Outputs of an intermediate certificate. */
export interface PkiIntermediateState {
  /** Path of the mount. */
  readonly mount: string
  /** Serial number of the certificate: hexadecimal octets joined by ":". */
  readonly serialNumber: string
  /** The certificate, in the declared format. */
  readonly certificate: string
  /** Certificate of the issuer. Null if the mount no longer has it. */
  readonly issuingCa: string | null
  /** Chain from the issuer's certificate up. */
  readonly caChain: readonly string[]
  /** End of validity (ISO 8601). */
  readonly expiration: string
  /** Time of revocation (ISO 8601). Null if the certificate is not revoked. */
  readonly revokedAt: string | null
  /** Time before expiry from which the certificate is replaced. Null: never. */
  readonly renewBefore: string | null
  /** Action on the certificate when it is removed or replaced. */
  readonly onDestroy: "retain" | "revoke" | "revokeWithKey"
}

/**
 * A certificate of an intermediate authority whose key is not on this server. Use `PkiIssuer` for a key in a mount. Its id is
 * `MOUNT/SERIAL`.
 */
export const PkiIntermediate: ResourceClass<PkiIntermediateArgs, PkiIntermediateState> = declaredResource<PkiIntermediateArgs, PkiIntermediateState>({
  kind: "pkiIntermediate",
  outputs: ["mount", "serialNumber", "certificate", "issuingCa", "caChain", "expiration", "revokedAt", "renewBefore", "onDestroy"],
})
export type PkiIntermediate = InstanceType<typeof PkiIntermediate>
