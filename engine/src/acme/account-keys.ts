// Keys of accounts that signed lately. Whoever signs with one of them is who he says, as long as the account has it still: that is
// found out where the request takes effect, so that what stands here may be out of date, here or on another server.
import type { PublicJwk } from "../x509/jwk.ts"
import type { AcmeAccountId } from "./account.ts"

export interface AccountKey {
  readonly jwk: PublicJwk
  readonly thumbprint: string
}

/** With that of one about as large, half a megabyte. */
const keysMaximum = 1_000

export class AccountKeys {
  readonly #keys = new Map<AcmeAccountId, AccountKey & { readonly scope: string }>()

  /** `scope` is the directory that it belongs to. */
  of(scope: string, id: AcmeAccountId): AccountKey | undefined {
    const known = this.#keys.get(id)
    return known?.scope === scope ? known : undefined
  }

  keep(scope: string, id: AcmeAccountId, { jwk, thumbprint }: AccountKey): void {
    // The one that was found out last is the last to go.
    this.#keys.delete(id)
    this.#keys.set(id, { jwk, thumbprint, scope })
    for (const [oldest] of this.#keys) {
      if (this.#keys.size <= keysMaximum) break
      this.#keys.delete(oldest)
    }
  }

  forget(id: AcmeAccountId): void {
    this.#keys.delete(id)
  }
}
