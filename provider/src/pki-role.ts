import type * as pulumi from "@pulumi/pulumi"
import type { ObservedPkiRole } from "@chancery/engine/declared"
import type { Adopted, LifeArgs } from "./life-args.ts"
import type { Resolved } from "./resolved.ts"
import { declaredResource, type DeclaredResource } from "./shell.ts"

type Texts = pulumi.Input<pulumi.Input<string>[]>

/** A certificate policy with its qualifiers (RFC 5280, section 4.2.1.4). */
export interface PolicyIdentifierArgs {
  /** Object identifier of the policy, such as `1.3.6.1.4.1.44947.1.1.1`. */
  oid: pulumi.Input<string>
  /** Notice to relying parties, at most 200 characters. */
  notice?: pulumi.Input<string>
  /** URI of the certification practice statement. */
  cps?: pulumi.Input<string>
}

/**
 * Rules by which a mount issues certificates. A member that the program never declared is not managed and may be changed
 * elsewhere. A member removed from the program returns to its default. Durations are strings: `30m`, `720h`, `90d`.
 */
export interface PkiRoleArgs extends LifeArgs {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. Changing it forces replacement. */
  mount?: pulumi.Input<string>
  /** Name of the role. Default: the resource's name in the program. Changing it forces replacement. */
  name?: pulumi.Input<string>
  /** Lifetime of certificates that request none. Default (or `0s`): that of the mount. */
  ttl?: pulumi.Input<string>
  /** Maximum lifetime of certificates. Default (or `0s`): that of the mount. */
  maxTtl?: pulumi.Input<string>
  /** How far certificates are backdated. Default: `30s`. */
  notBeforeDuration?: pulumi.Input<string>
  /** Start of validity (ISO 8601). Overrides the request. */
  notBefore?: pulumi.Input<string | null>
  /** Earliest start that requests may ask for: `permit`, `duration`, `forbid`, or a time (ISO 8601). Default: `duration`. */
  notBeforeBound?: pulumi.Input<string>
  /** End of validity (ISO 8601). Overrides the request and every ttl. */
  notAfter?: pulumi.Input<string | null>
  /**
   * Latest end that requests may ask for: `permit`, `ttl-limited` (cut to `maxTtl`), `forbid`, or a time (ISO 8601).
   * Default: `ttl-limited`.
   */
  notAfterBound?: pulumi.Input<string>
  /** Allow `localhost` and related names. Default: true. */
  allowLocalhost?: pulumi.Input<boolean>
  /** Domains; `allowBareDomains`, `allowSubdomains` and `allowGlobDomains` select which of their names are allowed. */
  allowedDomains?: Texts
  /** Expand identity templates such as `{{identity.entity.name}}` in `allowedDomains`. Default: false. */
  allowedDomainsTemplate?: pulumi.Input<boolean>
  /** Allow the domains themselves. Default: false. */
  allowBareDomains?: pulumi.Input<boolean>
  /** Allow subdomains of the domains, wildcards included. Default: false. */
  allowSubdomains?: pulumi.Input<boolean>
  /** Treat `*` in the domains as a glob, such as `ftp*.example.com`. Default: false. */
  allowGlobDomains?: pulumi.Input<boolean>
  /** Allow wildcard certificates (RFC 6125). Default: true. */
  allowWildcardCertificates?: pulumi.Input<boolean>
  /** Allow a `*` beside other characters of a label, such as `w*.example.com`. Default: false. */
  allowPartialWildcards?: pulumi.Input<boolean>
  /** Allow any name. Default: false. */
  allowAnyName?: pulumi.Input<boolean>
  /** Require valid host names in common names, DNS SANs and e-mail addresses. Default: true. */
  enforceHostnames?: pulumi.Input<boolean>
  /** Allow IP SANs. Default: true. */
  allowIpSans?: pulumi.Input<boolean>
  /** Allowed IP ranges (CIDR). Default: any address. */
  allowedIpSansCidr?: Texts
  /** Allowed URI SANs; `*` matches any text. Default: none. */
  allowedUriSans?: Texts
  /** Expand identity templates in `allowedUriSans`. Default: false. */
  allowedUriSansTemplate?: pulumi.Input<boolean>
  /** Let values of identity templates contain `*`. Default: false. */
  allowGlobsInIdentityTemplates?: pulumi.Input<boolean>
  /** Allowed other SANs as `<oid>;UTF8:<glob>`, or the single entry `*`. Default: none. */
  allowedOtherSans?: Texts
  /** Allowed serial numbers of the subject; `*` matches any text. Default: none. */
  allowedSerialNumbers?: Texts
  /** Allowed user IDs of the subject; `*` matches any text. Default: none. */
  allowedUserIds?: Texts
  /** Add the extended key usage `serverAuth`. Default: true. */
  serverFlag?: pulumi.Input<boolean>
  /** Add the extended key usage `clientAuth`. Default: true. */
  clientFlag?: pulumi.Input<boolean>
  /** Add the extended key usage `codeSigning`. Default: false. */
  codeSigningFlag?: pulumi.Input<boolean>
  /** Add the extended key usage `emailProtection`. Default: false. */
  emailProtectionFlag?: pulumi.Input<boolean>
  /** Key usages, in any letter case. Default: `DigitalSignature`, `KeyAgreement` and `KeyEncipherment`. */
  keyUsages?: Texts
  /** Further extended key usages, by name. Default: none. */
  extKeyUsages?: Texts
  /** Further extended key usages, by object identifier. Default: none. */
  extKeyUsageOids?: Texts
  /** Type of keys. Default: `rsa`. `any` accepts every type in signing requests. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519" | "any">
  /** Size of keys in bits. Default (or 0): 2048 for RSA, 256 for EC. */
  keyBits?: pulumi.Input<number>
  /** Public exponents of RSA keys in signing requests: odd numbers from 3 to 2147483647. Default: `[65537]`. */
  allowedRsaExponents?: pulumi.Input<pulumi.Input<number>[]>
  /** Bits of the signature's hash: 256, 384 or 512. Default (or 0): chosen by the issuer's key. */
  signatureBits?: pulumi.Input<number>
  /** Sign with RSASSA-PSS if the issuer's key is RSA. Default: false. */
  usePss?: pulumi.Input<boolean>
  /** Take the common name from the CSR. Default: true. */
  useCsrCommonName?: pulumi.Input<boolean>
  /** Take the SANs from the CSR. Default: true. */
  useCsrSans?: pulumi.Input<boolean>
  /** Source of the subject's serial number: the request (`json`), or the request and the CSR (`json-csr`). Default: `json-csr`. */
  serialNumberSource?: pulumi.Input<"json" | "json-csr">
  /** Require a common name. Default: true. */
  requireCn?: pulumi.Input<boolean>
  /** Checks of the common name; `disabled` excludes the others. Default: `email` and `hostname`. */
  cnValidations?: pulumi.Input<pulumi.Input<"email" | "hostname" | "disabled">[]>
  /** Organizational units (OU) of the subject. */
  organizationalUnits?: Texts
  /** Organizations (O) of the subject. */
  organizations?: Texts
  /** Countries (C) of the subject, as codes of two letters. */
  countries?: Texts
  /** Localities (L) of the subject. */
  localities?: Texts
  /** States or provinces (ST) of the subject. */
  provinces?: Texts
  /** Street addresses of the subject. */
  streetAddresses?: Texts
  /** Postal codes of the subject. */
  postalCodes?: Texts
  /** Certificate policies, as object identifiers or with qualifiers. */
  policyIdentifiers?: pulumi.Input<pulumi.Input<string | PolicyIdentifierArgs>[]>
  /** Add basicConstraints CA:FALSE to leaf certificates. Default: false. */
  basicConstraintsValidForNonCa?: pulumi.Input<boolean>
  /** Issuer that signs: its id or name, or `default`. Default: `default`. */
  issuerRef?: pulumi.Input<string>
  /** Attach a lease to each certificate. Excludes `noStore`. Default: false. */
  generateLease?: pulumi.Input<boolean>
  /** Do not store certificates; they cannot be revoked by serial number. Default: false. */
  noStore?: pulumi.Input<boolean>
  /** Do not store metadata of certificates. Default: false. */
  noStoreMetadata?: pulumi.Input<boolean>
  /** Adopt an existing role of this name. Destroying the stack then keeps it unless `deletionPolicy` is set. */
  adopt?: pulumi.Input<boolean>
}

