import type { IssuerId } from "../../core/ids.ts"
import type { Instant, InstantOrOffset } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type {
  CertificateMetadataRecord as StoredMetadata,
  CertificatePageRequest,
  CertificateQuery,
  InventoryStatus,
} from "./certificate.ts"
import type { VerbatimRequest } from "../policy/approve-verbatim.ts"
import type { AuthorityRequest } from "./authority-request.ts"
import type { KeyPage } from "../mounts/key-page.ts"
import type { CertificateDetails } from "./certificate-details.ts"
import type { IssueRequestInput } from "./issue-request.ts"

/** Result of issuing and signing, in bytes. The wire codecs encode it. */
export interface IssuedCertificate {
  /** DER. */
  readonly certificate: Uint8Array
  /** DER. */
  readonly issuingCa: Uint8Array
  /** DER; begins with the issuer's certificate. */
  readonly caChain: readonly Uint8Array[]
  readonly serialNumber: SerialNumber
  readonly notBefore: Instant
  readonly notAfter: Instant
  /** Present if the server generated the key. It is not stored. */
  readonly privateKey: PrivateKey | undefined
  readonly lease: CertificateLease | undefined
  readonly warnings: readonly string[]
}

/** Lease until the expiry of a certificate, with the id `<mount>/issue/<role>/<uuid>` (docs/authorities.md, "Leases"). */
export interface CertificateLease {
  readonly id: string
  readonly durationMs: number
}

/** Issued certificate inside the server. */
export interface ServedCertificate extends IssuedCertificate {
  /** A lease can be looked up, and revoked together with its certificate, only if it is stored (`isKept`). */
  readonly lease: (CertificateLease & { readonly isKept: boolean }) | undefined
}

/** Options for the form of the result. */
export interface IssuanceOptions {
  /** Leave self-signed certificates out of the chain. */
  readonly removeRootsFromChain?: boolean
}

/** Rules of the native dialect that the vault dialect lifts (docs/dialects.md). */
export interface IssueOptions {
  /** Accept requests without a common name, which take names from the CSR and the other members. */
  readonly isCommonNameOptional: boolean
}

export const noAllowances: IssueOptions = { isCommonNameOptional: false }

/** Input of `issue`. */
export interface IssueInput extends IssueRequestInput, IssuanceOptions {}

/** Input of `sign`. The certificate is for the key of the CSR. */
export interface SignInput extends IssueInput {
  /** PEM. */
  readonly csr: string
}

/** Input of sign-verbatim. Usages apply only if the CSR has none. */
export interface SignVerbatimInput extends Partial<VerbatimRequest>, IssuanceOptions {
  /** PEM. */
  readonly csr: string
  readonly usePss?: boolean
  /**
   * Apply the issuer's `leaf_not_after_behavior` to a certificate that would outlive it. False: cut the validity, unless that is
   * `always_enforce_err`.
   */
  readonly enforceLeafNotAfterBehavior?: boolean
}

/** Input of sign-intermediate. */
export interface SignIntermediateInput extends Partial<AuthorityRequest>, IssuanceOptions {
  /** PEM. */
  readonly csr: string
  readonly usePss?: boolean
  /**
   * Apply the issuer's `leaf_not_after_behavior` to a CA that would outlive it. False: cut the validity, unless that is
   * `always_enforce_err`.
   */
  readonly enforceLeafNotAfterBehavior?: boolean
}

export interface SignSelfIssuedInput {
  /** PEM of a single certificate. */
  readonly certificate: string
  readonly requireMatchingCertificateAlgorithms?: boolean
}

export interface SignedSelfIssued {
  /** DER. */
  readonly certificate: Uint8Array
  /** DER. */
  readonly issuingCa: Uint8Array
}

export interface IssuerChoice {
  /** Overrides the issuer of the role. */
  readonly issuerRef?: string
}

export type CertificateMetadata = Omit<StoredMetadata, "mountId">

export interface CertificateView {
  /** DER. */
  readonly certificate: Uint8Array
  readonly serialNumber: SerialNumber
  readonly issuerId: IssuerId | null
  readonly revokedAt: Instant | null
}

