// Orders, authorizations and challenges, and their status at an instant (RFC 8555, section 7.1.6). They expire by
// time, without a write.
import { type Fault, invalid } from "../../core/errors.ts"
import type { Id } from "../../core/ids.ts"
import { dayMs, formatInstant, hourMs, type Instant, secondMs } from "../../core/time.ts"
import type { Validity, ValidityRules, ValidityTerms } from "../../pki/issuance/validity.ts"
import { acmeMaxTtlMs, type AcmeSettings } from "../../pki/mounts/acme-settings.ts"
import type { CaaHistory } from "../../pki/mounts/mount-settings.ts"
import type { MountId } from "../../pki/mounts/mount.ts"
import type { NotAfterBound, Role } from "../../pki/roles/role.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { AcmeAccountId } from "../accounts/account.ts"
import type { Problem } from "../problem.ts"
import type { Identifier, ProvedIdentifier } from "./identifier.ts"

export type AcmeOrderId = Id<"order">
export type AuthorizationId = Id<"authz">

export type OrderStatus = "pending" | "ready" | "processing" | "valid" | "invalid"
export type AuthorizationStatus = "pending" | "valid" | "invalid" | "deactivated" | "expired"
export const challengeTypes = ["http-01", "dns-01", "tls-alpn-01"] as const
export type ChallengeType = (typeof challengeTypes)[number]
export type ChallengeStatus = "pending" | "processing" | "valid" | "invalid"

export interface AcmeOrder {
  readonly id: AcmeOrderId
  readonly mountId: MountId
  readonly accountId: AcmeAccountId
  /** `open` until a client finalizes the order, `processing` until a certificate is issued or the order fails. */
  readonly state: "open" | "processing" | "valid" | "invalid"
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly identifiers: readonly Identifier[]
  readonly notBefore: Instant | null
  readonly notAfter: Instant | null
  readonly profile: string | null
  /** Identifier of the certificate that this order renews (RFC 9773, section 5). */
  readonly replaces: string | null
  /** DER; set when the order is finalized. */
  readonly csr: Uint8Array | null
  readonly serialNumber: SerialNumber | null
  /** Reason why the order failed while it was processing. */
  readonly error: Problem | null
}

