import type { Instant } from "../../core/time.ts"
import type { KeyPage } from "../key-page.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"

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
