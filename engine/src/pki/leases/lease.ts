// Lease of a certificate. It ends with the certificate; revoking the lease revokes the certificate. Roles with `generate_lease` create
// one for each certificate (docs/authorities.md, "Leases").
import type { Instant } from "../../core/time.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { MountId } from "../mount.ts"

export interface StoredLease {
  /** The path that it was asked for at, and something unique. It stays that when the mount moves. */
  readonly id: string
  readonly mountId: MountId
  readonly serialNumber: SerialNumber
  readonly issuedAt: Instant
  /** Behind the last second of the certificate. */
  readonly expiresAt: Instant
  /** Of whoever asked: with the token the lease ends. Null where the engine acted for itself. */
  readonly tokenId: string | null
}

/** Ids that begin so, or are this one. */
export interface LeaseRange {
  /** Without a slash at its end. */
  readonly prefix: string
  /** Behind this one, in the order of their characters' codes. */
  readonly after?: string
  readonly limit: number
}

export type FoundLease = Omit<StoredLease, "tokenId">

export interface LeaseRepository {
  /** Throws `EngineError("forbidden")` where the token has ended. */
  insert(lease: StoredLease): Promise<void>
  /** Undefined for one whose time is over. */
  find(id: string, now: Instant): Promise<FoundLease | undefined>
  /** In order. Those whose time is over are left out. */
  ids(range: LeaseRange, now: Instant): Promise<readonly string[]>
  /** The same, as they are. */
  within(range: LeaseRange, now: Instant): Promise<readonly FoundLease[]>
  remove(id: string): Promise<void>
  /** Has them ended by the job; the answer is how many, at most the limit of the range. */
  giveUp(range: LeaseRange): Promise<number>
  /** The same, for those of tokens whose time is over. */
  giveUpOfEndedTokens(now: Instant, limit: number): Promise<number>
  /** In order: those whose token has gone, and those that were given up. */
  givenUp(limit: number): Promise<readonly FoundLease[]>
  /** Forgets those whose time is over; the answer is how many, at most `limit`. */
  sweep(now: Instant, limit: number): Promise<number>
}
