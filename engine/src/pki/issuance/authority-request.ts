// Requested contents of a CA certificate: a root, or an intermediate that is signed here or by another CA
// (https://developer.hashicorp.com/vault/api-docs/secret/pki#generate-root).
import { secondMs } from "../../core/time.ts"
import type { SubjectValues } from "../names/subject.ts"
import type { ValidityRequest } from "./validity.ts"

/** Name constraints for all certificates below the CA (RFC 5280, section 4.2.1.10). Empty list: no constraint. */
export interface NameConstraintLists {
  /** A leading "." limits the entry to subdomains. */
  readonly permittedDnsDomains: readonly string[]
  readonly excludedDnsDomains: readonly string[]
  readonly permittedEmailAddresses: readonly string[]
  readonly excludedEmailAddresses: readonly string[]
  /** IP ranges in CIDR form. */
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
  /** -1: as many intermediates as the issuer allows. */
  readonly maxPathLength: number
  /** Names of key usages in addition to those of every CA. */
  readonly keyUsage: readonly string[]
  /** 0: an algorithm that suits the issuer's key. */
  readonly signatureBits: number
  /** Subject key identifier in hexadecimal. Empty: computed from the key. */
  readonly skid: string
  /** Take the subject, the alternative names and the extensions from the CSR. */
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
