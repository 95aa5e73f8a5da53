// Records of issued certificates: the certificate, and the values to search by.
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
  /** Null if the issuer is not in the mount, as for an imported root. */
  readonly issuerId: IssuerId | null
  /** Role that issued it; null if none did. */
  readonly role: string | null
  readonly commonName: string
  /** Common name and subject alternative names as text, in lower case, without duplicates. */
  readonly names: readonly string[]
  readonly notBefore: Instant
  readonly notAfter: Instant
}

/**
 * Metadata that a client stored with its certificate, as `cert_metadata` of
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
/** Status of a certificate. A revoked certificate stays `revoked` after its expiry. */
export type InventoryStatus = (typeof inventoryStatuses)[number]

export function inventoryStatusOf(
  { notAfter, revokedAt }: Pick<InventoryRecord, "notAfter" | "revokedAt">,
  now: Instant,
): InventoryStatus {
  if (revokedAt !== null) return "revoked"
  // The validity includes its last second (RFC 5280, section 4.1.2.5).
  return notAfter < now ? "expired" : "valid"
}

/** Conditions of a search in a mount. A certificate must match all of them. */
export interface CertificateQuery {
  /** Common name or subject alternative name, in any case. A leading `*` matches any prefix. */
  readonly name?: string
  readonly role?: string
  readonly issuerId?: IssuerId
  readonly expiresAfter?: Instant
  readonly expiresBefore?: Instant
  /** The certificate has any of these statuses. Without duplicates, and not all statuses. */
  readonly status?: { readonly of: readonly InventoryStatus[]; readonly now: Instant }
  /** Base64; compared as a whole. */
  readonly metadata?: string
}

export interface CertificatePageRequest {
  readonly limit: number
  /** `next` of the previous page. */
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

/** Everything that one issuance stores. */
export interface Issuance {
  readonly certificate: CertificateRecord | undefined
  readonly metadata: CertificateMetadataRecord | undefined
  readonly lease: StoredLease | undefined
}

/** Position in the order of expiry. Certificates with equal expiry are in the order of issuance. */
export interface CertificateCursor {
  readonly notAfter: Instant
  readonly number: number
}

export interface EndedCertificate extends CertificateCursor {
  readonly isRevoked: boolean
}

/** Parts of a record that clients get, without the values to search by. */
export type CertificateToStore = Pick<CertificateRecord, "certificate" | "issuerId">

export interface CertificateRepository {
  /** Inserts a certificate. Throws `EngineError("conflict")` if the mount has a certificate with this serial number. */
  insert(certificate: CertificateRecord): Promise<void>
  /** Inserts a certificate like `insert` if the mount still has this version. Otherwise returns false and inserts nothing. */
  insertUnder(version: number, certificate: CertificateRecord): Promise<boolean>
  insertMetadata(metadata: CertificateMetadataRecord): Promise<void>
  find(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateRecord | undefined>
  issued(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateToStore | undefined>
  /** Returns the issuer of a certificate; null if the issuer is not in the mount, undefined if there is no record. */
  issuerIdOf(mountId: MountId, serialNumber: SerialNumber): Promise<IssuerId | null | undefined>
  /** Returns a page ordered by the octets of the serial numbers, as the two methods below do. */
  serialNumbers(mountId: MountId, page: SerialNumberPage): Promise<readonly SerialNumber[]>
  list(mountId: MountId, page: SerialNumberPage): Promise<readonly StoredCertificate[]>
  /** Returns serial numbers of certificates with metadata, even if the certificates themselves are not stored. */
  metadataSerialNumbers(mountId: MountId, page: SerialNumberPage): Promise<readonly SerialNumber[]>
  /**
   * Returns a page of certificates. A search by expiry or status is ordered by expiry, earliest first. A search by name or issuer
   * returns the newest first; one with a leading `*` is ordered by name. Any other search returns the latest expiry first. Throws
   * `EngineError("invalid")` if `after` is not the `next` of a page.
   */
  search(mountId: MountId, query: CertificateQuery, page: CertificatePageRequest): Promise<CertificatePage>
  findMetadata(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateMetadataRecord | undefined>
  /** Returns certificates that expired before an instant, earliest first, except those in some ranges. */
  ended(
    mountId: MountId,
    page: {
      readonly before: Instant
      readonly limit: number
      readonly after?: CertificateCursor
      readonly except?: readonly FilingRange[]
    },
  ): Promise<readonly EndedCertificate[]>
  /** Returns a page ordered by the octets of the serial numbers. Does not parse the stored octets, which may be no certificate. */
  page(
    mountId: MountId,
    page: { readonly after: Uint8Array; readonly limit: number },
  ): Promise<
    readonly { readonly number: number; readonly serialNumber: Uint8Array; readonly certificate: Uint8Array }[]
  >
  /** Removes certificates with their metadata. Returns how many of each were removed. */
  remove(
    mountId: MountId,
    numbers: readonly number[],
  ): Promise<{ readonly certificates: number; readonly metadata: number }>
  /** Removes certificates with their metadata. Succeeds if some do not exist. */
  removeBySerialNumber(mountId: MountId, serialNumbers: readonly SerialNumber[]): Promise<void>
  /**
   * Removes metadata of certificates that expired before an instant, even if the certificates are not stored. Returns the number, at
   * most `limit`.
   */
  removeMetadata(mountId: MountId, before: Instant, limit: number): Promise<number>
}
