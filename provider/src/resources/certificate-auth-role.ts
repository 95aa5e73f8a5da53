// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/**
 * Rules for logins with client certificates, and the terms of tokens. A member that the program never declared is not managed. A
 * member removed from the program returns to its default. Durations are strings: `10m`, `24h`.
 */
export interface CertificateAuthRoleArgs extends LifecycleArgs {
  /** Path of the auth method, below `auth/`. Example: `devices`. Changing it forces replacement. */
  authMethod: pulumi.Input<string>
  /** Name of the role, in lower case. Default: the resource's name in the program. Changing it forces replacement. */
  name?: pulumi.Input<string>
  /** Certificates as PEM: of CAs whose certificates may log in, or of clients. */
  certificate: pulumi.Input<string>
  /** Common names, DNS names or e-mail addresses. A * stands for any text. Example: `["*.example.com"]`. */
  allowedNames?: pulumi.Input<pulumi.Input<string>[]>
  /** Common names. A * stands for any text. Empty: any. Example: `["printer-*"]`. */
  allowedCommonNames?: pulumi.Input<pulumi.Input<string>[]>
  /** DNS names. A * stands for any text. Empty: any. Example: `["*.example.com"]`. */
  allowedDnsSans?: pulumi.Input<pulumi.Input<string>[]>
  /** E-mail addresses. A * stands for any text. Empty: any. Example: `["*@example.com"]`. */
  allowedEmailSans?: pulumi.Input<pulumi.Input<string>[]>
  /** URIs. A * stands for any text. Empty: any. Example: `["spiffe://example.com/*"]`. */
  allowedUriSans?: pulumi.Input<pulumi.Input<string>[]>
  /** Organizational units. A * stands for any text. Empty: any. Example: `["printing"]`. */
  allowedOrganizationalUnits?: pulumi.Input<pulumi.Input<string>[]>
  /** Extensions, each as OID:value or hex:OID:value. A * stands for any text. Example: `["1.3.6.1.4.1.32473.1:printer-*"]`. */
  requiredExtensions?: pulumi.Input<pulumi.Input<string>[]>
  /** OIDs of extensions that become metadata of tokens. Example: `["1.3.6.1.4.1.32473.1"]`. */
  allowedMetadataExtensions?: pulumi.Input<pulumi.Input<string>[]>
  /** Ask OCSP servers for the status of certificates. Default: false. */
  ocspEnabled?: pulumi.Input<boolean>
  /** Further CAs of OCSP servers, as PEM. Those of the issuer are always accepted. Example: `-----BEGIN CERTIFICATE-----…`. */
  ocspCaCertificates?: pulumi.Input<string>
  /** URLs of OCSP servers. Empty: those that certificates name. Example: `["http://ocsp.example.com"]`. */
  ocspServersOverride?: pulumi.Input<pulumi.Input<string>[]>
  /** Allow logins if no OCSP server knows the status. Default: false. */
  ocspFailOpen?: pulumi.Input<boolean>
  /** Query all OCSP servers, which must agree. Default: false. */
  ocspQueryAllServers?: pulumi.Input<boolean>
  /** Maximum age of OCSP responses. 0: any. Example: `1h`. */
  ocspThisUpdateMaxAge?: pulumi.Input<string>
  /** Retries for each OCSP server, from 0 to 10. Default: 4. Example: 2. */
  ocspMaxRetries?: pulumi.Input<number>
  /** Name in the audit log. Empty: the name of the role. Example: `printers`. */
  displayName?: pulumi.Input<string>
  /** Lifetime of tokens. Null or `0s`: that of the auth method. Example: `1h`. */
  tokenTtl?: pulumi.Input<string | null>
  /** Maximum lifetime of tokens, from the login on. Null or `0s`: that of the auth method. Example: `24h`. */
  tokenMaxTtl?: pulumi.Input<string | null>
  /** Maximum lifetime of tokens, with a period too. Null or `0s`: none. Example: `24h`. */
  tokenExplicitMaxTtl?: pulumi.Input<string | null>
  /** Each renewal lasts this long, any number of times. Null or `0s`: none. Example: `1h`. */
  tokenPeriod?: pulumi.Input<string | null>
  /** Policies of tokens. Example: `["web"]`. */
  tokenPolicies?: pulumi.Input<pulumi.Input<string>[]>
  /** Ranges of addresses that tokens can be used from. Empty: any. Example: `["10.0.0.0/8"]`. */
  tokenBoundCidrs?: pulumi.Input<pulumi.Input<string>[]>
  /** Leave out the policy default. Default: false. */
  tokenNoDefaultPolicy?: pulumi.Input<boolean>
  /** Requests that a token is good for. 0: any number. Default: 0. Example: 10. */
  tokenNumUses?: pulumi.Input<number>
  /** Type of tokens, which are service tokens in any case. Default: `default`. Example: `service`. */
  tokenType?: pulumi.Input<"default" | "default-service" | "service">
  /** Adopt an existing role of this name. Destroying the stack then keeps it unless `deletionPolicy` is set. */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of a role: every rule in force. */
export interface CertificateAuthRoleState extends Adopted {
  /** Path of the auth method, below `auth/`. */
  readonly authMethod: string
  /** Name of the role, in lower case. */
  readonly name: string
  /** Certificates as PEM: of CAs whose certificates may log in, or of clients. */
  readonly certificate: string
  /** Common names, DNS names or e-mail addresses. A * stands for any text. */
  readonly allowedNames: string[]
  /** Common names. A * stands for any text. Empty: any. */
  readonly allowedCommonNames: string[]
  /** DNS names. A * stands for any text. Empty: any. */
  readonly allowedDnsSans: string[]
  /** E-mail addresses. A * stands for any text. Empty: any. */
  readonly allowedEmailSans: string[]
  /** URIs. A * stands for any text. Empty: any. */
  readonly allowedUriSans: string[]
  /** Organizational units. A * stands for any text. Empty: any. */
  readonly allowedOrganizationalUnits: string[]
  /** Extensions, each as OID:value or hex:OID:value. A * stands for any text. */
  readonly requiredExtensions: string[]
  /** OIDs of extensions that become metadata of tokens. */
  readonly allowedMetadataExtensions: string[]
  /** Ask OCSP servers for the status of certificates. */
  readonly ocspEnabled: boolean
  /** Further CAs of OCSP servers, as PEM. Those of the issuer are always accepted. */
  readonly ocspCaCertificates: string
  /** URLs of OCSP servers. Empty: those that certificates name. */
  readonly ocspServersOverride: string[]
  /** Allow logins if no OCSP server knows the status. */
  readonly ocspFailOpen: boolean
  /** Query all OCSP servers, which must agree. */
  readonly ocspQueryAllServers: boolean
  /** Maximum age of OCSP responses. 0: any. */
  readonly ocspThisUpdateMaxAge: string
  /** Retries for each OCSP server, from 0 to 10. */
  readonly ocspMaxRetries: number
  /** Name in the audit log. Empty: the name of the role. */
  readonly displayName: string
  /** Lifetime of tokens. Null or `0s`: that of the auth method. */
  readonly tokenTtl: string | null
  /** Maximum lifetime of tokens, from the login on. Null or `0s`: that of the auth method. */
  readonly tokenMaxTtl: string | null
  /** Maximum lifetime of tokens, with a period too. Null or `0s`: none. */
  readonly tokenExplicitMaxTtl: string | null
  /** Each renewal lasts this long, any number of times. Null or `0s`: none. */
  readonly tokenPeriod: string | null
  /** Policies of tokens. */
  readonly tokenPolicies: string[]
  /** Ranges of addresses that tokens can be used from. Empty: any. */
  readonly tokenBoundCidrs: string[]
  /** Leave out the policy default. */
  readonly tokenNoDefaultPolicy: boolean
  /** Requests that a token is good for. 0: any number. */
  readonly tokenNumUses: number
  /** Type of tokens, which are service tokens in any case. */
  readonly tokenType: "default" | "default-service" | "service"
}

/**
 * A role of an auth method of type `cert`: certificates that may log in, and the terms of their tokens. Its id is
 * `PATH/certs/NAME`, with the path of the method.
 */
export const CertificateAuthRole: ResourceClass<CertificateAuthRoleArgs, CertificateAuthRoleState> = declaredResource<CertificateAuthRoleArgs, CertificateAuthRoleState>({
  kind: "certificateAuthRole",
  outputs: ["authMethod", "name", "certificate", "allowedNames", "allowedCommonNames", "allowedDnsSans", "allowedEmailSans", "allowedUriSans", "allowedOrganizationalUnits", "requiredExtensions", "allowedMetadataExtensions", "ocspEnabled", "ocspCaCertificates", "ocspServersOverride", "ocspFailOpen", "ocspQueryAllServers", "ocspThisUpdateMaxAge", "ocspMaxRetries", "displayName", "tokenTtl", "tokenMaxTtl", "tokenExplicitMaxTtl", "tokenPeriod", "tokenPolicies", "tokenBoundCidrs", "tokenNoDefaultPolicy", "tokenNumUses", "tokenType", "adopted"],
  named: "name",
})
export type CertificateAuthRole = InstanceType<typeof CertificateAuthRole>
