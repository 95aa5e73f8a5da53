import { LRUCache } from "lru-cache"
import type { KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { SigningKey } from "../../x509/signing-key.ts"

export interface DelegatedResponder {
  readonly keyId: KeyId
  readonly key: SigningKey
  /** DER. */
  readonly certificate: Uint8Array
  readonly notBefore: Instant
  readonly notAfter: Instant
}

const maxCached = 1_000

/** Responders with open keys, and those that this process is renewing. */
export class CachedResponders {
  readonly #cache = new LRUCache<string, DelegatedResponder>({ max: maxCached })
  readonly #pending = new Map<string, Promise<DelegatedResponder>>()

  find(key: string): DelegatedResponder | undefined {
    return this.#cache.get(key)
  }

  /** Renews a responder. Concurrent calls for one key run `provide` once. */
  renew(key: string, provide: () => Promise<DelegatedResponder>): Promise<DelegatedResponder> {
    const known = this.#pending.get(key)
    if (known !== undefined) return known
    const pending = provide()
      .then((responder) => {
        this.#cache.set(key, responder)
        return responder
      })
      .finally(() => this.#pending.delete(key))
    this.#pending.set(key, pending)
    return pending
  }
}
