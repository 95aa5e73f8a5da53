// Token bucket for each API token, or for each address without a token. Each server counts separately, so several servers behind a load
// balancer each grant the full rate (docs/decisions/cache-versions.md).
import { LRUCache } from "lru-cache"
import type { Instant } from "../../core/time.ts"

/** Holds the requests of one second, and refills at that rate. */
export interface Bucket {
  readonly level: number
  readonly at: Instant
}

export interface Allowance {
  readonly allowed: boolean
  readonly limit: number
  /** Whole requests left now. */
  readonly remaining: number
  /** Seconds until the bucket is full. */
  readonly resetSeconds: number
}

/** Takes one request from the bucket. Returns the new bucket and the remaining allowance. */
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

/** The least recently used buckets are evicted first; they are usually full again. */
const maxBuckets = 20_000

export interface RateLimiter {
  /**
   * Charges the bucket of a token that was valid before, otherwise that of the address, so that guessed tokens earn no buckets.
   * `credential` is a digest, never the secret.
   */
  charge(request: { credential: string | undefined; address: string; now: Instant }): Allowance
  /** Records that the credential is valid. From now on it has its own bucket. */
  prove(credential: string, now: Instant): void
}

/** Creates a rate limiter that grants `perSecond` requests to each token or address. */
export function rateLimiter(perSecond: number): RateLimiter {
  const credentials = new LRUCache<string, Bucket>({ max: maxBuckets })
  const addresses = new LRUCache<string, Bucket>({ max: maxBuckets })

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

/** Returns the network that counts as one address: an IPv4 address, or an IPv6 /64, which one host usually has as a whole. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address
  if (address.startsWith("::ffff:") && address.includes(".")) return address.slice("::ffff:".length)
  const [head = "", tail] = address.split("::")
  const front = head === "" ? [] : head.split(":")
  const back = tail === undefined || tail === "" ? [] : tail.split(":")
  const gap = tail === undefined ? 0 : 8 - front.length - back.length
  return [...front, ...Array.from({ length: Math.max(0, gap) }, () => "0"), ...back].slice(0, 4).join(":")
}
