// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/** A certificate policy with its qualifiers (RFC 5280, section 4.2.1.4). */
export interface PolicyIdentifierArgs {
  /** Object identifier of the policy, such as `1.3.6.1.4.1.44947.1.1.1`. */
  oid: pulumi.Input<string>
  /** User notice in the certificate policies of the certificate (RFC 5280), at most 200 characters. */
  notice?: pulumi.Input<string>
  /** URI of the certification practice statement. */
  cps?: pulumi.Input<string>
}

/** A certificate policy with its qualifiers (RFC 5280, section 4.2.1.4). */
export interface PolicyIdentifierState {
  /** Object identifier of the policy, such as `1.3.6.1.4.1.44947.1.1.1`. */
  readonly oid: string
  /** User notice in the certificate policies of the certificate (RFC 5280), at most 200 characters. */
  readonly notice?: string | undefined
  /** URI of the certification practice statement. */
  readonly cps?: string | undefined
}

/**
 * Rules by which a mount issues certificates. A member that the program never declared is not managed and may be changed
 * elsewhere. A member removed from the program returns to its default. Durations are strings: `30m`, `720h`, `90d`.
 */
export interface PkiRoleArgs extends LifecycleArgs {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. Changing it forces replacement. */
  mount?: pulumi.Input<string>
  /** Name of the role. Default: the resource's name in the program. Changing it forces replacement. */
  name?: pulumi.Input<string>
  /** Lifetime of certificates whose request has no ttl. 0s: the default of the mount. At most maxTtl. Example: `72h`. */
  ttl?: pulumi.Input<string>
  /** Maximum lifetime. A longer ttl is cut to it, with a warning. 0s: the maximum of the mount. Example: `720h`. */
  maxTtl?: pulumi.Input<string>
  /** Back-dating of notBefore. Default: `30s`. Example: `5m`. */
  notBeforeDuration?: pulumi.Input<string>
  /** notBefore of every certificate. Overrides the request and notBeforeDuration. Example: `2030-01-31T12:00:00Z`. */
  notBefore?: pulumi.Input<string | null>
  /**
   * Earliest notBefore of a request: permit (any), duration (now less notBeforeDuration), forbid, or a time. Default:
   * `duration`. Example: `forbid`.
   */
  notBeforeBound?: pulumi.Input<string>
  /** notAfter of every certificate. Overrides the request and every ttl. Example: `2031-01-31T12:00:00Z`. */
  notAfter?: pulumi.Input<string | null>
  /**
   * Latest notAfter of a request: permit (any), ttl-limited (cut to maxTtl, with a warning), forbid, or a time, which bounds a
   * ttl too. Default: `ttl-limited`. Example: `permit`.
   */
  notAfterBound?: pulumi.Input<string>
  /** Allow localhost and localdomain. Default: true. */
  allowLocalhost?: pulumi.Input<boolean>
  /** Domains that allowBareDomains, allowSubdomains and allowGlobDomains apply to. Example: `["example.com"]`. */
  allowedDomains?: pulumi.Input<pulumi.Input<string>[]>
  /** Fill in identity templates in allowedDomains. Default: false. */
  allowedDomainsTemplate?: pulumi.Input<boolean>
  /** Allow the entries of allowedDomains themselves. Default: false. */
  allowBareDomains?: pulumi.Input<boolean>
  /** Allow subdomains of the entries of allowedDomains. Default: false. */
  allowSubdomains?: pulumi.Input<boolean>
  /** Allow names that match an entry of allowedDomains with a *, which stands for any text with dots. Default: false. */
  allowGlobDomains?: pulumi.Input<boolean>
  /** Allow names with a wildcard. Default: true. */
  allowWildcardCertificates?: pulumi.Input<boolean>
  /** Allow a * beside other characters of a label, such as w*.example.com (RFC 9525, section 6.3). Default: false. */
  allowPartialWildcards?: pulumi.Input<boolean>
  /** Allow every well-formed name. Default: false. */
  allowAnyName?: pulumi.Input<boolean>
  /** Require host names or e-mail addresses. Default: true. */
  enforceHostnames?: pulumi.Input<boolean>
  /** Allow IP SANs. Default: true. */
  allowIpSans?: pulumi.Input<boolean>
  /** CIDR ranges of IP SANs. Empty: any address. Example: `["10.0.0.0/8"]`. */
  allowedIpSansCidr?: pulumi.Input<pulumi.Input<string>[]>
  /** Allowed URI SANs. A * stands for any text. Empty: none. Example: `["spiffe://example.com/*"]`. */
  allowedUriSans?: pulumi.Input<pulumi.Input<string>[]>
  /** Fill in identity templates in allowedUriSans. Default: false. */
  allowedUriSansTemplate?: pulumi.Input<boolean>
  /** Treat a * in the values of an identity as a wildcard in templates. Default: false. */
  allowGlobsInIdentityTemplates?: pulumi.Input<boolean>
  /**
   * Allowed other SANs as <oid>;UTF8:<value>. A * stands for any text; the single entry * allows all. Empty: none. Example:
   * `["1.3.6.1.4.1.311.20.2.3;UTF8:*@example.com"]`.
   */
  allowedOtherSans?: pulumi.Input<pulumi.Input<string>[]>
  /** Allowed serial numbers in the subject. A * stands for any text. Empty: none. Example: `["host-*"]`. */
  allowedSerialNumbers?: pulumi.Input<pulumi.Input<string>[]>
  /** Allowed user ids in the subject. A * stands for any text. Empty: none. Example: `["ada"]`. */
  allowedUserIds?: pulumi.Input<pulumi.Input<string>[]>
  /** Add the extended key usage serverAuth. Default: true. */
  serverFlag?: pulumi.Input<boolean>
  /** Add the extended key usage clientAuth. Default: true. */
  clientFlag?: pulumi.Input<boolean>
  /** Add the extended key usage codeSigning. Default: false. */
  codeSigningFlag?: pulumi.Input<boolean>
  /** Add the extended key usage emailProtection. Default: false. */
  emailProtectionFlag?: pulumi.Input<boolean>
  /**
   * Key usages, such as DigitalSignature. Unknown names are ignored. Empty: no extension. Default: `DigitalSignature`,
   * `KeyAgreement`, `KeyEncipherment`. Example: `["DigitalSignature"]`.
   */
  keyUsages?: pulumi.Input<pulumi.Input<string>[]>
  /** Extended key usages, such as ServerAuth. Unknown names are ignored. Example: `["ServerAuth"]`. */
  extKeyUsages?: pulumi.Input<pulumi.Input<string>[]>
  /** Extended key usages as object identifiers. Example: `["1.3.6.1.5.5.7.3.17"]`. */
  extKeyUsageOids?: pulumi.Input<pulumi.Input<string>[]>
  /** Type of keys: rsa, ec, ed25519, or any. With any, requests to issue need keyType. Default: `rsa`. Example: `ec`. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519" | "any">
  /** Size of keys: rsa 2048, 3072, 4096 or 8192; ec 224, 256, 384 or 521. 0: 2048 or 256. Default: 0. Example: 256. */
  keyBits?: pulumi.Input<number>
  /** Hash of signatures by RSA issuers: 256, 384 or 512. 0: chosen by the key. Default: 0. Example: 384. */
  signatureBits?: pulumi.Input<number>
  /** Public exponents of RSA keys in CSRs. Default: 65537. Example: `[3,65537]`. */
  allowedRsaExponents?: pulumi.Input<pulumi.Input<number>[]>
  /** Sign with PSS if the issuer has an RSA key. Default: false. */
  usePss?: pulumi.Input<boolean>
  /** Take the common name of a CSR, if it has one. Default: true. */
  useCsrCommonName?: pulumi.Input<boolean>
  /** Take the SANs of a CSR and ignore those of the request. Default: true. */
  useCsrSans?: pulumi.Input<boolean>
  /**
   * Source of the serial number in the subject: json (the request), or json-csr (the request, else the CSR). Default:
   * `json-csr`. Example: `json`.
   */
  serialNumberSource?: pulumi.Input<"json" | "json-csr">
  /** Require a common name. Default: true. */
  requireCn?: pulumi.Input<boolean>
  /**
   * Allowed forms of the common name: email, hostname, or disabled alone, which skips their checks. Default: `email`,
   * `hostname`. Example: `["hostname"]`.
   */
  cnValidations?: pulumi.Input<pulumi.Input<"email" | "hostname" | "disabled">[]>
  /** Organizational units (OU) of the subject. Example: `["Platform"]`. */
  organizationalUnits?: pulumi.Input<pulumi.Input<string>[]>
  /** Organizations (O) of the subject. Example: `["Example Ltd"]`. */
  organizations?: pulumi.Input<pulumi.Input<string>[]>
  /** Countries (C) of the subject, as codes of two letters. Example: `["NO"]`. */
  countries?: pulumi.Input<pulumi.Input<string>[]>
  /** Localities (L) of the subject. Example: `["Oslo"]`. */
  localities?: pulumi.Input<pulumi.Input<string>[]>
  /** States or provinces (ST) of the subject. Example: `["Oslo"]`. */
  provinces?: pulumi.Input<pulumi.Input<string>[]>
  /** Street addresses of the subject. Example: `["Main Street 1"]`. */
  streetAddresses?: pulumi.Input<pulumi.Input<string>[]>
  /** Postal codes of the subject. Example: `["0150"]`. */
  postalCodes?: pulumi.Input<pulumi.Input<string>[]>
  /** Certificate policies: object identifiers, or objects with oid, notice and cps. Example: `["2.23.140.1.2.1"]`. */
  policyIdentifiers?: pulumi.Input<pulumi.Input<string | PolicyIdentifierArgs>[]>
  /** Add basicConstraints CA:FALSE. Default: false. */
  basicConstraintsValidForNonCa?: pulumi.Input<boolean>
  /** Issuer that signs: name, id or default. Resolved at each use. Default: `default`. Example: `issuing-2030`. */
  issuerRef?: pulumi.Input<string>
  /** Make a lease for every stored certificate. Default: false. */
  generateLease?: pulumi.Input<boolean>
  /** Do not store certificates. They can be revoked only by presenting the certificate. Default: false. */
  noStore?: pulumi.Input<boolean>
  /** Refuse cert_metadata. Default: false. */
  noStoreMetadata?: pulumi.Input<boolean>
  /** Adopt an existing role of this name. Destroying the stack then keeps it unless `deletionPolicy` is set. */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of a role: every rule in force. */
export interface PkiRoleState extends Adopted {
  /** Path of the mount. */
  readonly mount: string
  /** Name of the role. */
  readonly name: string
  /** Lifetime of certificates whose request has no ttl. 0s: the default of the mount. At most maxTtl. */
  readonly ttl: string
  /** Maximum lifetime. A longer ttl is cut to it, with a warning. 0s: the maximum of the mount. */
  readonly maxTtl: string
  /** Back-dating of notBefore. */
  readonly notBeforeDuration: string
  /** notBefore of every certificate. Overrides the request and notBeforeDuration. */
  readonly notBefore: string | null
  /** Earliest notBefore of a request: permit (any), duration (now less notBeforeDuration), forbid, or a time. */
  readonly notBeforeBound: string
  /** notAfter of every certificate. Overrides the request and every ttl. */
  readonly notAfter: string | null
  /**
   * Latest notAfter of a request: permit (any), ttl-limited (cut to maxTtl, with a warning), forbid, or a time, which bounds a
   * ttl too.
   */
  readonly notAfterBound: string
  /** Allow localhost and localdomain. */
  readonly allowLocalhost: boolean
  /** Domains that allowBareDomains, allowSubdomains and allowGlobDomains apply to. */
  readonly allowedDomains: string[]
  /** Fill in identity templates in allowedDomains. */
  readonly allowedDomainsTemplate: boolean
  /** Allow the entries of allowedDomains themselves. */
  readonly allowBareDomains: boolean
  /** Allow subdomains of the entries of allowedDomains. */
  readonly allowSubdomains: boolean
  /** Allow names that match an entry of allowedDomains with a *, which stands for any text with dots. */
  readonly allowGlobDomains: boolean
  /** Allow names with a wildcard. */
  readonly allowWildcardCertificates: boolean
  /** Allow a * beside other characters of a label, such as w*.example.com (RFC 9525, section 6.3). */
  readonly allowPartialWildcards: boolean
  /** Allow every well-formed name. */
  readonly allowAnyName: boolean
  /** Require host names or e-mail addresses. */
  readonly enforceHostnames: boolean
  /** Allow IP SANs. */
  readonly allowIpSans: boolean
  /** CIDR ranges of IP SANs. Empty: any address. */
  readonly allowedIpSansCidr: string[]
  /** Allowed URI SANs. A * stands for any text. Empty: none. */
  readonly allowedUriSans: string[]
  /** Fill in identity templates in allowedUriSans. */
  readonly allowedUriSansTemplate: boolean
  /** Treat a * in the values of an identity as a wildcard in templates. */
  readonly allowGlobsInIdentityTemplates: boolean
  /** Allowed other SANs as <oid>;UTF8:<value>. A * stands for any text; the single entry * allows all. Empty: none. */
  readonly allowedOtherSans: string[]
  /** Allowed serial numbers in the subject. A * stands for any text. Empty: none. */
  readonly allowedSerialNumbers: string[]
  /** Allowed user ids in the subject. A * stands for any text. Empty: none. */
  readonly allowedUserIds: string[]
  /** Add the extended key usage serverAuth. */
  readonly serverFlag: boolean
  /** Add the extended key usage clientAuth. */
  readonly clientFlag: boolean
  /** Add the extended key usage codeSigning. */
  readonly codeSigningFlag: boolean
  /** Add the extended key usage emailProtection. */
  readonly emailProtectionFlag: boolean
  /** Key usages, such as DigitalSignature. Unknown names are ignored. Empty: no extension. */
  readonly keyUsages: string[]
  /** Extended key usages, such as ServerAuth. Unknown names are ignored. */
  readonly extKeyUsages: string[]
  /** Extended key usages as object identifiers. */
  readonly extKeyUsageOids: string[]
  /** Type of keys: rsa, ec, ed25519, or any. With any, requests to issue need keyType. */
  readonly keyType: "rsa" | "ec" | "ed25519" | "any"
  /** Size of keys: rsa 2048, 3072, 4096 or 8192; ec 224, 256, 384 or 521. 0: 2048 or 256. */
  readonly keyBits: number
  /** Hash of signatures by RSA issuers: 256, 384 or 512. 0: chosen by the key. */
  readonly signatureBits: number
  /** Public exponents of RSA keys in CSRs. */
  readonly allowedRsaExponents: number[]
  /** Sign with PSS if the issuer has an RSA key. */
  readonly usePss: boolean
  /** Take the common name of a CSR, if it has one. */
  readonly useCsrCommonName: boolean
  /** Take the SANs of a CSR and ignore those of the request. */
  readonly useCsrSans: boolean
  /** Source of the serial number in the subject: json (the request), or json-csr (the request, else the CSR). */
  readonly serialNumberSource: "json" | "json-csr"
  /** Require a common name. */
  readonly requireCn: boolean
  /** Allowed forms of the common name: email, hostname, or disabled alone, which skips their checks. */
  readonly cnValidations: ("email" | "hostname" | "disabled")[]
  /** Organizational units (OU) of the subject. */
  readonly organizationalUnits: string[]
  /** Organizations (O) of the subject. */
  readonly organizations: string[]
  /** Countries (C) of the subject, as codes of two letters. */
  readonly countries: string[]
  /** Localities (L) of the subject. */
  readonly localities: string[]
  /** States or provinces (ST) of the subject. */
  readonly provinces: string[]
  /** Street addresses of the subject. */
  readonly streetAddresses: string[]
  /** Postal codes of the subject. */
  readonly postalCodes: string[]
  /** Certificate policies: object identifiers, or objects with oid, notice and cps. */
  readonly policyIdentifiers: (string | PolicyIdentifierState)[]
  /** Add basicConstraints CA:FALSE. */
  readonly basicConstraintsValidForNonCa: boolean
  /** Issuer that signs: name, id or default. Resolved at each use. */
  readonly issuerRef: string
  /** Make a lease for every stored certificate. */
  readonly generateLease: boolean
  /** Do not store certificates. They can be revoked only by presenting the certificate. */
  readonly noStore: boolean
  /** Refuse cert_metadata. */
  readonly noStoreMetadata: boolean
}

/** A role of a mount. Its id is `MOUNT/roles/NAME`. */
export const PkiRole: ResourceClass<PkiRoleArgs, PkiRoleState> = declaredResource<PkiRoleArgs, PkiRoleState>({
  kind: "pkiRole",
  outputs: ["mount", "name", "ttl", "maxTtl", "notBeforeDuration", "notBefore", "notBeforeBound", "notAfter", "notAfterBound", "allowLocalhost", "allowedDomains", "allowedDomainsTemplate", "allowBareDomains", "allowSubdomains", "allowGlobDomains", "allowWildcardCertificates", "allowPartialWildcards", "allowAnyName", "enforceHostnames", "allowIpSans", "allowedIpSansCidr", "allowedUriSans", "allowedUriSansTemplate", "allowGlobsInIdentityTemplates", "allowedOtherSans", "allowedSerialNumbers", "allowedUserIds", "serverFlag", "clientFlag", "codeSigningFlag", "emailProtectionFlag", "keyUsages", "extKeyUsages", "extKeyUsageOids", "keyType", "keyBits", "signatureBits", "allowedRsaExponents", "usePss", "useCsrCommonName", "useCsrSans", "serialNumberSource", "requireCn", "cnValidations", "organizationalUnits", "organizations", "countries", "localities", "provinces", "streetAddresses", "postalCodes", "policyIdentifiers", "basicConstraintsValidForNonCa", "issuerRef", "generateLease", "noStore", "noStoreMetadata", "adopted"],
  named: "name",
})
export type PkiRole = InstanceType<typeof PkiRole>
