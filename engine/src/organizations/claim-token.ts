// Tokens for one run claim. An agent gives one to a process that executes the run in its place, such as a pod. The token is signed and not
// stored: it depends on the token of the agent, and is refused as soon as that one is.
import { grantFor, isGranted } from "../core/grants.ts"
import type { Signer } from "../core/signing.ts"
import { dayMs, type Instant } from "../core/time.ts"
import { tokenPrefix } from "./token.ts"

/** Longest validity of a token. A claim ends much earlier, and its token with it. */
export const claimTokenMs = 7 * dayMs

export interface ClaimToken {
  readonly secret: string
  readonly expiresAt: Instant
}

interface ClaimTokenSubject {
  readonly claimId: string
  /** Token of the agent. */
  readonly tokenId: string
}

const subjectOf = ({ claimId, tokenId }: ClaimTokenSubject) => `run-claim-token/${claimId}/${tokenId}`

export function newClaimToken(signer: Signer, subject: ClaimTokenSubject, now: Instant): ClaimToken {
  const expiresAt = now + claimTokenMs
  const credential = grantFor(signer, subjectOf(subject), expiresAt)
  return { secret: `${tokenPrefix}${subject.claimId}.${subject.tokenId}.${credential}`, expiresAt }
}

const form = new RegExp(`^${tokenPrefix}(claim-\\w{16})\\.(at-\\w{16})\\.((\\d{1,15})\\.[\\w-]{43})$`)

/** Returns what the token was made for. Returns undefined if it is no token of a claim, has expired, or was not made by this engine. */
export function openClaimToken(
  signer: Signer,
  secret: string,
  now: Instant,
): (ClaimTokenSubject & { readonly expiresAt: Instant }) | undefined {
  const [, claimId, tokenId, credential, expiresAt] = form.exec(secret) ?? []
  if (claimId === undefined || tokenId === undefined || credential === undefined) return undefined
  if (!isGranted(signer, subjectOf({ claimId, tokenId }), credential, now)) return undefined
  return { claimId, tokenId, expiresAt: Number(expiresAt) }
}
