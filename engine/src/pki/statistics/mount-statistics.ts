import { dayMs, type Instant } from "../../core/time.ts"
import type { MountId } from "../mounts/mount.ts"

/** Windows that begin at the time of the count. Each includes the shorter ones. */
export const expiryWindows = [
  { name: "24h", ms: dayMs },
  { name: "7d", ms: 7 * dayMs },
  { name: "30d", ms: 30 * dayMs },
] as const

export interface MountStatistics {
  readonly countedAt: Instant
  readonly valid: number
  readonly expired: number
  /** Revoked certificates, expired or not. */
  readonly revoked: number
  /** Numbers of valid certificates that expire within each window. */
  readonly expiringWithin: readonly number[]
  /** Earliest expiry of each role's valid certificates, earliest first, for a limited number of roles. */
  readonly soonestOfRoles: readonly { readonly role: string; readonly notAfter: Instant }[]
  /** Number of other roles with valid certificates. */
  readonly rolesLeftOut: number
}

/** Position in the order of expiry. */
export interface ExpiryPlace {
  readonly notAfter: Instant
  readonly number: number
}

export interface ExpiryRange {
  readonly mountId: MountId
  /** Count only revoked certificates. */
  readonly revoked: boolean
  readonly after: ExpiryPlace
  /** Exclusive end of the range. */
  readonly before: Instant
}

export interface CountedPart {
  readonly count: number
  /** Position to continue at; undefined at the end. */
  readonly next: ExpiryPlace | undefined
}

/** Repository for statistics. Every query reads a bounded part of one index. */
export interface StatisticsRepository {
  /** Counts the first `limit` certificates of a range. */
  countPart(range: ExpiryRange, limit: number): Promise<CountedPart>
  /** Returns the next role with certificates, ordered by name. */
  nextRole(mountId: MountId, after: string): Promise<string | undefined>
  /** Returns certificates of a role, ordered by expiry. */
  ofRole(
    mountId: MountId,
    role: string,
    after: ExpiryPlace,
    limit: number,
  ): Promise<readonly (ExpiryPlace & { readonly isRevoked: boolean })[]>
  save(mountId: MountId, statistics: MountStatistics): Promise<void>
  find(mountId: MountId): Promise<MountStatistics | undefined>
}
