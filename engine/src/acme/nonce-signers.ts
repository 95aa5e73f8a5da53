// Who signs the nonces of each directory: a key of its own, which is derived once and kept for as long as it is asked for.
import QuickLRU from "quick-lru"
import type { BlockSigner, Signer } from "../core/signing.ts"

/** With the tables of its key one takes two kilobytes; twice as many are held at most. */
const signersMaximum = 1_000

/** Each directory of each mount has one. */
export class NonceSigners {
  readonly #signer: Signer
  readonly #held = new QuickLRU<string, BlockSigner>({ maxSize: signersMaximum })

  constructor(signer: Signer) {
    this.#signer = signer
  }

  /** `scope` is mount and directory. */
  of(scope: string): BlockSigner {
    const held = this.#held.get(scope)
    if (held !== undefined) return held
    const made = this.#signer.forBlocks(`acme-nonce\n${scope}`)
    this.#held.set(scope, made)
    return made
  }
}
