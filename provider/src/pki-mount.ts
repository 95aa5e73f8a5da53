import type * as pulumi from "@pulumi/pulumi"
import type { ObservedPkiMount } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource, gettable } from "./shell.ts"

/** A setting that was never declared is not managed. One that is declared no longer goes back to what a new mount has. */
export interface PkiMountArgs extends LifeArgs {
  /** The resource's name in the program when left out. Mounts do not nest. Another one makes another mount. */
  path?: pulumi.Input<string>
  description?: pulumi.Input<string>
  /** Lifetime of what asks for none: `720h`, `30d`. The system's (768 hours) when null or left out. */
  defaultLeaseTtl?: pulumi.Input<string | null>
  /** No lifetime is longer, unless a role says so. The system's (768 hours) when null or left out. */
  maxLeaseTtl?: pulumi.Input<string | null>
  forceNoCache?: pulumi.Input<boolean>
  /** Whether the mount is told to those who show no token. */
  listingVisibility?: pulumi.Input<"hidden" | "unauth">
  /** Response headers that the mount may set; ACME needs `Last-Modified`, `Location`, `Replay-Nonce` and `Link`. */
  allowedResponseHeaders?: pulumi.Input<pulumi.Input<string>[]>
  passthroughRequestHeaders?: pulumi.Input<pulumi.Input<string>[]>
  /** Members of requests that the audit log has in plain text. */
  auditNonHmacRequestKeys?: pulumi.Input<pulumi.Input<string>[]>
  auditNonHmacResponseKeys?: pulumi.Input<pulumi.Input<string>[]>
  /** The https address of the mount, such as `https://ca.example.com/v1/pki`. ACME needs it, and `{{cluster_path}}` stands for it. */
  clusterPath?: pulumi.Input<string>
  /** The same for certificates and revocation lists, often plain http: `{{cluster_aia_path}}`. */
  clusterAiaPath?: pulumi.Input<string>
  /** Takes over a mount that is there already; it is left there at the end, unless `deletionPolicy` says more. */
  adopt?: pulumi.Input<boolean>
}

/** What a state has of a mount: every setting as it is in force. */
export type PkiMountState = ObservedPkiMount & { readonly adopted: boolean }

const outputs = [
  "path",
  "description",
  "defaultLeaseTtl",
  "maxLeaseTtl",
  "forceNoCache",
  "listingVisibility",
  "allowedResponseHeaders",
  "passthroughRequestHeaders",
  "auditNonHmacRequestKeys",
  "auditNonHmacResponseKeys",
  "clusterPath",
  "clusterAiaPath",
  "accessor",
  "uuid",
  "adopted",
] as const satisfies readonly (keyof PkiMountState)[]

/** A place for certificate authorities. `deletionPolicy: "safe"` keeps it while it has issuers, keys or roles. Its id is its path. */
export const PkiMount = gettable(
  declaredResource<PkiMountArgs, PkiMountState>({
    kind: "pkiMount",
    outputs,
    named: "path",
  }),
)
export type PkiMount = InstanceType<typeof PkiMount>
