// What the arguments of several certificate kinds have in common.
import type * as pulumi from "@pulumi/pulumi"
import type { LifeArgs } from "./life-args.ts"

export type Texts = pulumi.Input<pulumi.Input<string>[]>

/** When a certificate begins and ends. Another word makes another certificate. */
export interface ValidityArgs {
  /** Lifetime: `720h`, `30d`. The role's, else the mount's, when left out. */
  ttl?: pulumi.Input<string>
  /** ISO 8601; a moment before its issuance when left out. */
  notBefore?: pulumi.Input<string>
  /** ISO 8601, instead of `ttl`. */
  notAfter?: pulumi.Input<string>
}

/** Whom a certificate names. Another word makes another certificate. */
export interface NamesArgs {
  commonName?: pulumi.Input<string>
  /** Host names and e-mail addresses. */
  altNames?: Texts
  ipSans?: Texts
  uriSans?: Texts
  /** `<oid>;UTF8:<value>` */
  otherSans?: Texts
  /** Whether the common name is no alternative name as well. */
  excludeCnFromSans?: pulumi.Input<boolean>
  /** Of the subject; the certificate's own is an output. */
  subjectSerialNumber?: pulumi.Input<string>
}

/** What else an authority's certificate says (specification 4.8). Another word makes another one. */
export interface AuthorityArgs extends NamesArgs, ValidityArgs {
  /** Of the subject, in the order in which the certificate has them, like all lists up to the postal codes. */
  organizationalUnits?: Texts
  organizations?: Texts
  /** Codes of two letters. */
  countries?: Texts
  localities?: Texts
  provinces?: Texts
  streetAddresses?: Texts
  postalCodes?: Texts
  /** How long before its issuance the certificate begins; 30 seconds when left out. */
  notBeforeDuration?: pulumi.Input<string>
  /** How many authorities may stand below it; as many as its issuer leaves room for when left out or -1. */
  maxPathLength?: pulumi.Input<number>
  /** Name constraints; a "." at the beginning stands for subdomains alone. */
  permittedDnsDomains?: Texts
  excludedDnsDomains?: Texts
  permittedEmailAddresses?: Texts
  excludedEmailAddresses?: Texts
  /** In CIDR form. */
  permittedIpRanges?: Texts
  excludedIpRanges?: Texts
  permittedUriDomains?: Texts
  excludedUriDomains?: Texts
  /** Beside those that every authority has. */
  keyUsages?: Texts
  /** 256, 384 or 512; what suits the issuer's key when left out or 0. */
  signatureBits?: pulumi.Input<number>
  /** Of RSA keys: PSS instead of PKCS#1 v1.5. */
  usePss?: pulumi.Input<boolean>
  /** The subject key identifier in hexadecimal; computed from the key when left out. */
  skid?: pulumi.Input<string>
}

export interface IssuanceArgs extends Omit<LifeArgs, "deletionPolicy"> {
  /** Path of the mount. `chancery:pkiMount`, else `pki`, when left out. */
  mount?: pulumi.Input<string>
  /** An issuer's id or name; the role's, else the default issuer, when left out. */
  issuerRef?: pulumi.Input<string>
  /** Of the outputs: `pem` when left out; `der` in base64; `pem_bundle` has all that a server needs in `certificate`. */
  format?: pulumi.Input<"pem" | "der" | "pem_bundle">
  /** Whether `caChain` ends below the root. */
  removeRootsFromChain?: pulumi.Input<boolean>
  /**
   * How long before its end another certificate is to take its place: `168h`. The preview shows it as a replacement from then
   * on. Shorter than what is issued, or every `up` renews; never when left out.
   */
  renewBefore?: pulumi.Input<string>
}
