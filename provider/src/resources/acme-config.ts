// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/**
 * ACME settings of a mount. `enabled` requires `clusterPath` and the response headers `Location`, `Replay-Nonce` and `Link` on
 * the mount. A setting that the program never declared is not managed. A setting removed from the program returns to its
 * default.
 */
export interface AcmeConfigArgs extends LifecycleArgs {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. Changing it forces replacement. */
  mount?: pulumi.Input<string>
  /** Issuers that directories may use, by id or name. The single entry * allows all. Default: `*`. Example: `["root-2030"]`. */
  allowedIssuers?: pulumi.Input<pulumi.Input<string>[]>
  /** Roles that directories may use. The single entry * allows all. Default: `*`. Example: `["web"]`. */
  allowedRoles?: pulumi.Input<pulumi.Input<string>[]>
  /**
   * Policy of directories without a role: forbid, sign-verbatim, role:<name>, or external-policy. Default: `sign-verbatim`.
   * Example: `role:web`.
   */
  defaultDirectoryPolicy?: pulumi.Input<string>
  /** DNS server of validation, as host:port. Empty: the resolver of the system. Example: `192.0.2.53:53`. */
  dnsResolver?: pulumi.Input<string>
  /**
   * Requires external account binding (RFC 8555, section 7.3.4): not-required, new-account-required or always-required. Default:
   * `not-required`. Example: `always-required`.
   */
  eabPolicy?: pulumi.Input<"not-required" | "new-account-required" | "always-required">
  /** Serve ACME. Default: false. */
  enabled?: pulumi.Input<boolean>
  /** Use the extended key usages of roles instead of serverAuth. Default: false. */
  allowRoleExtKeyUsage?: pulumi.Input<boolean>
  /** Maximum lifetime of certificates, in units up to the hour. 0: 2160h. Example: `720h`. */
  maxTtl?: pulumi.Input<string>
  /** Ranges of non-public addresses that validation may reach. Example: `["10.0.0.0/8"]`. */
  challengePermittedIpRanges?: pulumi.Input<pulumi.Input<string>[]>
  /** Ranges of addresses that validation never reaches. Example: `["10.9.0.0/16"]`. */
  challengeExcludedIpRanges?: pulumi.Input<pulumi.Input<string>[]>
  /** Names of this authority in CAA records (RFC 8659). Empty: CAA records are not checked. Example: `["ca.example.com"]`. */
  caaIdentities?: pulumi.Input<pulumi.Input<string>[]>
  /** URL of the terms of service in the directory. Example: `https://example.com/terms`. */
  termsOfService?: pulumi.Input<string>
  /** URL of the website in the directory. Example: `https://example.com`. */
  website?: pulumi.Input<string>
  /** Orders of one account within 3 hours. 0: no limit. Default: 3000. Example: 500. */
  ordersPerAccount?: pulumi.Input<number>
  /** Certificates of one name within 7 days. 0: no limit. Default: 100. Example: 50. */
  ordersPerName?: pulumi.Input<number>
  /** New accounts from one address within 3 hours. 0: no limit. Default: 500. Example: 100. */
  accountsPerAddress?: pulumi.Input<number>
  /** Failed validations of one account and name within an hour. 0: no limit. Default: 60. Example: 5. */
  failedValidations?: pulumi.Input<number>
  /**
   * Limits of single directories; a * stands for one part of the path. Example: `["roles/web/acme orders_per_account=100
   * orders_per_name=5"]`.
   */
  directoryLimits?: pulumi.Input<pulumi.Input<string>[]>
}

/** Outputs of the ACME settings: every setting in force. */
export interface AcmeConfigState {
  /** Path of the mount. */
  readonly mount: string
  /** Issuers that directories may use, by id or name. The single entry * allows all. */
  readonly allowedIssuers: string[]
  /** Roles that directories may use. The single entry * allows all. */
  readonly allowedRoles: string[]
  /** Policy of directories without a role: forbid, sign-verbatim, role:<name>, or external-policy. */
  readonly defaultDirectoryPolicy: string
  /** DNS server of validation, as host:port. Empty: the resolver of the system. */
  readonly dnsResolver: string
  /** Requires external account binding (RFC 8555, section 7.3.4): not-required, new-account-required or always-required. */
  readonly eabPolicy: "not-required" | "new-account-required" | "always-required"
  /** Serve ACME. */
  readonly enabled: boolean
  /** Use the extended key usages of roles instead of serverAuth. */
  readonly allowRoleExtKeyUsage: boolean
  /** Maximum lifetime of certificates, in units up to the hour. 0: 2160h. */
  readonly maxTtl: string
  /** Ranges of non-public addresses that validation may reach. */
  readonly challengePermittedIpRanges: string[]
  /** Ranges of addresses that validation never reaches. */
  readonly challengeExcludedIpRanges: string[]
  /** Names of this authority in CAA records (RFC 8659). Empty: CAA records are not checked. */
  readonly caaIdentities: string[]
  /** URL of the terms of service in the directory. */
  readonly termsOfService: string
  /** URL of the website in the directory. */
  readonly website: string
  /** Orders of one account within 3 hours. 0: no limit. */
  readonly ordersPerAccount: number
  /** Certificates of one name within 7 days. 0: no limit. */
  readonly ordersPerName: number
  /** New accounts from one address within 3 hours. 0: no limit. */
  readonly accountsPerAddress: number
  /** Failed validations of one account and name within an hour. 0: no limit. */
  readonly failedValidations: number
  /** Limits of single directories; a * stands for one part of the path. */
  readonly directoryLimits: string[]
}

/** ACME settings of a mount. Deleting the resource disables ACME. Its id is `MOUNT/config/acme`. */
export const AcmeConfig: ResourceClass<AcmeConfigArgs, AcmeConfigState> = declaredResource<AcmeConfigArgs, AcmeConfigState>({
  kind: "acmeConfig",
  outputs: ["mount", "allowedIssuers", "allowedRoles", "defaultDirectoryPolicy", "dnsResolver", "eabPolicy", "enabled", "allowRoleExtKeyUsage", "maxTtl", "challengePermittedIpRanges", "challengeExcludedIpRanges", "caaIdentities", "termsOfService", "website", "ordersPerAccount", "ordersPerName", "accountsPerAddress", "failedValidations", "directoryLimits"],
})
export type AcmeConfig = InstanceType<typeof AcmeConfig>
