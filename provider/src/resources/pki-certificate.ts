// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/** Changing any member except `renewBefore` and `onDestroy` forces replacement. */
export interface PkiCertificateArgs extends Pick<LifecycleArgs, "timeouts"> {
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
  /** User IDs (UID) of the subject. */
  userIds?: pulumi.Input<pulumi.Input<string>[]>
  /** Metadata stored with the certificate (base64). Default: the stack's name and the time, unless the role stores none. */
  certMetadata?: pulumi.Input<string>
  /** Type of the key, if the role allows any. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519">
  /** Size of the key in bits. 0: that of the role, else 2048 for RSA and 256 for EC. Default: 0. */
  keyBits?: pulumi.Input<number>
  /** Role that issues the certificate. */
  role: pulumi.Input<string>
  /** Encoding of the private key: `der` (the usual form of the key type) or `pkcs8` (PEM). Default: `der`. */
  privateKeyFormat?: pulumi.Input<"der" | "pkcs8">
  /**
   * Action on the certificate when it is removed or replaced. `revokeWithKey` is for tokens that may revoke only with the
   * private key. Default: `retain`.
   */
  onDestroy?: pulumi.Input<"retain" | "revoke" | "revokeWithKey">
}

/** Outputs of a certificate. */
export interface PkiCertificateState {
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
  /** Private key (PEM, or base64 of DER), a secret. The server returns it once, so it is null after `get`. */
  readonly privateKey: string | null
  /** Type of the private key: `rsa`, `ec` or `ed25519`. Null after `get`. */
  readonly privateKeyType: string | null
}

/**
 * A certificate with a private key, issued by a role. Its id is `MOUNT/SERIAL`. The private key is a secret output; it is stored
 * in the state of the stack only.
 */
export const PkiCertificate: ResourceClass<PkiCertificateArgs, PkiCertificateState> = declaredResource<PkiCertificateArgs, PkiCertificateState>({
  kind: "pkiCertificate",
  outputs: ["mount", "serialNumber", "certificate", "issuingCa", "caChain", "expiration", "revokedAt", "renewBefore", "onDestroy", "privateKey", "privateKeyType"],
  secretOutputs: { certificate: { member: "format", values: [undefined, "pem", "der"] }, privateKey: true },
})
export type PkiCertificate = InstanceType<typeof PkiCertificate>
