// Arguments and outputs that several kinds of certificates share.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "./lifecycle-args.ts"

export type Texts = pulumi.Input<pulumi.Input<string>[]>

/** Validity of a certificate. Changing any member forces replacement. */
export interface ValidityArgs {
  /**
   * Lifetime, such as `720h` or `30d`. Default: that of the role, else of the mount. Cut to the maximum of the role, else of the
   * mount; the output `expiration` is the end issued.
   */
  ttl?: pulumi.Input<string>
  /** Start of validity (ISO 8601). Default: the time of issuance, backdated by the role. */
  notBefore?: pulumi.Input<string>
  /** End of validity (ISO 8601). Excludes `ttl`. */
  notAfter?: pulumi.Input<string>
}

/** Names of a certificate. Changing any member forces replacement. */
export interface NamesArgs {
  /** Common name (CN) of the subject. */
  commonName?: pulumi.Input<string>
  /** DNS and e-mail SANs. */
  altNames?: Texts
  /** IP SANs. */
  ipSans?: Texts
  /** URI SANs. */
  uriSans?: Texts
  /** Other SANs as `<oid>;UTF8:<value>`. */
  otherSans?: Texts
  /** Do not add the common name to the SANs. Default: false. */
  excludeCnFromSans?: pulumi.Input<boolean>
  /** Serial number in the subject; that of the certificate is the output `serialNumber`. */
  subjectSerialNumber?: pulumi.Input<string>
}

/** Subject and extensions of an authority's certificate. Changing any member forces replacement. */
export interface AuthorityArgs extends NamesArgs, ValidityArgs {
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
  /** How far the certificate is backdated. Default: `30s`. */
  notBeforeDuration?: pulumi.Input<string>
  /** Maximum number of authorities below it. Default (or -1): what its issuer allows. */
  maxPathLength?: pulumi.Input<number>
  /** Name constraints: permitted DNS domains; a leading "." means subdomains only. */
  permittedDnsDomains?: Texts
  /** Name constraints: excluded DNS domains. */
  excludedDnsDomains?: Texts
  /** Name constraints: permitted e-mail addresses or domains. */
  permittedEmailAddresses?: Texts
  /** Name constraints: excluded e-mail addresses or domains. */
  excludedEmailAddresses?: Texts
  /** Name constraints: permitted IP ranges (CIDR). */
  permittedIpRanges?: Texts
  /** Name constraints: excluded IP ranges (CIDR). */
  excludedIpRanges?: Texts
  /** Name constraints: permitted URI domains. */
  permittedUriDomains?: Texts
  /** Name constraints: excluded URI domains. */
  excludedUriDomains?: Texts
  /** Key usages besides `CertSign` and `CRLSign`. */
  keyUsages?: Texts
  /** Bits of the signature's hash: 256, 384 or 512. Default (or 0): chosen by the issuer's key. */
  signatureBits?: pulumi.Input<number>
  /** Sign with RSASSA-PSS if the issuer's key is RSA. Default: false. */
  usePss?: pulumi.Input<boolean>
  /** Subject key identifier (hexadecimal). Default: computed from the key. */
  skid?: pulumi.Input<string>
}

/** Arguments of every issued certificate. */
export interface IssuanceArgs extends Omit<LifecycleArgs, "deletionPolicy"> {
  /** Path of the mount. Default: `chancery:pkiMount`, else `pki`. */
  mount?: pulumi.Input<string>
  /** Issuer that signs, by id or name. Default: that of the role, else the default issuer. */
  issuerRef?: pulumi.Input<string>
  /** Encoding of the outputs: `pem`, `der` (base64), or `pem_bundle` with the chain in `certificate`. Default: `pem`. */
  format?: pulumi.Input<"pem" | "der" | "pem_bundle">
  /** Leave the root out of `caChain`. Default: false. */
  removeRootsFromChain?: pulumi.Input<boolean>
  /**
   * Time before expiry from which `pulumi up` replaces the certificate, such as `168h`; shorter than its lifetime.
   * Default: never.
   */
  renewBefore?: pulumi.Input<string>
}

/** Outputs of every issued certificate. */
export interface IssuanceState {
  /** Path of the mount. */
  readonly mount: string
  /** Serial number of the certificate: hexadecimal octets joined by ":". */
  readonly serialNumber: string
  /** The certificate, in the declared format. */
  readonly certificate: string
  /** Certificate of the issuer. Null if the mount no longer has it. */
  readonly issuingCa: string | null
  /** Chain from the issuer's certificate up. */
  readonly caChain: readonly string[]
  /** End of validity (ISO 8601). */
  readonly expiration: string
  /** Time of revocation (ISO 8601). Null if the certificate is not revoked. */
  readonly revokedAt: string | null
  /** Time before expiry from which the certificate is replaced. Null: never. */
  readonly renewBefore: string | null
  /** What happens to the certificate when it is removed or replaced. */
  readonly onDestroy: "retain" | "revoke" | "revokeWithKey"
}

export const issuanceOutputs = [
  "mount",
  "serialNumber",
  "certificate",
  "issuingCa",
  "caChain",
  "expiration",
  "revokedAt",
  "renewBefore",
  "onDestroy",
] as const satisfies readonly (keyof IssuanceState)[]
