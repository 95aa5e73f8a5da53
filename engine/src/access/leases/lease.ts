// Lease of a certificate. It ends with the certificate; revoking the lease revokes the certificate. Roles with `generate_lease` create
// one for each certificate (docs/authorities.md, "Leases").
import type { Instant } from "../../core/time.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"

export interface StoredLease {
  /** Path of the request and a unique suffix. It does not change when the mount moves. */
  readonly id: string
  readonly mountId: MountId
  readonly serialNumber: SerialNumber
  readonly issuedAt: Instant
  /** Instant after the last second of the certificate. */
  readonly expiresAt: Instant
  /** Token of the request, with which the lease ends. Null if the engine acted for itself. */
  readonly tokenId: string | null
}

/** Range of ids: the prefix itself and all ids below it. */
export interface LeaseRange {
  /** Without a slash at its end. */
  readonly prefix: string
  /** Only ids that sort after this one by code points. */
  readonly after?: string
  readonly limit: number
}

export type FoundLease = Omit<StoredLease, "tokenId">

export interface LeaseRepository {
  /** Throws `EngineError("forbidden")` if the token has ended. */
  insert(lease: StoredLease): Promise<void>
  /** Returns undefined for an expired lease. */
  find(id: string, now: Instant): Promise<FoundLease | undefined>
  /** Returns the ids of unexpired leases, in order. */
  ids(range: LeaseRange, now: Instant): Promise<readonly string[]>
  /** Returns unexpired leases, in order. */
  within(range: LeaseRange, now: Instant): Promise<readonly FoundLease[]>
  remove(id: string): Promise<void>
  /** Marks leases as given up, so that the job ends them. Returns their number, at most the limit of the range. */
  giveUp(range: LeaseRange): Promise<number>
  /** Marks the leases of expired tokens as given up. Returns their number. */
  giveUpOfEndedTokens(now: Instant, limit: number): Promise<number>
  /** Returns leases that are given up or whose token was deleted, in order. */
  givenUp(limit: number): Promise<readonly FoundLease[]>
  /** Deletes expired leases. Returns their number, at most `limit`. */
  sweep(now: Instant, limit: number): Promise<number>
}

export interface LeaseView extends Pick<StoredLease, "id" | "issuedAt" | "expiresAt"> {
  /** Milliseconds from now, whole seconds. */
  readonly remainingMs: number
}

/**
 * Leases of certificates, in all mounts. A lease ends with its certificate, with the token that requested it, or by revocation. The last
 * two revoke the certificate. Lookups of unknown or ended leases throw `unprocessable`.
 */
export interface Leases {
  lookup(id: string): Promise<LeaseView>
  /** Returns the next segments of the ids below a path. A name with a slash at its end has more ids below it. */
  list(prefix: string): Promise<readonly string[]>
  /** Does nothing if the lease does not exist. */
  revoke(id: string): Promise<void>
  /**
   * Ends all leases below a path: at once with `sync`, otherwise soon. Returns messages for the caller. Below `auth/`, deletes the tokens
   * that were created there, at once.
   */
  revokePrefix(prefix: string, options?: { readonly sync?: boolean }): Promise<readonly string[]>
}

/** Endpoint of a request, which policies allow separately. Older Vault clients use the paths without `leases`. */
export interface LeaseAddress<Endpoint extends string> {
  readonly endpoint: Endpoint
  /** True if the id is a part of the path. */
  readonly inPath: boolean
}
export type RevokeEndpoint = "sys/leases/revoke" | "sys/revoke"
export type RenewEndpoint = "sys/leases/renew" | "sys/renew"
/** In Vault, force ignores errors of external systems. There are none here, so it has the same effect. */
export type RevokePrefixEndpoint =
  | "sys/leases/revoke-prefix"
  | "sys/revoke-prefix"
  | "sys/leases/revoke-force"
  | "sys/revoke-force"

/** Leases as the HTTP server calls them. */
export interface ServedLeases extends Leases {
  lookup(id: string, address?: LeaseAddress<RenewEndpoint>): Promise<LeaseView>
  revoke(id: string, address?: LeaseAddress<RevokeEndpoint>): Promise<void>
  revokePrefix(
    prefix: string,
    options?: { readonly sync?: boolean; readonly endpoint?: RevokePrefixEndpoint },
  ): Promise<readonly string[]>
}