/** A certificate in the inventory. */
export interface InventoryEntry {
  readonly serialNumber: SerialNumber
  readonly commonName: string
  /** Common name and subject alternative names. */
  readonly names: readonly string[]
  readonly issuerId: IssuerId | null
  readonly role: string | null
  readonly notBefore: Instant
  readonly notAfter: Instant
  readonly status: InventoryStatus
  readonly revokedAt: Instant | null
}

export interface InventoryPage {
  readonly items: readonly InventoryEntry[]
  /** Cursor of the next page; undefined on the last page. */
  readonly next: string | undefined
}

export interface InventoryQuery extends Omit<
  CertificateQuery,
  "issuerId" | "status" | "expiresAfter" | "expiresBefore"
> {
  readonly expiresAfter?: InstantOrOffset
  readonly expiresBefore?: InstantOrOffset
  /** The certificate has any of these statuses. */
  readonly status?: readonly InventoryStatus[]
  /** Id or name of an issuer, or `default`. */
  readonly issuerRef?: string
}

/** Result of an import of certificates. */
export interface ImportedCertificates {
  readonly imported: readonly SerialNumber[]
  /** Serial numbers of certificates that the mount had before. */
  readonly existing: readonly SerialNumber[]
}

/** Certificates of a mount: issue, sign, import, read and search. */
export interface Certificates {
  /**
   * Returns a certificate. Needs no permission, because certificates are public. Throws `not-found`, and `invalid` for a malformed
   * serial number.
   */
  get(serialNumber: string): Promise<CertificateView>
  /** Returns the chain of the default issuer, DER, beginning with the issuer; empty if there is none. Needs no permission. */
  caChain(): Promise<readonly Uint8Array[]>
  /** Returns serial numbers in ascending order, at most `maxListedKeys` at once. */
  list(page?: KeyPage): Promise<readonly SerialNumber[]>
  /** Returns details of certificates in the order of `list`, at most `maxDetails` at once. */
  listDetails(page?: KeyPage): Promise<readonly CertificateDetails[]>
  /** Returns serial numbers of certificates with metadata, at most `maxListedKeys` at once. */
  listMetadata(page?: KeyPage): Promise<readonly SerialNumber[]>
  /** Searches the inventory in pages of at most 1,000 certificates. */
  search(query: InventoryQuery, page?: Partial<CertificatePageRequest>): Promise<InventoryPage>
  /** Reads the metadata that was stored with a certificate. */
  metadata(serialNumber: string): Promise<CertificateMetadata>
  /**
   * Records certificates that issuers of the mount signed elsewhere. Each text is PEM of one block or more, or base64 of DER; at
   * most `maxImportedCertificates` certificates. Certificates that are recorded already stay unchanged.
   */
  import(certificates: readonly string[]): Promise<ImportedCertificates>
  /** Generates a key and issues a certificate for it. */
  issue(role: string, input: IssueInput, choice?: IssuerChoice): Promise<IssuedCertificate>
  /** Issues a certificate for the key of a CSR. The common name is required. */
  sign(role: string, input: SignInput, choice?: IssuerChoice): Promise<IssuedCertificate>
  /** Issues a certificate with the names and extensions of a CSR. A role supplies defaults only. */
  signVerbatim(role: string | undefined, input: SignVerbatimInput, choice?: IssuerChoice): Promise<IssuedCertificate>
  /** Issues the certificate of an intermediate. */
  signIntermediate(input: SignIntermediateInput, choice?: IssuerChoice): Promise<IssuedCertificate>
  /** Signs a self-issued certificate again, by another issuer. */
  signSelfIssued(input: SignSelfIssuedInput, choice?: IssuerChoice): Promise<SignedSelfIssued>
}

/** API of certificates inside the server. */
export interface ServedCertificates extends Certificates {
  issue(role: string, input: IssueInput, choice?: IssuerChoice): Promise<ServedCertificate>
  sign(role: string, input: SignInput, choice?: IssuerChoice, allowances?: IssueOptions): Promise<ServedCertificate>
  signVerbatim(role: string | undefined, input: SignVerbatimInput, choice?: IssuerChoice): Promise<ServedCertificate>
  signIntermediate(
    input: SignIntermediateInput,
    choice?: IssuerChoice,
    allowances?: IssueOptions,
  ): Promise<ServedCertificate>
}
