// Chain of an issuer up to a root, among the certificates of its mount. Names and key identifiers find candidates; signatures decide.
import { sameName } from "../../x509/name.ts"
import type { IssuerSettings } from "./issuer.ts"
import type { ParsedIssuer } from "./parsed-issuer.ts"

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

// The ways from an issuer up to the last certificate that its mount holds, as a verifier may go them (RFC 5280, section 6.1).

export interface CertificationPaths {
  /** Each begins with the issuer; the first is preferred. At least one. */
  readonly paths: readonly (readonly ParsedIssuer[])[]
  /** Members of a manual chain that have signed one before them, which names another issuer. */
  readonly unnamed: readonly ParsedIssuer[]
  readonly settings: IssuerSettings
}

/** Cross-signatures multiply paths; a verifier needs one. */
const pathsMaximum = 16

/** Within a manual chain where there is one. */
export function certificationPaths(issuer: ParsedIssuer, issuers: readonly ParsedIssuer[]): CertificationPaths {
  const known = held.get(issuer)
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
  held.set(issuer, found)
  return found
}

/** An issuer is held anew with every version of its mount, so its paths end with it. */
const held = new WeakMap<ParsedIssuer, CertificationPaths>()

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
  if (last === undefined || paths.length >= pathsMaximum) return
  const parents =
    last.isSelfSigned || path.length >= chainMaximum
      ? []
      : parentsOf(last, members).filter((parent) => !path.includes(parent))
  if (parents.length === 0) paths.push(path)
  for (const parent of parents) walk([...path, parent], members, paths)
}
