import { dayMs, type Instant } from "../../core/time.ts"

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
