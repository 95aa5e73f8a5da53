// A token bucket for each API token, or for each address without a token. Each server counts for itself: several servers behind a
// balancer grant the full rate each (docs/decisions/cache-versions.md).
import { LRUCache } from "lru-cache"
import type { Instant } from "../../core/time.ts"

/** Holds as many requests as the rate grants in one second, and fills at that rate. */
export interface Bucket {
  readonly level: number
  readonly at: Instant
}

export interface Allowance {
  readonly allowed: boolean
  readonly limit: number
  /** Whole requests left at this instant. */
  readonly remaining: number
  /** Until the whole allowance is there again. */
  readonly resetSeconds: number
}

export function take(
  bucket: Bucket | undefined,
  now: Instant,
  perSecond: number,
): { bucket: Bucket; allowance: Allowance } {
  const level = bucket === undefined ? perSecond : filled(bucket, now, perSecond)
  const allowed = level >= 1
  const left = allowed ? level - 1 : level
  return {
    bucket: { level: left, at: now },
    allowance: {
      allowed,
      limit: perSecond,
      remaining: Math.floor(left),
      resetSeconds: Math.round(((perSecond - left) / perSecond) * 1000) / 1000,
    },
  }
}

// A clock that steps back must not empty a bucket.
const filled = (bucket: Bucket, now: Instant, perSecond: number): number =>
  Math.min(perSecond, bucket.level + (Math.max(0, now - bucket.at) / 1000) * perSecond)

/** The longest unused are forgotten: they are full again. */
const bucketsMaximum = 20_000

export interface RateLimiter {
  /**
   * Charges a token that has proved itself before, else the address; so guessing tokens earns no buckets.
   * `credential` is a digest, never the secret.
   */
  charge(request: { credential: string | undefined; address: string; now: Instant }): Allowance
  /** This credential is a good one: from now on it has a bucket of its own. */
  prove(credential: string, now: Instant): void
}

export function rateLimiter(perSecond: number): RateLimiter {
  const credentials = new LRUCache<string, Bucket>({ max: bucketsMaximum })
  const addresses = new LRUCache<string, Bucket>({ max: bucketsMaximum })

  return {
    charge({ credential, address, now }) {
      if (credential !== undefined && credentials.has(credential))
        return charge(credentials, credential, now, perSecond)
      return charge(addresses, networkOf(address), now, perSecond)
    },
    prove(credential, now) {
      if (!credentials.has(credential)) charge(credentials, credential, now, perSecond)
    },
  }
}

function charge(buckets: LRUCache<string, Bucket>, key: string, now: Instant, perSecond: number): Allowance {
  const { bucket, allowance } = take(buckets.get(key), now, perSecond)
  buckets.set(key, bucket)
  return allowance
}

/** One host commonly holds a whole IPv6 /64, so that is what counts as one address. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address
  if (address.startsWith("::ffff:") && address.includes(".")) return address.slice("::ffff:".length)
  const [head = "", tail] = address.split("::")
  const front = head === "" ? [] : head.split(":")
  const back = tail === undefined || tail === "" ? [] : tail.split(":")
  const gap = tail === undefined ? 0 : 8 - front.length - back.length
  return [...front, ...Array.from({ length: Math.max(0, gap) }, () => "0"), ...back].slice(0, 4).join(":")
}