/** A certificate policy with its qualifiers (RFC 5280, section 4.2.1.4). */
export interface PolicyIdentifier {
  /** Object identifier of the policy. */
  readonly oid: string
  /** Notice to relying parties. */
  readonly notice?: string | undefined
  /** URI of the certification practice statement. */
  readonly cps?: string | undefined
}

/** Outputs of a role: every rule in force. */
export interface PkiRoleState
  extends Resolved<Omit<PkiRoleArgs, keyof LifeArgs | "adopt" | "policyIdentifiers">>, Adopted {
  /** Certificate policies, as object identifiers or with qualifiers. */
  readonly policyIdentifiers: (string | PolicyIdentifier)[]
}

const outputs = [
  "mount",
  "name",
  "ttl",
  "maxTtl",
  "notBeforeDuration",
  "notBefore",
  "notBeforeBound",
  "notAfter",
  "notAfterBound",
  "allowLocalhost",
  "allowedDomains",
  "allowedDomainsTemplate",
  "allowBareDomains",
  "allowSubdomains",
  "allowGlobDomains",
  "allowWildcardCertificates",
  "allowPartialWildcards",
  "allowAnyName",
  "enforceHostnames",
  "allowIpSans",
  "allowedIpSansCidr",
  "allowedUriSans",
  "allowedUriSansTemplate",
  "allowGlobsInIdentityTemplates",
  "allowedOtherSans",
  "allowedSerialNumbers",
  "allowedUserIds",
  "serverFlag",
  "clientFlag",
  "codeSigningFlag",
  "emailProtectionFlag",
  "keyUsages",
  "extKeyUsages",
  "extKeyUsageOids",
  "keyType",
  "keyBits",
  "allowedRsaExponents",
  "signatureBits",
  "usePss",
  "useCsrCommonName",
  "useCsrSans",
  "serialNumberSource",
  "requireCn",
  "cnValidations",
  "organizationalUnits",
  "organizations",
  "countries",
  "localities",
  "provinces",
  "streetAddresses",
  "postalCodes",
  "policyIdentifiers",
  "basicConstraintsValidForNonCa",
  "issuerRef",
  "generateLease",
  "noStore",
  "noStoreMetadata",
  "adopted",
] as const satisfies readonly (keyof PkiRoleState)[]

/** A role of a mount. Its id is `MOUNT/roles/NAME`. */
export const PkiRole: DeclaredResource<PkiRoleArgs, PkiRoleState> = declaredResource<
  PkiRoleArgs,
  PkiRoleState,
  ObservedPkiRole
>({ kind: "pkiRole", outputs, named: "name" })
export type PkiRole = InstanceType<typeof PkiRole>
