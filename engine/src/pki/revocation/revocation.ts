// Revocations. They stay when the certificate is deleted, and are final: `certificateHold`, which could be lifted, cannot be used (RFC
// 5280, section 5.3.1).
import type { IssuerId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { type RevocationReason, revocationReasons } from "../../x509/certificate-list.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { CrlListId } from "../crl/crl-list.ts"
import type { Shard } from "../crl/shard.ts"
import type { KeyPage } from "../mounts/key-page.ts"
import type { MountId } from "../mounts/mount.ts"

export interface Revocation {
  readonly mountId: MountId
  /** Unique in the mount. */
  readonly serialNumber: SerialNumber
  /** Null if the issuer is not in the mount. */
  readonly issuerId: IssuerId | null
  readonly revokedAt: Instant
  readonly reason: RevocationReason
  /** Expiry of the certificate. */
  readonly notAfter: Instant
}

export interface NewRevocation extends Revocation {
  /** Time of the suspected loss of the key, if another CA stated it. */
  readonly invalidityDate?: Instant | undefined
  /** List that contains the revocation. */
  readonly list: CrlListId
}

export interface NumberedEntry {
  readonly number: number
  /** Element of `revokedCertificates`, DER. */
  readonly entry: Uint8Array
}

export interface EntryRange {
  readonly mountId: MountId
  readonly list: CrlListId
  /** Entries with numbers above this one. */
  readonly after: number
  readonly shard: Shard
  readonly limit: number
}

/** Position in the order of the certificates' expiry. Revocations with equal expiry are in the order of revocation. */
export interface RevocationCursor {
  readonly notAfter: Instant
  readonly number: number
}

/** Revocation of an expired certificate, with its list. */
export interface EndedRevocation extends RevocationCursor {
  readonly serialNumber: SerialNumber
  readonly list: CrlListId
}

export interface RevocationRepository {
  find(mountId: MountId, serialNumber: SerialNumber): Promise<Revocation | undefined>
  /**
   * Inserts a revocation. Its number is above all others of the mount, in the order of commits. Throws `conflict` if the certificate
   * is revoked already.
   */
  insert(revocation: NewRevocation): Promise<void>
  /**
   * Completes a revocation whose certificate was recorded later. Sets the expiry in the revocation, and the revocation time in the
   * record.
   */
  registered(mountId: MountId, revocation: Pick<Revocation, "serialNumber" | "revokedAt" | "notAfter">): Promise<void>
  /** Increases the version, so that the status in cached OCSP responses is read again. */
  touch(mountId: MountId): Promise<void>
  /** Returns a number that increases with every revocation of the mount, and with every removal from its lists. */
  cacheVersion(mountId: MountId): Promise<number>
  /** Returns a page of serial numbers in ascending order. */
  serialNumbers(
    mountId: MountId,
    page: { readonly after?: SerialNumber | undefined; readonly limit: number },
  ): Promise<readonly SerialNumber[]>
  /** Returns the highest number on the list; 0 if the list is empty. */
  latest(mountId: MountId, list: CrlListId): Promise<number>
  /** Returns entries in the order of revocation. */
  entries(range: EntryRange): Promise<readonly NumberedEntry[]>
  /** Appends revocations without a list to this list. Returns their number, at most `limit`. */
  adopt(mountId: MountId, list: CrlListId, limit: number): Promise<number>
  /** Returns revocations of certificates that expired before an instant, earliest first. */
  ended(
    mountId: MountId,
    page: { readonly before: Instant; readonly limit: number; readonly after?: RevocationCursor },
  ): Promise<readonly EndedRevocation[]>
  /** Returns a page ordered by the octets of the serial numbers. */
  page(
    mountId: MountId,
    page: { readonly after: Uint8Array; readonly limit: number },
  ): Promise<readonly Pick<Revocation, "serialNumber" | "issuerId">[]>
  /** Sets the issuer of a revoked certificate. A revocation that changes its list is appended to the new one. */
  associate(
    mountId: MountId,
    serialNumber: SerialNumber,
    issuer: { readonly issuerId: IssuerId; readonly list: CrlListId },
  ): Promise<void>
  /** Removes revocations from the lists, which are rebuilt at their scheduled time. Returns the number of those that existed. */
  remove(mountId: MountId, serialNumbers: readonly SerialNumber[]): Promise<number>
}

/** Reasons of RFC 5280 that are not final, and therefore rejected. */
const refusedReasons: ReadonlySet<RevocationReason> = new Set(["certificateHold", "removeFromCrl"])

/** Parses a reason by name (`keyCompromise`, `key_compromise`) or number. Returns undefined for an unknown or rejected reason. */
export function parseRevocationReason(text: string): RevocationReason | undefined {
  const normalized = text.replaceAll(/[_ -]/g, "").toLowerCase()
  const names = Object.keys(revocationReasons) as RevocationReason[]
  const reason = names.find(
    (name) => name.toLowerCase() === normalized || String(revocationReasons[name]) === normalized,
  )
  return reason === undefined || refusedReasons.has(reason) ? undefined : reason
}

export const revocationReasonNames: readonly RevocationReason[] = (
  Object.keys(revocationReasons) as RevocationReason[]
).filter((name) => !refusedReasons.has(name))

/** Certificate to revoke. Exactly one of `serialNumber` and `certificate` is required. */
export interface RevokeInput {
  /** Hex octets joined by ":" or "-". */
  readonly serialNumber?: string
  /** PEM. A certificate that is not recorded yet is added, so that its revocation can be published. */
  readonly certificate?: string
  /** `keyCompromise` or another final reason. Default: `unspecified`. Ignored if the certificate is revoked already. */
  readonly reason?: string
}

export interface RevokeWithKeyInput extends RevokeInput {
  /** PEM of the certificate's private key. */
  readonly privateKey?: string
}

export interface RevokedCertificate {
  readonly serialNumber: SerialNumber
  /** Time of the first revocation. Null: the certificate had expired and was not revoked. */
  readonly revokedAt: Instant | null
  readonly warnings: readonly string[]
}

export interface Revocations {
  /** Revokes a certificate. An expired one is revoked only if `allow_expired_cert_revocation` is set. */
  revoke(input: RevokeInput): Promise<RevokedCertificate>
  /** Revokes a certificate for a caller that proves possession of its private key, without any other right. */
  revokeWithKey(input: RevokeWithKeyInput): Promise<RevokedCertificate>
  /** Returns serial numbers in ascending order, at most `maxListedKeys` at once. */
  list(page?: KeyPage): Promise<readonly SerialNumber[]>
  /** Returns revocations that other clusters requested: always none, because servers that share certificates share a database. */
  requested(): Promise<readonly SerialNumber[]>
  /** Returns revocations in other clusters: always none, for the same reason. */
  elsewhere(): Promise<readonly SerialNumber[]>
}
