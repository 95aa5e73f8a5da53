// The ways from an issuer up to the last certificate that its mount holds, as a verifier may go them (RFC 5280, section 6.1).
import { sameName } from "../../x509/name.ts"
import { chainMaximum, parentsOf } from "./chain.ts"
import type { ParsedIssuer } from "./held-issuer.ts"
import type { IssuerSettings } from "./issuer.ts"

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

function walk(path: readonly ParsedIssuer[], members: readonly ParsedIssuer[], paths: (readonly ParsedIssuer[])[]): void {
  const last = path.at(-1)
  if (last === undefined || paths.length >= pathsMaximum) return
  const parents =
    last.isSelfSigned || path.length >= chainMaximum
      ? []
      : parentsOf(last, members).filter((parent) => !path.includes(parent))
  if (parents.length === 0) paths.push(path)
  for (const parent of parents) walk([...path, parent], members, paths)
}
