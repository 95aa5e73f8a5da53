import type * as pulumi from "@pulumi/pulumi"
import type { ObservedPkiRevocation } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

/** Exactly one of `serialNumber` and `certificate`. Another certificate makes another revocation. */
export interface PkiRevocationArgs extends Pick<LifeArgs, "timeouts"> {
  /** Path of the mount. `chancery:pkiMount`, else `pki`, when left out. */
  mount?: pulumi.Input<string>
  /** Hex octets joined by ":" or "-". */
  serialNumber?: pulumi.Input<string>
  /** PEM; also one that the mount has no record of, if one of its issuers signed it. */
  certificate?: pulumi.Input<string>
  /** `keyCompromise`, `superseded`, …; `unspecified` when left out. It stays what it was said first. */
  reason?: pulumi.Input<string>
  /** PEM: the certificate's own, for a token that has no other right to revoke it. A secret, and in no output. */
  privateKey?: pulumi.Input<string>
}

export type PkiRevocationState = ObservedPkiRevocation

const outputs = [
  "mount",
  "serialNumber",
  "certificate",
  "reason",
  "revokedAt",
] as const satisfies readonly (keyof PkiRevocationState)[]

/**
 * That a certificate is revoked (specification 4.12), for ever: to take it out of the program only forgets it. Its id is
 * `MOUNT/SERIAL`.
 */
export const PkiRevocation = declaredResource<PkiRevocationArgs, PkiRevocationState>({
  kind: "pkiRevocation",
  outputs,
  secretInputs: () => ["privateKey"],
})
export type PkiRevocation = InstanceType<typeof PkiRevocation>
