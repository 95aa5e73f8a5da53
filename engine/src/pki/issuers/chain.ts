// Chain of an issuer up to a root, among the certificates of its mount. Names and key identifiers find candidates; signatures decide.
import type { ParsedIssuer } from "./held-issuer.ts"

/** Longer ones are a mistake, or cross-signatures in a circle. */
export const chainMaximum = 32

/** The issuer itself first, then whoever issued it, as far as this mount knows; one certificate never twice. */
export function chainOf(issuer: ParsedIssuer, issuers: readonly ParsedIssuer[]): readonly ParsedIssuer[] {
  if (issuer.settings.manualChain.length > 0)
    return issuer.settings.manualChain.flatMap((id) => issuers.filter((other) => other.id === id))
  const chain: ParsedIssuer[] = [issuer]
  for (let last = issuer; chain.length < chainMaximum && !last.isSelfSigned;) {
    const parent = parentsOf(last, issuers).find((candidate) => !chain.includes(candidate))
    if (parent === undefined) break
    chain.push(parent)
    last = parent
  }
  return chain
}

/** Self-signed ones first, so that a chain ends at a root where two ways are open; then the one that holds longest. */
export const parentsOf = (child: ParsedIssuer, issuers: readonly ParsedIssuer[]): readonly ParsedIssuer[] =>
  issuers
    .filter((candidate) => candidate.id !== child.id && child.isIssuedBy(candidate))
    .toSorted(
      (one, other) =>
        Number(other.isSelfSigned) - Number(one.isSelfSigned) || other.parsed.notAfter - one.parsed.notAfter,
    )
