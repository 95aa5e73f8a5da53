import { dayMs, type Instant } from "../../core/time.ts"
import type { MountId } from "../mounts/mount.ts"

/** From the moment of the count; each holds those before it. */
export const expiryWindows = [
  { name: "24h", ms: dayMs },
  { name: "7d", ms: 7 * dayMs },
  { name: "30d", ms: 30 * dayMs },
] as const

export interface MountStatistics {
  readonly countedAt: Instant
  readonly valid: number
  readonly expired: number
  /** Expired or not. */
  readonly revoked: number
  /** Of the valid ones, by window. */
  readonly expiringWithin: readonly number[]
  /** The first valid certificate of each role to expire, the soonest first; of so many roles at most. */
  readonly soonestOfRoles: readonly { readonly role: string; readonly notAfter: Instant }[]
  /** Roles with valid certificates that are not among them. */
  readonly rolesLeftOut: number
}

/** In the order of expiry. */
export interface ExpiryPlace {
  readonly notAfter: Instant
  readonly number: number
}

export interface ExpiryRange {
  readonly mountId: MountId
  /** Of those that are revoked alone. */
  readonly revoked: boolean
  readonly after: ExpiryPlace
  /** Without it. */
  readonly before: Instant
}

export interface CountedPart {
  readonly count: number
  /** Where the count goes on; undefined at its end. */
  readonly next: ExpiryPlace | undefined
}

/** Every question reads a bounded part of one index. */
export interface StatisticsRepository {
  /** Of the first `limit` certificates of a range. */
  countPart(range: ExpiryRange, limit: number): Promise<CountedPart>
  /** The role of certificates that comes next in the order of names. */
  nextRole(mountId: MountId, after: string): Promise<string | undefined>
  /** Certificates of a role, in the order of expiry. */
  ofRole(
    mountId: MountId,
    role: string,
    after: ExpiryPlace,
    limit: number,
  ): Promise<readonly (ExpiryPlace & { readonly isRevoked: boolean })[]>
  save(mountId: MountId, statistics: MountStatistics): Promise<void>
  find(mountId: MountId): Promise<MountStatistics | undefined>
}
