// Checks of every key that a mount certifies, imports or accepts for an ACME account. Keys that the server generates are fresh and
// need no checks.
import { invalid } from "../../core/errors.ts"
import { type PublicKey, readPublicKey, rsaExponentOf } from "../../x509/public-key.ts"
import { weakKeyProblem } from "../../x509/weak-rsa.ts"
import { rsaExponentProblem } from "../policy/key-strength.ts"
import { roleDefaults } from "../roles/role.ts"
import type { WeakKeyList } from "../../x509/weak-key-list.ts"
import { type BlockedKeyRepository, keyDigestOf } from "./blocked-key.ts"

/** Key from a client or from the database, before it is certified, stored or registered. */
export interface PresentedKey {
  readonly key: Pick<PublicKey, "spki">
  /** Builds the error in the form of the API that the client uses. */
  readonly refuse: (problem: string) => Error
}

/** Errors of the certificate API name the parameter that contains the key. */
export const presentedKey = (key: Pick<PublicKey, "spki">, parameter: string): PresentedKey => ({
  key,
  refuse: (problem) => invalid([{ field: [parameter], detail: problem }]),
})

/** Throws if the exponent of an RSA key is not allowed. Endpoints without a role use the default of roles. */
export function assertRsaExponent(
  { key, refuse }: PresentedKey,
  allowed: readonly number[] = roleDefaults.allowedRsaExponents,
): void {
  const problem = rsaExponentProblem(rsaExponentOf(readPublicKey(key.spki)), allowed)
  if (problem !== undefined) throw refuse(problem)
}

/** Rejects weak keys that were stored before weak keys were rejected. */
export function assertStored({ key, refuse }: PresentedKey): void {
  const problem = weakKeyProblem(readPublicKey(key.spki))
  if (problem !== undefined) throw refuse(problem)
}

export const blockedKeyProblem =
  "the key is blocked: a certificate for it was revoked with reason keyCompromise, or an operator added it to sys/blocked-keys"

export const knownWeakKeyProblem = "the key is in the list of known weak keys that --weak-keys names (CVE-2008-0166)"

/**
 * Throws if the key is blocked or known as weak. Call it within the transaction that records the certificate: it then sees every
 * revocation that committed before.
 */
export async function assertKeyAllowed(
  { weakKeys }: { readonly weakKeys: WeakKeyList },
  { blockedKeys }: { readonly blockedKeys: Pick<BlockedKeyRepository, "isBlocked"> },
  { key, refuse }: PresentedKey,
): Promise<void> {
  if (weakKeys.size > 0 && weakKeys.has(readPublicKey(key.spki))) throw refuse(knownWeakKeyProblem)
  if (await blockedKeys.isBlocked(keyDigestOf(key.spki))) throw refuse(blockedKeyProblem)
}
