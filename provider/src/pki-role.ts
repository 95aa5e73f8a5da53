import type * as pulumi from "@pulumi/pulumi"
import type { ObservedPkiRole } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource, gettable } from "./shell.ts"

type Texts = pulumi.Input<pulumi.Input<string>[]>

/** A certificate policy with its qualifiers (RFC 5280, section 4.2.1.4). */
export interface PolicyIdentifierArgs {
  oid: pulumi.Input<string>
  /** Shown to those who rely on the certificate; at most 200 characters. */
  notice?: pulumi.Input<string>
  /** URI of the certification practice statement. */
  cps?: pulumi.Input<string>
}

/**
 * The rules by which a mount issues certificates (specification 2.1). One that was never declared is not managed: it may be
 * changed elsewhere. One that is declared no longer goes back to what a new role has. Durations are text: `30m`, `720h`, `90d`.
 */
export interface PkiRoleArgs extends LifeArgs {
  /** Path of the mount. `chancery:pkiMount`, else `pki`, when left out. Another one makes another role. */
  mount?: pulumi.Input<string>
  /** The resource's name in the program when left out. Another one makes another role. */
  name?: pulumi.Input<string>
  /** Lifetime of what asks for none; the mount's when left out or `0s`. */
  ttl?: pulumi.Input<string>
  /** No lifetime is longer; the mount's when left out or `0s`. */
  maxTtl?: pulumi.Input<string>
  /** How long before its issuance a certificate begins; 30 seconds when left out. */
  notBeforeDuration?: pulumi.Input<string>
  /** ISO 8601; beats what a request says. */
  notBefore?: pulumi.Input<string | null>
  /** `permit`, `duration`, `forbid`, or an instant: how early a request may begin. */
  notBeforeBound?: pulumi.Input<string>
  /** ISO 8601; beats what a request says, and every ttl. */
  notAfter?: pulumi.Input<string | null>
  /** `permit`, `ttl-limited`, `forbid`, or an instant: how late a request may end. */
  notAfterBound?: pulumi.Input<string>
  /** True when left out. */
  allowLocalhost?: pulumi.Input<boolean>
  /** With `allowBareDomains`, `allowSubdomains` or `allowGlobDomains`, which say what of them is allowed. */
  allowedDomains?: Texts
  allowedDomainsTemplate?: pulumi.Input<boolean>
  allowBareDomains?: pulumi.Input<boolean>
  allowSubdomains?: pulumi.Input<boolean>
  allowGlobDomains?: pulumi.Input<boolean>
  /** True when left out. */
  allowWildcardCertificates?: pulumi.Input<boolean>
  allowAnyName?: pulumi.Input<boolean>
  /** True when left out. */
  enforceHostnames?: pulumi.Input<boolean>
  /** True when left out. */
  allowIpSans?: pulumi.Input<boolean>
  /** Ranges in CIDR form; any address when left out or empty. */
  allowedIpSansCidr?: Texts
  /** `*` stands for anything. */
  allowedUriSans?: Texts
  allowedUriSansTemplate?: pulumi.Input<boolean>
  allowGlobsInIdentityTemplates?: pulumi.Input<boolean>
  /** `<oid>;UTF8:<glob>`, or the one entry `*`. */
  allowedOtherSans?: Texts
  allowedSerialNumbers?: Texts
  allowedUserIds?: Texts
  /** True when left out. */
  serverFlag?: pulumi.Input<boolean>
  /** True when left out. */
  clientFlag?: pulumi.Input<boolean>
  codeSigningFlag?: pulumi.Input<boolean>
  emailProtectionFlag?: pulumi.Input<boolean>
  /** `DigitalSignature`, `KeyAgreement` and `KeyEncipherment` when left out; the case of their letters says nothing. */
  keyUsages?: Texts
  extKeyUsages?: Texts
  extKeyUsageOids?: Texts
  /** `rsa` when left out. */
  keyType?: pulumi.Input<"rsa" | "ec" | "ed25519" | "any">
  /** What is usual for the type when left out or 0. */
  keyBits?: pulumi.Input<number>
  /** 256, 384 or 512; what suits the issuer's key when left out or 0. */
  signatureBits?: pulumi.Input<number>
  usePss?: pulumi.Input<boolean>
  /** True when left out. */
  useCsrCommonName?: pulumi.Input<boolean>
  /** True when left out. */
  useCsrSans?: pulumi.Input<boolean>
  /** Where the serial number of a subject may come from; `json-csr` when left out. */
  serialNumberSource?: pulumi.Input<"json" | "json-csr">
  /** True when left out. */
  requireCn?: pulumi.Input<boolean>
  /** What a common name has to be; `disabled` stands alone. `email` and `hostname` when left out. */
  cnValidations?: pulumi.Input<pulumi.Input<"email" | "hostname" | "disabled">[]>
  /** Members of every subject, in the order in which certificates have them. */
  organizationalUnits?: Texts
  organizations?: Texts
  /** Codes of two letters. */
  countries?: Texts
  localities?: Texts
  provinces?: Texts
  streetAddresses?: Texts
  postalCodes?: Texts
  policyIdentifiers?: pulumi.Input<pulumi.Input<string | PolicyIdentifierArgs>[]>
  basicConstraintsValidForNonCa?: pulumi.Input<boolean>
  /** An issuer's id or name, or `default`, which it is when left out. */
  issuerRef?: pulumi.Input<string>
  /** Excludes `noStore`. */
  generateLease?: pulumi.Input<boolean>
  /** Keeps no record of what is issued, so that it cannot be revoked by serial number. */
  noStore?: pulumi.Input<boolean>
  noStoreMetadata?: pulumi.Input<boolean>
  /** Takes over a role that is there already; it is left there at the end, unless `deletionPolicy` says more. */
  adopt?: pulumi.Input<boolean>
}

/** What a state has of a role: every rule as it is in force. */
export type PkiRoleState = ObservedPkiRole & { readonly adopted: boolean }

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
export const PkiRole = gettable(
  declaredResource<PkiRoleArgs, PkiRoleState>({ kind: "pkiRole", outputs, named: "name" }),
)
export type PkiRole = InstanceType<typeof PkiRole>
