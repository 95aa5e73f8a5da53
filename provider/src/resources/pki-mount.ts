// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/**
 * Settings of a mount. A setting that the program never declared is not managed. A setting removed from the program returns to
 * its default.
 */
export interface PkiMountArgs extends LifecycleArgs {
  /** Path of the mount; mounts do not nest. Default: the resource's name in the program. Changing it forces replacement. */
  path?: pulumi.Input<string>
  /** Description for people. */
  description?: pulumi.Input<string>
  /** Lifetime of certificates that request none. Default: 768 hours (also if null). Example: `720h`. */
  defaultLeaseTtl?: pulumi.Input<string | null>
  /** Maximum lifetime of certificates, unless a role sets its own. Default: 768 hours (also if null). Example: `8760h`. */
  maxLeaseTtl?: pulumi.Input<string | null>
  /** Disable caching of the mount. Default: false. */
  forceNoCache?: pulumi.Input<boolean>
  /** List the mount for requests without a token (`unauth`). Default: `hidden`. */
  listingVisibility?: pulumi.Input<"hidden" | "unauth">
  /** Response headers the mount may set. ACME needs `Last-Modified`, `Location`, `Replay-Nonce` and `Link`. */
  allowedResponseHeaders?: pulumi.Input<pulumi.Input<string>[]>
  /** Request headers passed to the mount. */
  passthroughRequestHeaders?: pulumi.Input<pulumi.Input<string>[]>
  /** Request members that the audit log records in plain text. */
  auditNonHmacRequestKeys?: pulumi.Input<pulumi.Input<string>[]>
  /** Response members that the audit log records in plain text. */
  auditNonHmacResponseKeys?: pulumi.Input<pulumi.Input<string>[]>
  /**
   * Accessors of auth methods that verify the clients of enrolment protocols such as EST. Example: `["auth_userpass_1a2b3c4d"]`.
   */
  delegatedAuthAccessors?: pulumi.Input<pulumi.Input<string>[]>
  /** URL of the mount. Required by ACME; replaces `{{cluster_path}}` in URLs. Example: `https://ca.example.com/v1/pki`. */
  clusterPath?: pulumi.Input<string>
  /** URL of the mount for certificates and CRLs, often plain HTTP; replaces `{{cluster_aia_path}}` in URLs. */
  clusterAiaPath?: pulumi.Input<string>
  /** Adopt an existing mount at this path. Destroying the stack then keeps it unless `deletionPolicy` is set. */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of a mount: every setting in force. */
export interface PkiMountState extends Adopted {
  /** Path of the mount; mounts do not nest. */
  readonly path: string
  /** Description for people. */
  readonly description: string
  /** Lifetime of certificates that request none. */
  readonly defaultLeaseTtl: string | null
  /** Maximum lifetime of certificates, unless a role sets its own. */
  readonly maxLeaseTtl: string | null
  /** Disable caching of the mount. */
  readonly forceNoCache: boolean
  /** List the mount for requests without a token (`unauth`). */
  readonly listingVisibility: "hidden" | "unauth"
  /** Response headers the mount may set. ACME needs `Last-Modified`, `Location`, `Replay-Nonce` and `Link`. */
  readonly allowedResponseHeaders: string[]
  /** Request headers passed to the mount. */
  readonly passthroughRequestHeaders: string[]
  /** Request members that the audit log records in plain text. */
  readonly auditNonHmacRequestKeys: string[]
  /** Response members that the audit log records in plain text. */
  readonly auditNonHmacResponseKeys: string[]
  /** Accessors of auth methods that verify the clients of enrolment protocols such as EST. */
  readonly delegatedAuthAccessors: string[]
  /** URL of the mount. Required by ACME; replaces `{{cluster_path}}` in URLs. */
  readonly clusterPath?: string
  /** URL of the mount for certificates and CRLs, often plain HTTP; replaces `{{cluster_aia_path}}` in URLs. */
  readonly clusterAiaPath?: string
  /** Accessor, which policies and logs may use instead of the path. */
  readonly accessor: string
  /** UUID of the mount. */
  readonly uuid: string
}

/**
 * A mount for certificate authorities. `deletionPolicy: "safe"` keeps it while it has issuers, keys or roles. Its id is its
 * path.
 */
export const PkiMount: ResourceClass<PkiMountArgs, PkiMountState> = declaredResource<PkiMountArgs, PkiMountState>({
  kind: "pkiMount",
  outputs: ["path", "description", "defaultLeaseTtl", "maxLeaseTtl", "forceNoCache", "listingVisibility", "allowedResponseHeaders", "passthroughRequestHeaders", "auditNonHmacRequestKeys", "auditNonHmacResponseKeys", "delegatedAuthAccessors", "clusterPath", "clusterAiaPath", "accessor", "uuid", "adopted"],
  named: "path",
})
export type PkiMount = InstanceType<typeof PkiMount>
