import type * as pulumi from "@pulumi/pulumi"
import type { ObservedPkiAcmeConfig } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

type Texts = pulumi.Input<pulumi.Input<string>[]>

/** A setting that was never declared is not managed. One that is declared no longer goes back to what a new mount has. */
export interface AcmeConfigArgs extends LifeArgs {
  /** Path of the mount. `chancery:pkiMount`, else `pki`, when left out. */
  mount?: pulumi.Input<string>
  /** The mount has to have a `clusterPath`, and to let `Location`, `Replay-Nonce` and `Link` through. */
  enabled?: pulumi.Input<boolean>
  /** Ids or names that directories may name; `["*"]`, all of them, when left out. */
  allowedIssuers?: Texts
  /** Names that directories and profiles may name; `["*"]`, all of them, when left out. */
  allowedRoles?: Texts
  /** Whether certificates have their role's extended key usages; they are for servers only when left out. */
  allowRoleExtKeyUsage?: pulumi.Input<boolean>
  /** `sign-verbatim` (when left out), `role:NAME`, `external-policy`, `external-policy:POLICY` or `forbid`. */
  defaultDirectoryPolicy?: pulumi.Input<string>
  /** An address with or without a port; the system's resolver when left out or empty. */
  dnsResolver?: pulumi.Input<string>
  /** Whose accounts need an `AcmeEab`; nobody's when left out. */
  eabPolicy?: pulumi.Input<"not-required" | "new-account-required" | "always-required">
  /** No certificate is valid for longer; `90d` when left out or `0s`. */
  maxTtl?: pulumi.Input<string>
  /** Where challenges may be answered from besides public addresses, in CIDR form. */
  challengePermittedIpRanges?: Texts
  /** Names of this authority in CAA records, which are looked at only where there are any. */
  caaIdentities?: Texts
  /** The address of what every new account has to agree to. */
  termsOfService?: pulumi.Input<string>
  website?: pulumi.Input<string>
  /** New orders of one account within 3 hours; 3,000 when left out, any number when 0, like the others. */
  ordersPerAccount?: pulumi.Input<number>
  /** New orders that have one name, of all accounts, within 7 days; 100 when left out. */
  ordersPerName?: pulumi.Input<number>
  /** Accounts that are made from one address within 3 hours; 500 when left out. */
  accountsPerAddress?: pulumi.Input<number>
  /** Failures of one account to prove one name within an hour; 60 when left out. */
  failedValidations?: pulumi.Input<number>
  /** Other numbers for some directories, such as `roles/web/acme orders_per_account=100`; `*` is any one part of a path. */
  directoryLimits?: Texts
}

/** What a state has of it: every setting as it is in force. */
export type AcmeConfigState = ObservedPkiAcmeConfig

const outputs = [
  "mount",
  "enabled",
  "allowedIssuers",
  "allowedRoles",
  "allowRoleExtKeyUsage",
  "defaultDirectoryPolicy",
  "dnsResolver",
  "eabPolicy",
  "maxTtl",
  "challengePermittedIpRanges",
  "caaIdentities",
  "termsOfService",
  "website",
  "ordersPerAccount",
  "ordersPerName",
  "accountsPerAddress",
  "failedValidations",
  "directoryLimits",
] as const satisfies readonly (keyof AcmeConfigState)[]

/** How a mount serves ACME (specification 2.4). In the end it serves none. Its id is `MOUNT/config/acme`. */
export const AcmeConfig = declaredResource<AcmeConfigArgs, AcmeConfigState>({ kind: "acmeConfig", outputs })
export type AcmeConfig = InstanceType<typeof AcmeConfig>
