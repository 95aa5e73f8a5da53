// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/** Changing any member except `renewBefore` and `onDestroy` forces replacement. */
export interface PkiSignedCertificateArgs extends Pick<LifecycleArgs, "timeouts"> {
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
  /**
   * Lifetime, such as `720h` or `30d`, limited to the maximum of the role or else of the mount. The output `expiration` is the
   * actual expiry. Default: that of the role, else of the mount.
   */
  ttl?: pulumi.Input<string>
  /** Start of validity (ISO 8601). Default: the time of issuance, backdated by the role. */
  notBefore?: pulumi.Input<string>
  /** End of validity (ISO 8601). Excludes `ttl`. */
  notAfter?: pulumi.Input<string>
  /** Certificate signing request (PKCS #10, PEM). */
  csr: pulumi.Input<string>
  /** User IDs (UID) of the subject. */
  userIds?: pulumi.Input<pulumi.Input<string>[]>
  /** Metadata stored with the certificate (base64). Default: the stack's name and the time, unless the role stores none. */
  certMetadata?: pulumi.Input<string>
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
  /** Key usages, if `verbatim` and the CSR has none. */
  keyUsages?: pulumi.Input<pulumi.Input<string>[]>
  /** Extended key usages by name, if `verbatim` and the CSR has none. */
  extKeyUsages?: pulumi.Input<pulumi.Input<string>[]>
  /** Extended key usages by object identifier, if `verbatim` and the CSR has none. */
  extKeyUsageOids?: pulumi.Input<pulumi.Input<string>[]>
  /** Bits of the signature's hash: 256, 384 or 512. 0: chosen by the issuer's key. Default: 0. */
  signatureBits?: pulumi.Input<number>
  /** Sign with RSASSA-PSS if the issuer's key is RSA. Default: false. */
  usePss?: pulumi.Input<boolean>
  /** Add basicConstraints CA:FALSE; the role may do so as well. Default: false. */
  basicConstraintsValidForNonCa?: pulumi.Input<boolean>
  /** Apply the issuer's `leafNotAfterBehavior` to certificates that outlive it, instead of truncating them. Default: false. */
  enforceLeafNotAfterBehavior?: pulumi.Input<boolean>
  /** Role that signs. Required unless `verbatim`, where a role supplies lifetimes only. */
  role?: pulumi.Input<string>
  /** Sign the names of the CSR as they are, without the rules of a role. Default: false. */
  verbatim?: pulumi.Input<boolean>
  /** Action on the certificate when it is removed or replaced. Default: `retain`. */
  onDestroy?: pulumi.Input<"retain" | "revoke">
}

/** Outputs of a signed certificate. */
export interface PkiSignedCertificateState {
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

/** A certificate for a CSR. The server never receives the private key. Its id is `MOUNT/SERIAL`. */
export const PkiSignedCertificate: ResourceClass<PkiSignedCertificateArgs, PkiSignedCertificateState> = declaredResource<PkiSignedCertificateArgs, PkiSignedCertificateState>({
  kind: "pkiSignedCertificate",
  outputs: ["mount", "serialNumber", "certificate", "issuingCa", "caChain", "expiration", "revokedAt", "renewBefore", "onDestroy"],
})
export type PkiSignedCertificate = InstanceType<typeof PkiSignedCertificate>
