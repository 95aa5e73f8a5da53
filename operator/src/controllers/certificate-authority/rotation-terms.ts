// Decides whether an authority is rotated. Pure functions.
import type { CertificateAuthoritySpec } from "../../api/certificate-authority.ts"
import { parseGoDuration } from "../../go-duration.ts"
import type { OwnIssuers } from "./own-issuers.ts"

export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

export interface RotationFacts {
  readonly now: number
  readonly newest: Validity
  /** Expiry of the parent's certificate, which limits the next one; undefined for a root, and if it is not known. */
  readonly parentNotAfter: number | undefined
  /** A rotation was requested, and has not been done. */
  readonly isRequested: boolean
}

export type RotationDecision =
  | { readonly is: "requested" | "due" }
  /** At this time; undefined if never. */
  | { readonly is: "later"; readonly at: number | undefined }
  /** The lifetime is not longer than `renewBefore`, so that each rotation would be due at once. */
  | { readonly is: "too-short"; readonly lifetimeMs: number }
  /** The next certificate would not end later, because the parent's does not. */
  | { readonly is: "awaiting-parent" }

export function decideRotation(
  { renewBefore }: Pick<CertificateAuthoritySpec, "renewBefore">,
  { now, newest, parentNotAfter, isRequested }: RotationFacts,
): RotationDecision {
  if (isRequested) return { is: "requested" }
  const renewBeforeMs = renewBefore === undefined ? undefined : parseGoDuration(renewBefore)
  if (renewBeforeMs === undefined) return { is: "later", at: undefined }
  const lifetimeMs = newest.notAfter - newest.notBefore
  if (lifetimeMs <= renewBeforeMs) return { is: "too-short", lifetimeMs }
  const at = newest.notAfter - renewBeforeMs
  if (now < at) return { is: "later", at }
  return parentNotAfter !== undefined && parentNotAfter <= newest.notAfter ? { is: "awaiting-parent" } : { is: "due" }
}

/** Returns the revision of an issuer that is missing: the first, one that was deleted, or one whose creation has begun. */
export function missingRevision(
  { issuers: [newest], keys: [key] }: Pick<OwnIssuers, "issuers" | "keys">,
  known: number | undefined,
): number | undefined {
  if (newest === undefined) return Math.max(known ?? 1, key?.revision ?? 1)
  if (known !== undefined && newest.revision < known) return known
  return key !== undefined && key.revision > newest.revision ? key.revision : undefined
}
