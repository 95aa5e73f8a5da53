// Cache of signed responses by request. Each use compares a response with the current versions of the mount and its revocations. A
// revocation therefore invalidates it at once, on every replica.
import { LRUCache } from "lru-cache"
import type { Instant } from "../../core/time.ts"
import type { CertificateStatus } from "../../x509/ocsp.ts"
import type { ServedOcspAnswer } from "./ocsp.ts"

export interface CachedAnswer {
  readonly answer: ServedOcspAnswer
  readonly status: CertificateStatus
  /** Version of the mount. After any other change of the mount, the responder or the response may differ. */
  readonly version: number
  /** Version of the mount's revocations when the status was last read. */
  readonly revocations: number
  readonly thisUpdate: Instant
  readonly renewedAt: Instant
}

/** Maximum number of responses, of about 1.5 kB each. */
const maxAnswers = 20_000

export class OcspCache {
  readonly #answers = new LRUCache<string, CachedAnswer>({ max: maxAnswers })

  find(key: string): CachedAnswer | undefined {
    return this.#answers.get(key)
  }

  /** Removes responses that are not valid yet at `now`. Returns their number. */
  removeAfter(now: Instant): number {
    const early = [...this.#answers.entries()].filter(([, { thisUpdate }]) => thisUpdate > now)
    for (const [key] of early) this.#answers.delete(key)
    return early.length
  }

  keep(key: string, answer: CachedAnswer): void {
    this.#answers.set(key, answer)
  }
}
