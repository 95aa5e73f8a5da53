// From when until when a certificate of an order is valid: what its role and issuer allow, held to `max_ttl` from end to end. A
// client that asks for an instant gets it or is refused (RFC 8555, section 7.4).
import { type Fault, invalid } from "../core/errors.ts"
import { formatInstant, type Instant, secondMs } from "../core/time.ts"
import type { Validity, ValidityRules, ValidityTerms } from "../pki/issue/validity.ts"
import type { NotAfterBound, Role } from "../pki/roles/role.ts"
import { acmeMaxTtlMs, type AcmeSettings } from "../pki/settings/acme-settings.ts"

export interface AskedValidity {
  readonly notBefore: Instant | null
  readonly notAfter: Instant | null
  /** When the order was made; undefined for one that is being made. */
  readonly createdAt?: Instant
}

export interface OrderValidityTerms extends Omit<ValidityTerms, "rules" | "beyondIssuer" | "issuer"> {
  readonly role: Role
  readonly settings: Pick<AcmeSettings, "maxTtlMs">
  readonly issuer: NonNullable<ValidityTerms["issuer"]> & { readonly notBefore: Instant }
}

/** Returns the role's rules as they hold for one order. */
export function orderValidityRules(asked: AskedValidity, terms: OrderValidityTerms): ValidityRules {
  const { role, settings, mountTtls, now, issuer } = terms
  const maximumMs = Math.min(role.maxTtlMs || mountTtls.maximumMs, acmeMaxTtlMs(settings))
  // Back-dating counts as lifetime. It leaves half of a short one.
  const backdatingMs = Math.min(role.notBeforeDurationMs, maximumMs / 2)
  // What a client asked for is judged by when it asked.
  const reference = asked.notBefore === null ? now : (asked.createdAt ?? now)
  const earliest = wholeSecond(Math.max(reference - backdatingMs, issuer.notBefore))
  const begin = Math.max(earliest, asked.notBefore ?? beginOf(asked, { role, now, maximumMs }))
  const latest = Math.min(begin, wholeSecond(now)) + maximumMs
  return {
    ttlMs: role.ttlMs,
    maxTtlMs: Math.max(secondMs, latest - now),
    notBeforeDurationMs: role.notBeforeDurationMs,
    notBefore: asked.notBefore === null ? begin : null,
    notBeforeBound:
      role.notBefore !== null || role.notBeforeBound === "forbid"
        ? "forbid"
        : Math.max(earliest, typeof role.notBeforeBound === "number" ? role.notBeforeBound : earliest),
    notAfter: role.notAfter === null ? null : Math.min(role.notAfter, latest),
    notAfterBound: boundedBy(role.notAfterBound, latest),
  }
}

/** Where none is asked for; later than usual where the end that is asked for would be too far away. */
function beginOf(
  { notAfter }: Pick<AskedValidity, "notAfter">,
  { role, now, maximumMs }: { readonly role: Role; readonly now: Instant; readonly maximumMs: number },
): Instant {
  const usual = role.notBefore ?? Number.NEGATIVE_INFINITY
  return notAfter === null ? usual : Math.max(usual, Math.min(wholeSecond(now), wholeSecond(notAfter) - maximumMs))
}

function boundedBy(bound: NotAfterBound, latest: Instant): NotAfterBound {
  if (typeof bound === "number") return Math.min(bound, latest)
  return bound === "permit" ? latest : bound
}

/**
 * Returns the issuer's end and what it does to a certificate's. A default lifetime is cut to it, as Vault's ACME does where
 * `leaf_not_after_behavior` is `err`; an end that a client asked for is not.
 */
export function issuerBoundFor(
  { notAfter }: AskedValidity,
  { issuer }: OrderValidityTerms,
): OrderValidityTerms["issuer"] {
  const { leafNotAfterBehavior: behavior } = issuer
  if (notAfter === null) return { ...issuer, leafNotAfterBehavior: behavior === "err" ? "truncate" : behavior }
  return { ...issuer, leafNotAfterBehavior: behavior === "truncate" ? "err" : behavior }
}

/** Throws `EngineError("invalid")` where a certificate would not begin and end as its order asks. */
export function rejectOtherValidity(asked: AskedValidity, validity: Validity): void {
  for (const field of ["notBefore", "notAfter"] as const) {
    const instant = asked[field]
    if (instant === null || wholeSecond(instant) === validity[field]) continue
    const [wanted, given] = [formatInstant(wholeSecond(instant)), formatInstant(validity[field])]
    throw invalid([{ field: [field], detail: `"${field}" of ${wanted} cannot be met: it would be ${given}` }])
  }
}

/** Returns whether a fault is one of instants, and not of names or keys. */
export const isValidityFault = ({ field }: Fault): boolean =>
  field !== undefined && validityFields.has(String(field[0]))
const validityFields: ReadonlySet<string> = new Set(["ttlMs", "notBefore", "notAfter"])

const wholeSecond = (instant: Instant): Instant => Math.floor(instant / secondMs) * secondMs