export interface Authorization {
  readonly id: AuthorizationId
  readonly mountId: MountId
  readonly accountId: AcmeAccountId
  readonly identifier: ProvedIdentifier
  readonly state: "pending" | "valid" | "invalid" | "deactivated"
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** Time for which a successful authorization serves later orders of the account, unless CAA records must be checked. */
export const validityMs = 30 * dayMs
/** Time for which a CAA check is valid. Public CAs repeat the check after the same time. */
export const caaValidityMs = 8 * hourMs

/** Returns the time up to which CAA checks no longer count. Checks before the last change of `caa_identities` never count. */
export const caaHorizon = (now: Instant, { identitiesChangedAt }: CaaHistory): Instant =>
  Math.max(now - caaValidityMs, identitiesChangedAt - 1)

/** Returns true if the CAA check of a proved name is too old. An address has none. */
export const isCaaOld = (
  { identifier, state, expiresAt }: Pick<Authorization, "identifier" | "state" | "expiresAt">,
  now: Instant,
  history: CaaHistory,
): boolean => identifier.type === "dns" && state === "valid" && expiresAt - validityMs <= caaHorizon(now, history)

export interface Challenge {
  readonly authorizationId: AuthorizationId
  readonly type: ChallengeType
  readonly token: string
  readonly status: ChallengeStatus
  readonly validatedAt: Instant | null
  /** Error of the last attempt. */
  readonly error: Problem | null
  readonly attempts: number
}

/** Returns the status at an instant. A pending authorization that expires is `invalid`, a valid one `expired`. */
export function authorizationStatusOf({ state, expiresAt }: Authorization, now: Instant): AuthorizationStatus {
  if (state === "pending") return expiresAt <= now ? "invalid" : "pending"
  return state === "valid" && expiresAt <= now ? "expired" : state
}

/** Returns the status of an order with authorizations of these statuses. */
export function orderStatusOf(
  { state, expiresAt }: Pick<AcmeOrder, "state" | "expiresAt">,
  authorizations: readonly AuthorizationStatus[],
  now: Instant,
): OrderStatus {
  if (state !== "open") return state
  if (expiresAt <= now) return "invalid"
  if (authorizations.every((status) => status === "valid")) return "ready"
  return authorizations.every((status) => status === "valid" || status === "pending") ? "pending" : "invalid"
}

/** Returns the challenge types that can prove an identifier. */
export function challengesFor({ type, wildcard }: ProvedIdentifier): readonly ChallengeType[] {
  if (type === "ip") return ["http-01"]
  return wildcard ? ["dns-01"] : challengeTypes
}

/** Returns the response that proves control of the key (RFC 8555, section 8.1). */
export const keyAuthorization = (token: string, thumbprint: string): string => `${token}.${thumbprint}`

// Validity of the certificate of an order: role and issuer bound it, and `max_ttl` bounds the whole lifetime. An instant that a client
// requests is met or rejected (RFC 8555, section 7.4).

export interface RequestedValidity {
  readonly notBefore: Instant | null
  readonly notAfter: Instant | null
  /** Creation time of the order; undefined for a new order. */
  readonly createdAt?: Instant
}

export interface OrderValidityTerms extends Omit<ValidityTerms, "rules" | "beyondIssuer" | "issuer"> {
  readonly role: Role
  readonly settings: Pick<AcmeSettings, "maxTtlMs">
  readonly issuer: NonNullable<ValidityTerms["issuer"]> & { readonly notBefore: Instant }
}

/** Returns the role's validity rules for one order. */
export function orderValidityRules(requested: RequestedValidity, terms: OrderValidityTerms): ValidityRules {
  const { role, settings, mountTtls, now, issuer } = terms
  const maximumMs = Math.min(role.maxTtlMs || mountTtls.maximumMs, acmeMaxTtlMs(settings))
  // Back-dating counts as lifetime. A short lifetime loses at most half to it.
  const backdatingMs = Math.min(role.notBeforeDurationMs, maximumMs / 2)
  // A requested instant is judged at the time of the request.
  const reference = requested.notBefore === null ? now : (requested.createdAt ?? now)
  const earliest = wholeSecond(Math.max(reference - backdatingMs, issuer.notBefore))
  const begin = Math.max(earliest, requested.notBefore ?? beginOf(requested, { role, now, maximumMs }))
  const latest = Math.min(begin, wholeSecond(now)) + maximumMs
  return {
    ttlMs: role.ttlMs,
    maxTtlMs: Math.max(secondMs, latest - now),
    notBeforeDurationMs: role.notBeforeDurationMs,
    notBefore: requested.notBefore === null ? begin : null,
    notBeforeBound:
      role.notBefore !== null || role.notBeforeBound === "forbid"
        ? "forbid"
        : Math.max(earliest, typeof role.notBeforeBound === "number" ? role.notBeforeBound : earliest),
    notAfter: role.notAfter === null ? null : Math.min(role.notAfter, latest),
    notAfterBound: boundedBy(role.notAfterBound, latest),
  }
}

/**
 * Returns the start of the validity if the client requests none. It is later than usual if the requested end would otherwise exceed the
 * maximum lifetime.
 */
function beginOf(
  { notAfter }: Pick<RequestedValidity, "notAfter">,
  { role, now, maximumMs }: { readonly role: Role; readonly now: Instant; readonly maximumMs: number },
): Instant {
  const earliest = role.notBefore ?? Number.NEGATIVE_INFINITY
  return notAfter === null
    ? earliest
    : Math.max(earliest, Math.min(wholeSecond(now), wholeSecond(notAfter) - maximumMs))
}

function boundedBy(bound: NotAfterBound, latest: Instant): NotAfterBound {
  if (typeof bound === "number") return Math.min(bound, latest)
  return bound === "permit" ? latest : bound
}

/**
 * Returns the issuer's end and its effect on a certificate's end. As in Vault's ACME, `leaf_not_after_behavior` `err` truncates a default
 * lifetime. An end that a client requests is not truncated.
 */
export function issuerBoundFor(
  { notAfter }: RequestedValidity,
  { issuer }: OrderValidityTerms,
): OrderValidityTerms["issuer"] {
  const { leafNotAfterBehavior: behavior } = issuer
  if (notAfter === null) return { ...issuer, leafNotAfterBehavior: behavior === "err" ? "truncate" : behavior }
  return { ...issuer, leafNotAfterBehavior: behavior === "truncate" ? "err" : behavior }
}

/** Throws `EngineError("invalid")` if the certificate would not begin and end as requested. */
export function rejectOtherValidity(requested: RequestedValidity, validity: Validity): void {
  for (const field of ["notBefore", "notAfter"] as const) {
    const instant = requested[field]
    if (instant === null || wholeSecond(instant) === validity[field]) continue
    const [wanted, given] = [formatInstant(wholeSecond(instant)), formatInstant(validity[field])]
    throw invalid([{ field: [field], detail: `"${field}" of ${wanted} cannot be met: it would be ${given}` }])
  }
}

/** Returns true if the fault is about an instant, and not about names or keys. */
export const isValidityFault = ({ field }: Fault): boolean =>
  field !== undefined && validityFields.has(String(field[0]))
const validityFields: ReadonlySet<string> = new Set(["ttlMs", "notBefore", "notAfter"])

const wholeSecond = (instant: Instant): Instant => Math.floor(instant / secondMs) * secondMs
