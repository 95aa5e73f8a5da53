// Chain of an issuer up to a root, among the certificates of its mount. Names and key identifiers find candidates; signatures decide.
import { sameName } from "../../x509/name.ts"
import type { IssuerSettings } from "./issuer.ts"
import type { ParsedIssuer } from "./parsed-issuer.ts"

/** Maximum length of a chain. A longer one is a mistake, or a circle of cross-signatures. */
export const maxChain = 32

/** Returns the issuer, followed by the certificates above it as far as this mount has them. No certificate appears twice. */
export function chainOf(issuer: ParsedIssuer, issuers: readonly ParsedIssuer[]): readonly ParsedIssuer[] {
  if (issuer.settings.manualChain.length > 0)
    return issuer.settings.manualChain.flatMap((id) => issuers.filter((other) => other.id === id))
  const chain: ParsedIssuer[] = [issuer]
  for (let last = issuer; chain.length < maxChain && !last.isSelfSigned;) {
    const parent = parentsOf(last, issuers).find((candidate) => !chain.includes(candidate))
    if (parent === undefined) break
    chain.push(parent)
    last = parent
  }
  return chain
}

/**
 * Returns the certificates that issued `child`. Self-signed ones come first, so that a chain prefers to end at a root; then those
 * with the latest expiry.
 */
export const parentsOf = (child: ParsedIssuer, issuers: readonly ParsedIssuer[]): readonly ParsedIssuer[] =>
  issuers
    .filter((candidate) => candidate.id !== child.id && child.isIssuedBy(candidate))
    .toSorted(
      (one, other) =>
        Number(other.isSelfSigned) - Number(one.isSelfSigned) || other.parsed.notAfter - one.parsed.notAfter,
    )

// Certification paths from an issuer up to the last certificate in its mount, as a verifier may build them (RFC 5280, section 6.1).

export interface CertificationPaths {
  /** At least one path. Each begins with the issuer; the first is preferred. */
  readonly paths: readonly (readonly ParsedIssuer[])[]
  /** Members of a manual chain that signed an earlier member although that member names another issuer. */
  readonly unnamed: readonly ParsedIssuer[]
  readonly settings: IssuerSettings
}

/** Maximum number of paths. Cross-signatures multiply paths, and a verifier needs only one. */
const maxPaths = 16

/** Returns the paths within the manual chain if the issuer has one, otherwise among all issuers of the mount. */
export function certificationPaths(issuer: ParsedIssuer, issuers: readonly ParsedIssuer[]): CertificationPaths {
  const known = cachedPaths.get(issuer)
  if (known !== undefined) return known
  const { settings } = issuer
  const members =
    settings.manualChain.length > 0
      ? settings.manualChain.flatMap((id) => issuers.filter((other) => other.id === id))
      : issuers
  const paths: (readonly ParsedIssuer[])[] = []
  walk([issuer], members, paths)
  const unnamed = settings.manualChain.length > 0 ? unnamedIn(members) : []
  const found = { paths, unnamed, settings }
  cachedPaths.set(issuer, found)
  return found
}

/** Paths by issuer. Each version of a mount has its own `ParsedIssuer` objects, so cached paths are dropped with it. */
const cachedPaths = new WeakMap<ParsedIssuer, CertificationPaths>()

function unnamedIn(chain: readonly ParsedIssuer[]): readonly ParsedIssuer[] {
  const orphans = chain.filter((child) => !chain.some((parent) => child.isIssuedBy(parent)))
  return chain.filter((one, at) =>
    orphans.some(
      (child) =>
        chain.indexOf(child) < at && !sameName(child.parsed.issuer, one.parsed.subject) && child.isSignedBy(one),
    ),
  )
}

function walk(
  path: readonly ParsedIssuer[],
  members: readonly ParsedIssuer[],
  paths: (readonly ParsedIssuer[])[],
): void {
  const last = path.at(-1)
  if (last === undefined || paths.length >= maxPaths) return
  const parents =
    last.isSelfSigned || path.length >= maxChain
      ? []
      : parentsOf(last, members).filter((parent) => !path.includes(parent))
  if (parents.length === 0) paths.push(path)
  for (const parent of parents) walk([...path, parent], members, paths)
}
