// Keys of accounts that signed lately. Whoever signs with one of them is who he says, as long as the account has it still: that is
// found out where the request takes effect, so that what stands here may be out of date, here or on another server.
import { LRUCache } from "lru-cache"
import type { PublicJwk } from "../x509/jwk.ts"
import type { AcmeAccountId } from "./account.ts"

export interface AccountKey {
  readonly jwk: PublicJwk
  readonly thumbprint: string
}

/** Half a megabyte. */
const keysMaximum = 1_000

export class AccountKeys {
  readonly #keys = new LRUCache<AcmeAccountId, AccountKey & { readonly scope: string }>({ max: keysMaximum })

  /** `scope` is the directory that it belongs to. */
  of(scope: string, id: AcmeAccountId): AccountKey | undefined {
    const known = this.#keys.get(id)
    return known?.scope === scope ? known : undefined
  }

  keep(scope: string, id: AcmeAccountId, { jwk, thumbprint }: AccountKey): void {
    this.#keys.set(id, { jwk, thumbprint, scope })
  }

  forget(id: AcmeAccountId): void {
    this.#keys.delete(id)
  }
}
