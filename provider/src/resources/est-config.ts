// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/** Auth method of type `userpass`, for user names and passwords. */
export interface EstUserpassArgs {
  /** Accessor of the auth method. */
  accessor: pulumi.Input<string>
}

/** Auth method of type `cert`, for TLS client certificates. */
export interface EstCertArgs {
  /** Accessor of the auth method. */
  accessor: pulumi.Input<string>
  /** Role of the auth method that the certificate must match. Default: any role. */
  certRole?: pulumi.Input<string>
}

/** Auth methods that verify the clients of EST, by kind of credentials. */
export interface EstAuthenticatorsArgs {
  /** Auth method of type `userpass`, for user names and passwords. */
  userpass?: pulumi.Input<EstUserpassArgs>
  /** Auth method of type `cert`, for TLS client certificates. */
  cert?: pulumi.Input<EstCertArgs>
}

/** Auth method of type `userpass`, for user names and passwords. */
export interface EstUserpassState {
  /** Accessor of the auth method. */
  readonly accessor: string
}

/** Auth method of type `cert`, for TLS client certificates. */
export interface EstCertState {
  /** Accessor of the auth method. */
  readonly accessor: string
  /** Role of the auth method that the certificate must match. Default: any role. */
  readonly certRole?: string | undefined
}

/** Auth methods that verify the clients of EST, by kind of credentials. */
export interface EstAuthenticatorsState {
  /** Auth method of type `userpass`, for user names and passwords. */
  readonly userpass?: EstUserpassState | undefined
  /** Auth method of type `cert`, for TLS client certificates. */
  readonly cert?: EstCertState | undefined
}

/**
 * EST settings of a mount. `authenticators` requires their accessors in `delegatedAuthAccessors` of the mount. A setting that
 * the program never declared is not managed. A setting removed from the program returns to its default.
 */
export interface EstConfigArgs extends LifecycleArgs {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. Changing it forces replacement. */
  mount?: pulumi.Input<string>
  /** Serve EST. Default: false. */
  enabled?: pulumi.Input<boolean>
  /** Serve /.well-known/est without a label; one mount of a server can. Default: false. */
  defaultMount?: pulumi.Input<boolean>
  /**
   * Policy of the path est, and of /.well-known/est: sign-verbatim, role:<name>, external-policy or external-policy:<policy>.
   * Example: `role:printers`.
   */
  defaultPathPolicy?: pulumi.Input<string>
  /** Policies of /.well-known/est/<label> by label. Example: `{"printers":"role:printers"}`. */
  labelToPathPolicy?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /**
   * Auth methods that verify clients, by kind of credentials. delegatedAuthAccessors of the mount must have their accessors.
   * Example: `{"userpass":{"accessor":"auth_userpass_1a2b3c4d"}}`.
   */
  authenticators?: pulumi.Input<EstAuthenticatorsArgs>
  /** Returned as it was set; there are no Sentinel policies. Default: false. */
  enableSentinelParsing?: pulumi.Input<boolean>
  /**
   * Fields of CSRs that the audit log has. Default: `common_name`, `alt_names`, `ip_sans`, `uri_sans`, `serial_number`,
   * `key_type`, `key_bits`. Example: `["common_name","alt_names"]`.
   */
  auditFields?: pulumi.Input<pulumi.Input<"csr" | "common_name" | "alt_names" | "ip_sans" | "uri_sans" | "other_sans" | "signature_bits" | "exclude_cn_from_sans" | "ou" | "organization" | "country" | "locality" | "province" | "street_address" | "postal_code" | "serial_number" | "use_pss" | "key_type" | "key_bits" | "add_basic_constraints">[]>
  /** Policies whose requests wait for an approval. The single entry * is all. Not in Vault. Example: `["role:printers"]`. */
  manualApproval?: pulumi.Input<pulumi.Input<string>[]>
}

/** Outputs of the EST settings: every setting in force. */
export interface EstConfigState {
  /** Path of the mount. */
  readonly mount: string
  /** Serve EST. */
  readonly enabled: boolean
  /** Serve /.well-known/est without a label; one mount of a server can. */
  readonly defaultMount: boolean
  /** Policy of the path est, and of /.well-known/est: sign-verbatim, role:<name>, external-policy or external-policy:<policy>. */
  readonly defaultPathPolicy: string
  /** Policies of /.well-known/est/<label> by label. */
  readonly labelToPathPolicy: Readonly<Record<string, string>>
  /** Auth methods that verify clients, by kind of credentials. delegatedAuthAccessors of the mount must have their accessors. */
  readonly authenticators: EstAuthenticatorsState
  /** Returned as it was set; there are no Sentinel policies. */
  readonly enableSentinelParsing: boolean
  /** Fields of CSRs that the audit log has. */
  readonly auditFields: ("csr" | "common_name" | "alt_names" | "ip_sans" | "uri_sans" | "other_sans" | "signature_bits" | "exclude_cn_from_sans" | "ou" | "organization" | "country" | "locality" | "province" | "street_address" | "postal_code" | "serial_number" | "use_pss" | "key_type" | "key_bits" | "add_basic_constraints")[]
  /** Policies whose requests wait for an approval. The single entry * is all. Not in Vault. */
  readonly manualApproval: string[]
}

/** EST settings of a mount. Deleting the resource disables EST. Its id is `MOUNT/config/est`. */
export const EstConfig: ResourceClass<EstConfigArgs, EstConfigState> = declaredResource<EstConfigArgs, EstConfigState>({
  kind: "estConfig",
  outputs: ["mount", "enabled", "defaultMount", "defaultPathPolicy", "labelToPathPolicy", "authenticators", "enableSentinelParsing", "auditFields", "manualApproval"],
})
export type EstConfig = InstanceType<typeof EstConfig>
