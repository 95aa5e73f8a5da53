// What all certificate logins of a server share: connections to revocation services, and caches of what they answered.
import { LRUCache } from "lru-cache"
import { type Fetch, FetchFailure } from "../../core/fetch.ts"
import type { Runtime } from "../../core/runtime.ts"
import { type Instant, secondMs } from "../../core/time.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import { readBundle } from "./certificate-role.ts"
import type { PathCertificate } from "./certification-path.ts"
import { ocspChecker, type OcspChecker } from "./ocsp-check.ts"
import { maxRevocationListBytes, readRevocationList, type RevocationList } from "./revocation-list.ts"

export interface CertificateChecks {
  readonly checkOcsp: OcspChecker
  /** Parses the certificates of a role; the result is cached. Throws `UnacceptableInput`. */
  readonly bundle: (text: string) => readonly PathCertificate[]
  /** Parses a revocation list; the result is cached by the digest of the content. */
  readonly revocationList: (
    stored: { readonly name: string; readonly digest: string },
    content: () => Promise<Uint8Array | undefined>,
  ) => Promise<RevocationList | undefined>
  /** Fetches a revocation list. Throws `FetchFailure` or `UnacceptableInput`. */
  readonly fetchList: (url: string) => Promise<Uint8Array>
  /** Runs `work` once for concurrent callers with the same key, and not again soon after a failure. */
  readonly refreshOnce: (key: string, work: () => Promise<void>) => Promise<void>
}

const fetchTimeoutMs = 10_000
const maxRedirects = 3
const maxBundles = 1_000
const maxLists = 50
const retryPauseMs = 10 * secondMs

export function certificateChecks(fetch: Fetch, runtime: Pick<Runtime, "clock" | "random">): CertificateChecks {
  const bundles = new LRUCache<string, readonly PathCertificate[]>({ max: maxBundles })
  const lists = new LRUCache<string, RevocationList>({ max: maxLists })
  const refreshing = new Map<string, Promise<void>>()
  const failures = new LRUCache<string, { readonly at: Instant; readonly error: unknown }>({ max: maxBundles })
  return {
    checkOcsp: ocspChecker(fetch, runtime),
    bundle(text) {
      const known = bundles.get(text)
      if (known !== undefined) return known
      const made = readBundle(text)
      bundles.set(text, made)
      return made
    },
    async revocationList({ name, digest }, content) {
      const known = lists.get(digest)
      if (known !== undefined) return { ...known, name }
      const bytes = await content()
      if (bytes === undefined) return undefined
      const made = readRevocationList(name, bytes)
      lists.set(digest, made)
      return made
    },
    async fetchList(url) {
      const answer = await fetch({
        method: "GET",
        url,
        timeoutMs: fetchTimeoutMs,
        maxAnswerBytes: maxRevocationListBytes,
        maxRedirects,
      })
      if (answer.status !== 200) throw new UnacceptableInput(`${url} answered with status ${answer.status}`)
      return answer.body
    },
    async refreshOnce(key, work) {
      const failed = failures.get(key)
      const now = runtime.clock.now()
      if (failed !== undefined && now >= failed.at && now - failed.at < retryPauseMs) throw failed.error
      const running = refreshing.get(key)
      if (running !== undefined) return running
      const started = work()
      refreshing.set(key, started)
      try {
        await started
        failures.delete(key)
      } catch (error) {
        if (error instanceof FetchFailure || error instanceof UnacceptableInput) failures.set(key, { at: now, error })
        throw error
      } finally {
        refreshing.delete(key)
      }
    },
  }
}
