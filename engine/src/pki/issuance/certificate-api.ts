import type { IssuerId } from "../../core/ids.ts"
import type { Instant, InstantOrOffset } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type {
  CertificateMetadataRecord as KeptMetadata,
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
  /** DER; from the issuing certificate up. */
  readonly caChain: readonly Uint8Array[]
  readonly serialNumber: SerialNumber
  readonly notBefore: Instant
  readonly notAfter: Instant
  /** Where the key was made here. It is not stored. */
  readonly privateKey: PrivateKey | undefined
  readonly lease: CertificateLease | undefined
  readonly warnings: readonly string[]
}

/** Lease of a certificate until its end, with the id `<mount>/issue/<role>/<uuid>` (docs/authorities.md, "Leases"). */
export interface CertificateLease {
  readonly id: string
  readonly durationMs: number
}

/** On the server's side. */
export interface ServedCertificate extends IssuedCertificate {
  /** Only one that is kept can be looked up, and ended together with the certificate. */
  readonly lease: (CertificateLease & { readonly isKept: boolean }) | undefined
}

/** How what comes of a request is handed out. */
export interface IssuanceOptions {
  /** Self-signed certificates are left out of the chain. */
  readonly removeRootsFromChain?: boolean
}

/** Rules of the native dialect that the vault dialect lifts (docs/dialects.md). */
export interface IssueOptions {
  /** Whether the CSR and the other members may name what is signed. */
  readonly isCommonNameOptional: boolean
}

export const noAllowances: IssueOptions = { isCommonNameOptional: false }

export interface IssueInput extends IssueRequestInput, IssuanceOptions {}

export interface SignInput extends IssueInput {
  /** PEM. */
  readonly csr: string
}

/** Input of sign-verbatim. Usages apply only if the CSR has none. */
export interface SignVerbatimInput extends Partial<VerbatimRequest>, IssuanceOptions {
  /** PEM. */
  readonly csr: string
  readonly usePss?: boolean
  /** The issuer's own rule decides on what outlives it; otherwise that is cut. */
  readonly enforceLeafNotAfterBehavior?: boolean
}

/** Input of sign-intermediate. */
export interface SignIntermediateInput extends Partial<AuthorityRequest>, IssuanceOptions {
  /** PEM. */
  readonly csr: string
  readonly usePss?: boolean
  /** The issuer's own rule decides on what outlives it; otherwise that is cut. */
  readonly enforceLeafNotAfterBehavior?: boolean
}

export interface SignSelfIssuedInput {
  /** One, PEM. */
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
  /** Instead of the role's own. */
  readonly issuerRef?: string
}

export type CertificateMetadata = Omit<KeptMetadata, "mountId">

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
  /** For the page after this one; undefined on the last. */
  readonly next: string | undefined
}

export interface InventoryQuery extends Omit<
  CertificateQuery,
  "issuerId" | "status" | "expiresAfter" | "expiresBefore"
> {
  readonly expiresAfter?: InstantOrOffset
  readonly expiresBefore?: InstantOrOffset
  /** Any of them. */
  readonly status?: readonly InventoryStatus[]
  /** An issuer's identifier or name, or `default`. */
  readonly issuerRef?: string
}

/** What came of importing certificates. */
export interface ImportedCertificates {
  readonly imported: readonly SerialNumber[]
  /** Those that the mount had on record already. */
  readonly existing: readonly SerialNumber[]
}

/** Certificates of a mount: how they come about, and what became of them. */
export interface Certificates {
  /** Whoever asks: certificates are public. Throws `not-found`, and `invalid` for what is no serial number. */
  get(serialNumber: string): Promise<CertificateView>
  /** The default issuer's chain, DER, itself first; empty where there is none. Public as well. */
  caChain(): Promise<readonly Uint8Array[]>
  /** Serial numbers in their order, after the one that is given; at most `keysMaximum` at once. */
  list(page?: KeyPage): Promise<readonly SerialNumber[]>
  /** The same with what the certificates say; at most `detailsMaximum` at once. */
  listDetails(page?: KeyPage): Promise<readonly CertificateDetails[]>
  /** Serial numbers of certificates with which something was kept; at most `keysMaximum` at once. */
  listMetadata(page?: KeyPage): Promise<readonly SerialNumber[]>
  /** The inventory, by any of its conditions, in pages of at most 1,000. */
  search(query: InventoryQuery, page?: Partial<CertificatePageRequest>): Promise<InventoryPage>
  /** Reads the metadata that was stored with a certificate. */
  metadata(serialNumber: string): Promise<CertificateMetadata>
  /**
   * Records certificates that issuers of the mount signed elsewhere: PEM of one block or more, or base64 of DER, at most
   * `importedCertificatesMaximum`. What is on record already stays as it is.
   */
  import(certificates: readonly string[]): Promise<ImportedCertificates>
  /** Generates a key and issues a certificate for it. */
  issue(role: string, input: IssueInput, choice?: IssuerChoice): Promise<IssuedCertificate>
  /** Issues a certificate for the key of a CSR. The common name is required. */
  sign(role: string, input: SignInput, choice?: IssuerChoice): Promise<IssuedCertificate>
  /** Issues a certificate with the names and extensions of a CSR. A role gives defaults only. */
  signVerbatim(role: string | undefined, input: SignVerbatimInput, choice?: IssuerChoice): Promise<IssuedCertificate>
  /** Issues the certificate of an intermediate. */
  signIntermediate(input: SignIntermediateInput, choice?: IssuerChoice): Promise<IssuedCertificate>
  /** Issues a self-issued certificate again, under another issuer. */
  signSelfIssued(input: SignSelfIssuedInput, choice?: IssuerChoice): Promise<SignedSelfIssued>
}

/** Certificates as the server's routes issue them. */
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
