// Chains from a certificate to a root (RFC 8555, section 7.4.2).
import { chainOf, parentsOf } from "../../pki/issuers/chain.ts"
import type { ParsedIssuer } from "../../pki/issuers/parsed-issuer.ts"
import { isSamePublicKey } from "../../x509/public-key.ts"
import type { CertificateChains } from "../acme.ts"

/**
 * Returns the default chain first, without the root unless the root is all there is. Alternatives follow: the chain with its root, and
 * chains through cross-signed issuers.
 */
export function chainsFrom(issuer: ParsedIssuer | undefined, issuers: readonly ParsedIssuer[]): CertificateChains {
  if (issuer === undefined) return [[]]
  const isSameAuthority = (other: ParsedIssuer) =>
    Buffer.compare(other.parsed.subject, issuer.parsed.subject) === 0 &&
    isSamePublicKey(other.publicKey, issuer.publicKey)
  const variants = [issuer, ...issuers.filter((other) => other.id !== issuer.id && isSameAuthority(other))]
  const ways = variants.flatMap((variant) => [
    chainOf(variant, issuers),
    ...(variant.settings.manualChain.length > 0
      ? []
      : parentsOf(variant, issuers)
          .slice(1)
          .map((parent) => [variant, ...chainOf(parent, issuers)])),
  ])
  const chains = ways.flatMap((way) => {
    const withoutRoot = way.filter(({ isSelfSigned }) => !isSelfSigned)
    return withoutRoot.length === 0 || withoutRoot.length === way.length ? [way] : [withoutRoot, way]
  })
  const distinct = new Map(chains.map((chain) => [chain.map(({ id }) => id).join(" "), chain]))
  return Array.from(distinct.values(), (chain) => chain.map(({ certificate }) => certificate)).slice(0, maxChains)
}

const maxChains = 8
