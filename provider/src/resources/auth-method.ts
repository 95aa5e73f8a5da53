// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/**
 * Settings of an auth method. A setting that the program never declared is not managed. A setting removed from the program
 * returns to its default. Durations are strings: `10m`, `24h`.
 */
export interface AuthMethodArgs extends LifecycleArgs {
  /**
   * Path of the auth method, below `auth/`; auth methods do not nest. Default: the resource's name in the program. Changing it
   * forces replacement.
   */
  path?: pulumi.Input<string>
  /** Way in which clients prove their identity. Changing it forces replacement. */
  type: pulumi.Input<"approle" | "cert" | "kubernetes" | "userpass">
  /** Description for people. */
  description?: pulumi.Input<string>
  /** Lifetime of tokens, unless their user or role sets its own. Default: 768 hours (also if null). Example: `1h`. */
  defaultLeaseTtl?: pulumi.Input<string | null>
  /** Maximum lifetime of tokens that have no period. Default: 768 hours (also if null). Example: `24h`. */
  maxLeaseTtl?: pulumi.Input<string | null>
  /** Type of tokens, which are service tokens in any case. Default: `default-service`. */
  tokenType?: pulumi.Input<"default" | "default-service" | "service">
  /** Failed logins after which a user is locked; `userpass` only. Default: 5. */
  lockoutThreshold?: pulumi.Input<number>
  /** Time for which a user is locked; `userpass` only. Default: `15m`. */
  lockoutDuration?: pulumi.Input<string>
  /** Time since the last failed login after which the count starts again; `userpass` only. Default: `15m`. */
  lockoutCounterReset?: pulumi.Input<string>
  /** Lock no user; `userpass` only. Default: false. */
  lockoutDisable?: pulumi.Input<boolean>
  /** Returned as it was set; has no effect. Default: false. */
  forceNoCache?: pulumi.Input<boolean>
  /** List the method for requests without a token (`unauth`). Default: `hidden`. */
  listingVisibility?: pulumi.Input<"hidden" | "unauth">
  /** Response headers that the method may set. */
  allowedResponseHeaders?: pulumi.Input<pulumi.Input<string>[]>
  /** Request headers passed to the method. */
  passthroughRequestHeaders?: pulumi.Input<pulumi.Input<string>[]>
  /** Request members that the audit log records in plain text. */
  auditNonHmacRequestKeys?: pulumi.Input<pulumi.Input<string>[]>
  /** Response members that the audit log records in plain text. */
  auditNonHmacResponseKeys?: pulumi.Input<pulumi.Input<string>[]>
  /**
   * Adopt an existing auth method of this type at this path. Destroying the stack then keeps it unless `deletionPolicy` is set.
   */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of an auth method: every setting in force. */
export interface AuthMethodState extends Adopted {
  /** Path of the auth method, below `auth/`; auth methods do not nest. */
  readonly path: string
  /** Way in which clients prove their identity. */
  readonly type: "approle" | "cert" | "kubernetes" | "userpass"
  /** Description for people. */
  readonly description: string
  /** Lifetime of tokens, unless their user or role sets its own. */
  readonly defaultLeaseTtl: string | null
  /** Maximum lifetime of tokens that have no period. */
  readonly maxLeaseTtl: string | null
  /** Type of tokens, which are service tokens in any case. */
  readonly tokenType: "default" | "default-service" | "service"
  /** Failed logins after which a user is locked; `userpass` only. */
  readonly lockoutThreshold?: number
  /** Time for which a user is locked; `userpass` only. */
  readonly lockoutDuration?: string
  /** Time since the last failed login after which the count starts again; `userpass` only. */
  readonly lockoutCounterReset?: string
  /** Lock no user; `userpass` only. */
  readonly lockoutDisable?: boolean
  /** Returned as it was set; has no effect. */
  readonly forceNoCache: boolean
  /** List the method for requests without a token (`unauth`). */
  readonly listingVisibility: "hidden" | "unauth"
  /** Response headers that the method may set. */
  readonly allowedResponseHeaders: string[]
  /** Request headers passed to the method. */
  readonly passthroughRequestHeaders: string[]
  /** Request members that the audit log records in plain text. */
  readonly auditNonHmacRequestKeys: string[]
  /** Response members that the audit log records in plain text. */
  readonly auditNonHmacResponseKeys: string[]
  /** Accessor, by which mounts and policies name the method independently of its path. */
  readonly accessor: string
  /** UUID of the auth method. */
  readonly uuid: string
}

/**
 * An auth method, by which clients log in to the certificate API. `deletionPolicy: "safe"` keeps it while it has users or roles.
 * Its id is its path.
 */
export const AuthMethod: ResourceClass<AuthMethodArgs, AuthMethodState> = declaredResource<AuthMethodArgs, AuthMethodState>({
  kind: "authMethod",
  outputs: ["path", "type", "description", "defaultLeaseTtl", "maxLeaseTtl", "tokenType", "lockoutThreshold", "lockoutDuration", "lockoutCounterReset", "lockoutDisable", "forceNoCache", "listingVisibility", "allowedResponseHeaders", "passthroughRequestHeaders", "auditNonHmacRequestKeys", "auditNonHmacResponseKeys", "accessor", "uuid", "adopted"],
  named: "path",
})
export type AuthMethod = InstanceType<typeof AuthMethod>
