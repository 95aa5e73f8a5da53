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

const maxHeld = 1_000

/** Responders with open keys, and those that this process is renewing. */
export class CachedResponders {
  readonly #held = new LRUCache<string, DelegatedResponder>({ max: maxHeld })
  readonly #coming = new Map<string, Promise<DelegatedResponder>>()

  find(key: string): DelegatedResponder | undefined {
    return this.#held.get(key)
  }

  /** Renews a responder. Concurrent calls for one key run `provide` once. */
  renewed(key: string, provide: () => Promise<DelegatedResponder>): Promise<DelegatedResponder> {
    const known = this.#coming.get(key)
    if (known !== undefined) return known
    const coming = provide()
      .then((responder) => {
        this.#held.set(key, responder)
        return responder
      })
      .finally(() => this.#coming.delete(key))
    this.#coming.set(key, coming)
    return coming
  }
}
