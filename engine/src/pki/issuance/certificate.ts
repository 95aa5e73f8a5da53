// What is kept of a certificate that was issued: the certificate itself, and what it can be found by.
import type { IssuerId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { StoredLease } from "../../access/leases/lease.ts"
import type { MountId } from "../mounts/mount.ts"
import type { FilingRange } from "./certificate-partitions.ts"

export interface CertificateRecord {
  readonly mountId: MountId
  /** Unique in the mount. */
  readonly serialNumber: SerialNumber
  /** DER. */
  readonly certificate: Uint8Array
  /** Null where the issuer is not in the mount, as for an imported root. */
  readonly issuerId: IssuerId | null
  /** The role it was issued by; null for what no role decides. */
  readonly role: string | null
  readonly commonName: string
  /** Common name and subject alternative names as text, lower case, each once. */
  readonly names: readonly string[]
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/**
 * Metadata that the requester of a certificate stored with it, as `cert_metadata` of
 * https://developer.hashicorp.com/vault/api-docs/secret/pki#read-certificate-metadata.
 */
export interface CertificateMetadataRecord {
  readonly mountId: MountId
  readonly serialNumber: SerialNumber
  readonly issuerId: IssuerId
  readonly role: string
  readonly expiresAt: Instant
  /** Base64. */
  readonly metadata: string
}

export const inventoryStatuses = ["valid", "expired", "revoked"] as const
/** What is revoked is that for ever, expired or not. */
export type InventoryStatus = (typeof inventoryStatuses)[number]

export function inventoryStatusOf(
  { notAfter, revokedAt }: Pick<InventoryRecord, "notAfter" | "revokedAt">,
  now: Instant,
): InventoryStatus {
  if (revokedAt !== null) return "revoked"
  // Validity includes its last moment (RFC 5280, section 4.1.2.5).
  return notAfter < now ? "expired" : "valid"
}

/** By what certificates of a mount are looked for; every condition narrows. */
export interface CertificateQuery {
  /** A common name or a subject alternative name, in any case; `*` at its beginning stands for any beginning. */
  readonly name?: string
  readonly role?: string
  readonly issuerId?: IssuerId
  readonly expiresAfter?: Instant
  readonly expiresBefore?: Instant
  /** Any of them; each once, and not all of them. */
  readonly status?: { readonly of: readonly InventoryStatus[]; readonly now: Instant }
  /** Base64, whole. */
  readonly metadata?: string
}

export interface CertificatePageRequest {
  readonly limit: number
  /** What the page before gave as `next`. */
  readonly after?: string
}

export interface InventoryRecord extends CertificateRecord {
  readonly revokedAt: Instant | null
}

export interface CertificatePage {
  readonly items: readonly InventoryRecord[]
  /** Undefined on the last page. */
  readonly next: string | undefined
}

export interface SerialNumberPage {
  readonly limit: number
  readonly after?: SerialNumber | undefined
}

export type StoredCertificate = Pick<CertificateRecord, "serialNumber" | "certificate">

/** All that one issuance leaves behind. */
export interface Issuance {
  readonly certificate: CertificateRecord | undefined
  readonly metadata: CertificateMetadataRecord | undefined
  readonly lease: StoredLease | undefined
}

/** Certificates by their end; those that share one, in the order of issuance. */
export interface CertificateCursor {
  readonly notAfter: Instant
  readonly number: number
}

export interface EndedCertificate extends CertificateCursor {
  readonly isRevoked: boolean
}

/** What is handed out of it, without what it is found by. */
export type CertificateToStore = Pick<CertificateRecord, "certificate" | "issuerId">

export interface CertificateRepository {
  /** Throws `EngineError("conflict")` where the mount has a certificate with this serial number. */
  insert(certificate: CertificateRecord): Promise<void>
  /** The same, if its mount still has this version; returns false, and inserts nothing, if not. */
  insertUnder(version: number, certificate: CertificateRecord): Promise<boolean>
  insertMetadata(metadata: CertificateMetadataRecord): Promise<void>
  find(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateRecord | undefined>
  issued(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateToStore | undefined>
  /** Undefined where nothing is on record, null where no issuer of the mount is. */
  issuerIdOf(mountId: MountId, serialNumber: SerialNumber): Promise<IssuerId | null | undefined>
  /** In the order of the serial numbers' octets, after the one that is given; the two below as well. */
  serialNumbers(mountId: MountId, page: SerialNumberPage): Promise<readonly SerialNumber[]>
  list(mountId: MountId, page: SerialNumberPage): Promise<readonly StoredCertificate[]>
  /** Of certificates with metadata, stored or not. */
  metadataSerialNumbers(mountId: MountId, page: SerialNumberPage): Promise<readonly SerialNumber[]>
  /**
   * The soonest to expire first where expiry or status are asked for, the newest first where it is a name or an issuer, by name
   * where the beginning of one is left open, and the last to expire first otherwise. Throws `EngineError("invalid")` for an
   * `after` that no page gave.
   */
  search(mountId: MountId, query: CertificateQuery, page: CertificatePageRequest): Promise<CertificatePage>
  findMetadata(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateMetadataRecord | undefined>
  /** Those that ended before an instant, soonest first; without what is filed in some ranges. */
  ended(
    mountId: MountId,
    page: {
      readonly before: Instant
      readonly limit: number
      readonly after?: CertificateCursor
      readonly except?: readonly FilingRange[]
    },
  ): Promise<readonly EndedCertificate[]>
  /** In the order of the serial numbers' octets. What is kept is not looked into: it may be no certificate. */
  page(
    mountId: MountId,
    page: { readonly after: Uint8Array; readonly limit: number },
  ): Promise<
    readonly { readonly number: number; readonly serialNumber: Uint8Array; readonly certificate: Uint8Array }[]
  >
  /** With what was kept with them. The answer is how many there were of each. */
  remove(
    mountId: MountId,
    numbers: readonly number[],
  ): Promise<{ readonly certificates: number; readonly metadata: number }>
  /** The same, whether they are there or not. */
  removeBySerialNumber(mountId: MountId, serialNumbers: readonly SerialNumber[]): Promise<void>
  /** Of certificates that ended before an instant, whether these are kept or not; the answer is how many, at most `limit`. */
  removeMetadata(mountId: MountId, before: Instant, limit: number): Promise<number>
}
