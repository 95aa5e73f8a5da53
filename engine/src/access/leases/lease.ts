// Lease of a certificate. It ends with the certificate; revoking the lease revokes the certificate. Roles with `generate_lease` create
// one for each certificate (docs/authorities.md, "Leases").
import type { Instant } from "../../core/time.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"

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

export interface LeaseView extends Pick<StoredLease, "id" | "issuedAt" | "expiresAt"> {
  /** Whole seconds from now. */
  readonly remainingMs: number
}

/**
 * Leases of certificates, in all mounts. What is no lease, or has ended, is `unprocessable` to look at. A lease ends with its
 * certificate, with the token that asked for it, or by being revoked; the last two revoke the certificate.
 */
export interface Leases {
  lookup(id: string): Promise<LeaseView>
  /** What comes next in the ids below a path: names that end in a slash have more below them. */
  list(prefix: string): Promise<readonly string[]>
  /** One that is not there has ended already. */
  revoke(id: string): Promise<void>
  /**
   * All below a path. At once with `sync`, else soon; the answer is what to know about that. Below `auth/` these are the tokens
   * that were made there, which end at once.
   */
  revokePrefix(prefix: string, options?: { readonly sync?: boolean }): Promise<readonly string[]>
}

/** Where it is asked: each address is allowed by itself. Those without `leases` are what older clients use. */
export interface LeaseAddress<Endpoint extends string> {
  readonly endpoint: Endpoint
  /** The id stands in the address. */
  readonly inPath: boolean
}
export type RevokeEndpoint = "sys/leases/revoke" | "sys/revoke"
export type RenewEndpoint = "sys/leases/renew" | "sys/renew"
/** Force leaves behind what cannot be ended elsewhere; here nothing is elsewhere, so that it does the same. */
export type RevokePrefixEndpoint =
  | "sys/leases/revoke-prefix"
  | "sys/revoke-prefix"
  | "sys/leases/revoke-force"
  | "sys/revoke-force"

/** On the server's side. */
export interface ServedLeases extends Leases {
  lookup(id: string, address?: LeaseAddress<RenewEndpoint>): Promise<LeaseView>
  revoke(id: string, address?: LeaseAddress<RevokeEndpoint>): Promise<void>
  revokePrefix(
    prefix: string,
    options?: { readonly sync?: boolean; readonly endpoint?: RevokePrefixEndpoint },
  ): Promise<readonly string[]>
}
