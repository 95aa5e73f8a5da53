// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../pulumi-resource.ts"

/**
 * ACME settings of a mount. A setting that the program never declared is not managed. A setting removed from the program returns
 * to its default.
 */
export interface AcmeConfigArgs extends LifecycleArgs {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. Changing it forces replacement. */
  mount?: pulumi.Input<string>
  /**
   * Serve ACME. Requires `clusterPath` and the response headers `Location`, `Replay-Nonce` and `Link` on the mount. Default:
   * false.
   */
  enabled?: pulumi.Input<boolean>
  /** Issuers that directories may name, by id or name. `*` stands for every issuer. Default: `*`. */
  allowedIssuers?: pulumi.Input<pulumi.Input<string>[]>
  /** Roles that directories and profiles may name. `*` stands for every role. Default: `*`. */
  allowedRoles?: pulumi.Input<pulumi.Input<string>[]>
  /** Use the extended key usages of the role instead of `serverAuth` alone. Default: false. */
  allowRoleExtKeyUsage?: pulumi.Input<boolean>
  /**
   * Policy of directories without a role: `sign-verbatim`, `role:NAME`, `external-policy`, `external-policy:POLICY` or `forbid`.
   * Default: `sign-verbatim`.
   */
  defaultDirectoryPolicy?: pulumi.Input<string>
  /** DNS server for validation, as `address` or `address:port`. Default: the system's resolver. */
  dnsResolver?: pulumi.Input<string>
  /** Accounts that need an external account binding (`AcmeEab`). Default: `not-required`. */
  eabPolicy?: pulumi.Input<"not-required" | "new-account-required" | "always-required">
  /** Maximum lifetime of ACME certificates. Default: `90d` (also if `0s`). */
  maxTtl?: pulumi.Input<string>
  /** Non-public address ranges (CIDR) that validation may reach. Default: none. */
  challengePermittedIpRanges?: pulumi.Input<pulumi.Input<string>[]>
  /** Address ranges (CIDR) that validation may never reach, permitted or not. Default: none. */
  challengeExcludedIpRanges?: pulumi.Input<pulumi.Input<string>[]>
  /** Names of this authority in CAA records. Default: none, CAA records are not checked. */
  caaIdentities?: pulumi.Input<pulumi.Input<string>[]>
  /** URL of the terms of service that new accounts must agree to. Default: none. */
  termsOfService?: pulumi.Input<string>
  /** URL of a page about this authority. Default: none. */
  website?: pulumi.Input<string>
  /** Limit of new orders for one account in 3 hours. 0: no limit. Default: 3000. */
  ordersPerAccount?: pulumi.Input<number>
  /** Limit of certificates for one name in 7 days, across all accounts. 0: no limit. Default: 100. */
  ordersPerName?: pulumi.Input<number>
  /** Limit of new accounts from one address in 3 hours. 0: no limit. Default: 500. */
  accountsPerAddress?: pulumi.Input<number>
  /** Limit of failed validations of one account and name in an hour. 0: no limit. Default: 60. */
  failedValidations?: pulumi.Input<number>
  /** Limits of single directories, such as `roles/web/acme orders_per_account=100`; `*` matches one path segment. */
  directoryLimits?: pulumi.Input<pulumi.Input<string>[]>
}

/** Outputs of the ACME settings: every setting in force. */
export interface AcmeConfigState {
  /** Path of the mount. */
  readonly mount: string
  /** Serve ACME. Requires `clusterPath` and the response headers `Location`, `Replay-Nonce` and `Link` on the mount. */
  readonly enabled: boolean
  /** Issuers that directories may name, by id or name. `*` stands for every issuer. */
  readonly allowedIssuers: string[]
  /** Roles that directories and profiles may name. `*` stands for every role. */
  readonly allowedRoles: string[]
  /** Use the extended key usages of the role instead of `serverAuth` alone. */
  readonly allowRoleExtKeyUsage: boolean
  /**
   * Policy of directories without a role: `sign-verbatim`, `role:NAME`, `external-policy`, `external-policy:POLICY` or `forbid`.
   */
  readonly defaultDirectoryPolicy: string
  /** DNS server for validation, as `address` or `address:port`. */
  readonly dnsResolver: string
  /** Accounts that need an external account binding (`AcmeEab`). */
  readonly eabPolicy: "not-required" | "new-account-required" | "always-required"
  /** Maximum lifetime of ACME certificates. */
  readonly maxTtl: string
  /** Non-public address ranges (CIDR) that validation may reach. */
  readonly challengePermittedIpRanges: string[]
  /** Address ranges (CIDR) that validation may never reach, permitted or not. */
  readonly challengeExcludedIpRanges: string[]
  /** Names of this authority in CAA records. */
  readonly caaIdentities: string[]
  /** URL of the terms of service that new accounts must agree to. */
  readonly termsOfService: string
  /** URL of a page about this authority. */
  readonly website: string
  /** Limit of new orders for one account in 3 hours. 0: no limit. */
  readonly ordersPerAccount: number
  /** Limit of certificates for one name in 7 days, across all accounts. 0: no limit. */
  readonly ordersPerName: number
  /** Limit of new accounts from one address in 3 hours. 0: no limit. */
  readonly accountsPerAddress: number
  /** Limit of failed validations of one account and name in an hour. 0: no limit. */
  readonly failedValidations: number
  /** Limits of single directories, such as `roles/web/acme orders_per_account=100`; `*` matches one path segment. */
  readonly directoryLimits: string[]
}

/** ACME settings of a mount. Deleting the resource disables ACME. Its id is `MOUNT/config/acme`. */
export const AcmeConfig: ResourceClass<AcmeConfigArgs, AcmeConfigState> = declaredResource<AcmeConfigArgs, AcmeConfigState>({
  kind: "acmeConfig",
  outputs: ["mount", "enabled", "allowedIssuers", "allowedRoles", "allowRoleExtKeyUsage", "defaultDirectoryPolicy", "dnsResolver", "eabPolicy", "maxTtl", "challengePermittedIpRanges", "challengeExcludedIpRanges", "caaIdentities", "termsOfService", "website", "ordersPerAccount", "ordersPerName", "accountsPerAddress", "failedValidations", "directoryLimits"],
})
export type AcmeConfig = InstanceType<typeof AcmeConfig>
