// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/** Exactly one of `serialNumber` and `certificate` is required. */
export interface PkiRevocationArgs extends Pick<LifecycleArgs, "timeouts"> {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. Changing it forces replacement. */
  mount?: pulumi.Input<string>
  /** Serial number of the certificate: hexadecimal octets joined by ":" or "-". Changing it forces replacement. */
  serialNumber?: pulumi.Input<string>
  /**
   * The certificate (PEM). It need not be stored in the mount if one of the mount's issuers signed it. Changing it forces
   * replacement.
   */
  certificate?: pulumi.Input<string>
  /** Reason, such as `keyCompromise` or `superseded`. It cannot be changed later. Default: `unspecified`. */
  reason?: pulumi.Input<string>
  /** Private key of the certificate (PEM), for tokens that may revoke only with it. A secret; it is in no output. */
  privateKey?: pulumi.Input<string>
}

/** Outputs of a revocation. */
export interface PkiRevocationState {
  /** Path of the mount. */
  readonly mount: string
  /** Serial number of the certificate: hexadecimal octets joined by ":". */
  readonly serialNumber: string
  /** The certificate as declared. Null if only its serial number was. */
  readonly certificate: string | null
  /** Reason, as declared. */
  readonly reason: string
  /** Time of revocation (ISO 8601). */
  readonly revokedAt: string | null
}

/** Revokes a certificate. Revocation is permanent: removing the resource does not undo it. Its id is `MOUNT/SERIAL`. */
export const PkiRevocation: ResourceClass<PkiRevocationArgs, PkiRevocationState> = declaredResource<PkiRevocationArgs, PkiRevocationState>({
  kind: "pkiRevocation",
  outputs: ["mount", "serialNumber", "certificate", "reason", "revokedAt"],
  secretInputs: { privateKey: true },
})
export type PkiRevocation = InstanceType<typeof PkiRevocation>
