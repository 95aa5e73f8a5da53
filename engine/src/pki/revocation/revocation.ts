// What is known of a certificate that was revoked. It is kept when the certificate itself is not, and nothing takes it back:
// `certificateHold`, which could be lifted, is not given (RFC 5280, section 5.3.1).
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
  /** Null where the issuer is not in the mount. */
  readonly issuerId: IssuerId | null
  readonly revokedAt: Instant
  readonly reason: RevocationReason
  /** Of the certificate. */
  readonly notAfter: Instant
}

export interface NewRevocation extends Revocation {
  /** When the key is thought to have been lost, where another authority said so. */
  readonly invalidityDate?: Instant | undefined
  /** Whose list it goes on. */
  readonly list: CrlListId
}

export interface NumberedEntry {
  readonly number: number
  /** An element of `revokedCertificates`, DER. */
  readonly entry: Uint8Array
}

export interface EntryRange {
  readonly mountId: MountId
  readonly list: CrlListId
  /** Numbers above this one. */
  readonly after: number
  readonly shard: Shard
  readonly limit: number
}

/** Revocations by the end of their certificates; those that share one, in the order of revocation. */
export interface RevocationCursor {
  readonly notAfter: Instant
  readonly number: number
}

/** As far as its list is concerned. */
export interface EndedRevocation extends RevocationCursor {
  readonly serialNumber: SerialNumber
  readonly list: CrlListId
}

export interface RevocationRepository {
  find(mountId: MountId, serialNumber: SerialNumber): Promise<Revocation | undefined>
  /** Numbers it after all others of the mount, whoever commits first. Throws `conflict` where it is revoked already. */
  insert(revocation: NewRevocation): Promise<void>
  /**
   * Tells the revocation of a certificate that came after it when that ends, and the record of the certificate that it is revoked.
   */
  registered(mountId: MountId, revocation: Pick<Revocation, "serialNumber" | "revokedAt" | "notAfter">): Promise<void>
  /** Makes OCSP answers that are kept be looked up again. */
  touch(mountId: MountId): Promise<void>
  /** Grows with every revocation of the mount, and with everything that is taken off its lists. */
  cacheVersion(mountId: MountId): Promise<number>
  /** Ascending, after the given one. */
  serialNumbers(
    mountId: MountId,
    page: { readonly after?: SerialNumber | undefined; readonly limit: number },
  ): Promise<readonly SerialNumber[]>
  /** The highest number on the list; 0 where there is none. */
  latest(mountId: MountId, list: CrlListId): Promise<number>
  /** In the order of revocation. */
  entries(range: EntryRange): Promise<readonly NumberedEntry[]>
  /** Puts what has no list yet on this one, at its end; the answer is how many, at most `limit`. */
  adopt(mountId: MountId, list: CrlListId, limit: number): Promise<number>
  /** Of certificates that ended before an instant, soonest first. */
  ended(
    mountId: MountId,
    page: { readonly before: Instant; readonly limit: number; readonly after?: RevocationCursor },
  ): Promise<readonly EndedRevocation[]>
  /** In the order of the serial numbers' octets. */
  page(
    mountId: MountId,
    page: { readonly after: Uint8Array; readonly limit: number },
  ): Promise<readonly Pick<Revocation, "serialNumber" | "issuerId">[]>
  /** Tells whose certificate it was. On another list than before it stands at the end, like one that is new. */
  associate(
    mountId: MountId,
    serialNumber: SerialNumber,
    issuer: { readonly issuerId: IssuerId; readonly list: CrlListId },
  ): Promise<void>
  /** Takes them off the lists, which are built anew when their time comes. The answer is how many were there. */
  remove(mountId: MountId, serialNumbers: readonly SerialNumber[]): Promise<number>
}

/** What can be given; the rest of RFC 5280's reasons would not be final. */
const refusedReasons: ReadonlySet<RevocationReason> = new Set(["certificateHold", "removeFromCrl"])

/** By name (`keyCompromise`, `key_compromise`) or number; undefined for what is no reason that can be given. */
export function parseRevocationReason(text: string): RevocationReason | undefined {
  const wanted = text.replaceAll(/[_ -]/g, "").toLowerCase()
  const names = Object.keys(revocationReasons) as RevocationReason[]
  const reason = names.find((name) => name.toLowerCase() === wanted || String(revocationReasons[name]) === wanted)
  return reason === undefined || refusedReasons.has(reason) ? undefined : reason
}

export const revocationReasonNames: readonly RevocationReason[] = (
  Object.keys(revocationReasons) as RevocationReason[]
).filter((name) => !refusedReasons.has(name))

/** Exactly one of `serialNumber` and `certificate` is required. */
export interface RevokeInput {
  /** Hex octets joined by ":" or "-". */
  readonly serialNumber?: string
  /** PEM; one that is not stored here is from now on, so that its revocation can be told. */
  readonly certificate?: string
  /** `keyCompromise` or any other that is final; `unspecified` when left out. Of a certificate that is revoked already it changes nothing. */
  readonly reason?: string
}

export interface RevokeWithKeyInput extends RevokeInput {
  /** PEM: the certificate's own. */
  readonly privateKey?: string
}

export interface RevokedCertificate {
  readonly serialNumber: SerialNumber
  /** When it was revoked first. Null: it has expired and was not revoked. */
  readonly revokedAt: Instant | null
  readonly warnings: readonly string[]
}

export interface Revocations {
  /** A certificate that has expired is not revoked, unless the settings of revocation lists allow it. */
  revoke(input: RevokeInput): Promise<RevokedCertificate>
  /** Revokes a certificate for a caller that proves possession of its private key, without any other right. */
  revokeWithKey(input: RevokeWithKeyInput): Promise<RevokedCertificate>
  /** Ascending; at most `keysMaximum` at once. */
  list(page?: KeyPage): Promise<readonly SerialNumber[]>
  /** Asked for by other clusters: servers that share certificates share a store, so that there are none. */
  requested(): Promise<readonly SerialNumber[]>
  /** Revoked in other clusters: none, likewise. */
  elsewhere(): Promise<readonly SerialNumber[]>
}
