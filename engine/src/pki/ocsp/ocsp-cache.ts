// Answers that were signed already, by what was asked. They are kept for as long as they say what is true: whoever finds one
// compares it with the state of the mount at that moment, so that a revocation ends it at once, on every replica.
import { LRUCache } from "lru-cache"
import type { Instant } from "../../core/time.ts"
import type { CertificateStatus } from "../../x509/ocsp.ts"
import type { ServedOcspAnswer } from "./ocsp.ts"

export interface CachedAnswer {
  readonly answer: ServedOcspAnswer
  readonly status: CertificateStatus
  /** A mount in which anything was set or added since may have another key, or other words, to answer with. */
  readonly version: number
  /** Of the mount's revocations, when the status was last looked up. */
  readonly revocations: number
  readonly thisUpdate: Instant
  readonly renewedAt: Instant
}

/** About 1.5 kB each. */
const answersMaximum = 20_000

export class OcspCache {
  readonly #kept = new LRUCache<string, CachedAnswer>({ max: answersMaximum })

  find(key: string): CachedAnswer | undefined {
    return this.#kept.get(key)
  }

  /** Removes answers that are not valid yet at `now`; returns how many. */
  removeAfter(now: Instant): number {
    const early = [...this.#kept.entries()].filter(([, { thisUpdate }]) => thisUpdate > now)
    for (const [key] of early) this.#kept.delete(key)
    return early.length
  }

  keep(key: string, answer: CachedAnswer): void {
    this.#kept.set(key, answer)
  }
}
