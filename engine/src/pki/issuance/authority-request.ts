// Requested contents of a CA certificate: a root, or an intermediate that is signed here or by another authority
// (https://developer.hashicorp.com/vault/api-docs/secret/pki#generate-root).
import { secondMs } from "../../core/time.ts"
import type { SubjectValues } from "../names/subject.ts"
import type { ValidityRequest } from "./validity.ts"

/** Of the names in every certificate further down (RFC 5280, section 4.2.1.10). Each list empty: no constraint. */
export interface NameConstraintLists {
  /** A "." at the beginning stands for the subdomains alone. */
  readonly permittedDnsDomains: readonly string[]
  readonly excludedDnsDomains: readonly string[]
  readonly permittedEmailAddresses: readonly string[]
  readonly excludedEmailAddresses: readonly string[]
  /** In CIDR form. */
  readonly permittedIpRanges: readonly string[]
  readonly excludedIpRanges: readonly string[]
  readonly permittedUriDomains: readonly string[]
  readonly excludedUriDomains: readonly string[]
}

export interface AuthorityRequest extends ValidityRequest, SubjectValues, NameConstraintLists {
  readonly altNames: readonly string[]
  readonly ipSans: readonly string[]
  readonly uriSans: readonly string[]
  /** `<oid>;UTF8:<value>`. */
  readonly otherSans: readonly string[]
  readonly excludeCnFromSans: boolean
  readonly notBeforeDurationMs: number
  /** -1: as many intermediates as the issuer leaves room for. */
  readonly maxPathLength: number
  /** Names of key usages beside those that every authority has. */
  readonly keyUsage: readonly string[]
  /** 0: what suits the issuer's key. */
  readonly signatureBits: number
  /** The subject key identifier in hexadecimal; empty: computed from the key. */
  readonly skid: string
  /** Whether the subject, the alternative names and the extensions are the CSR's. */
  readonly useCsrValues: boolean
}

export const authorityRequestDefaults: AuthorityRequest = {
  country: [],
  organization: [],
  ou: [],
  locality: [],
  province: [],
  streetAddress: [],
  postalCode: [],
  commonName: "",
  serialNumber: "",
  userIds: [],
  altNames: [],
  ipSans: [],
  uriSans: [],
  otherSans: [],
  excludeCnFromSans: false,
  ttlMs: 0,
  notBefore: null,
  notAfter: null,
  notBeforeDurationMs: 30 * secondMs,
  maxPathLength: -1,
  permittedDnsDomains: [],
  excludedDnsDomains: [],
  permittedEmailAddresses: [],
  excludedEmailAddresses: [],
  permittedIpRanges: [],
  excludedIpRanges: [],
  permittedUriDomains: [],
  excludedUriDomains: [],
  keyUsage: [],
  signatureBits: 0,
  skid: "",
  useCsrValues: false,
}
