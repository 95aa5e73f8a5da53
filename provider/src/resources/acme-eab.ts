// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/** Changing any member forces replacement. Default directory: that of the mount. */
export interface AcmeEabArgs extends LifecycleArgs {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. */
  mount?: pulumi.Input<string>
  /** Issuer of the directory, by id or name. */
  issuerRef?: pulumi.Input<string>
  /** Role of the directory. */
  role?: pulumi.Input<string>
  /** External policy of the directory, instead of a role. Empty: the policy that the external service selects. */
  externalPolicy?: pulumi.Input<string>
  /** Time in which the binding must be used, such as `24h`. Default: no limit (also if `0s`). */
  ttl?: pulumi.Input<string>
}

/** Outputs of an external account binding. */
export interface AcmeEabState {
  /** Path of the mount. */
  readonly mount: string
  /** Issuer of the directory. Null if none was declared. */
  readonly issuerRef: string | null
  /** Role of the directory. Null if none was declared. */
  readonly role: string | null
  /** External policy of the directory. Null if none was declared. */
  readonly externalPolicy: string | null
  /** Time in which the binding must be used, as declared. Null: no limit. */
  readonly ttl: string | null
  /** Key identifier for the ACME client. */
  readonly keyId: string
  /** HMAC key for the ACME client (base64url), a secret. The server returns it once, so `get` has none. */
  readonly key: string
  /** Path of the directory below the mount, such as `roles/web/acme/directory`. */
  readonly acmeDirectory: string
  /** Time of creation (ISO 8601). */
  readonly createdAt: string
  /** The binding is unused, not expired and not deleted. */
  readonly isWaiting: boolean
}

/**
 * An external account binding: lets one ACME client register one account in one directory. Its id is `MOUNT/eab/KEY_ID`. The key
 * is a secret output; it is stored in the state of the stack only.
 */
export const AcmeEab: ResourceClass<AcmeEabArgs, AcmeEabState> = declaredResource<AcmeEabArgs, AcmeEabState>({
  kind: "acmeEab",
  outputs: ["mount", "issuerRef", "role", "externalPolicy", "ttl", "keyId", "key", "acmeDirectory", "createdAt", "isWaiting"],
  secretOutputs: { key: true },
})
export type AcmeEab = InstanceType<typeof AcmeEab>
