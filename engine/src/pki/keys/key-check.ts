// Every key that a mount certifies, imports or accepts for an ACME account passes here. Keys that the server generates do not:
// they are fresh.
import { invalid } from "../../core/errors.ts"
import type { PublicKey } from "../../x509/public-key.ts"
import { type BlockedKeyRepository, keyDigestOf } from "./blocked-key.ts"

/** A key from a client or from the store, before it is certified, stored or registered. */
export interface PresentedKey {
  readonly key: Pick<PublicKey, "spki">
  /** Builds the refusal in the words of the caller's API. */
  readonly refuse: (problem: string) => Error
}

/** The refusal of the certificate API names the parameter that holds the key. */
export const presentedKey = (key: Pick<PublicKey, "spki">, parameter: string): PresentedKey => ({
  key,
  refuse: (problem) => invalid([{ field: [parameter], detail: problem }]),
})

export const blockedKeyProblem =
  "the key is blocked: a certificate for it was revoked with reason keyCompromise, or an operator added it to sys/blocked-keys"

/** Call it within the transaction that records the certificate: a revocation that committed before it is seen. */
export async function assertKeyAllowed(
  { blockedKeys }: { readonly blockedKeys: Pick<BlockedKeyRepository, "isBlocked"> },
  { key, refuse }: PresentedKey,
): Promise<void> {
  if (await blockedKeys.isBlocked(keyDigestOf(key.spki))) throw refuse(blockedKeyProblem)
}
