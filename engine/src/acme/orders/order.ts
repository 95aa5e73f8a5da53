// Orders, authorizations and challenges, and how each stands by what is known of it at an instant (RFC 8555, section 7.1.6).
// What lies in the past ends them without anybody writing it down.
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
  /** `open` until it is finalized, `processing` until that is done or has failed. */
  readonly state: "open" | "processing" | "valid" | "invalid"
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly identifiers: readonly Identifier[]
  readonly notBefore: Instant | null
  readonly notAfter: Instant | null
  readonly profile: string | null
  /** The certificate that this one is to come after (RFC 9773, section 5), as its unique identifier there. */
  readonly replaces: string | null
  /** DER, from the moment it is finalized. */
  readonly csr: Uint8Array | null
  readonly serialNumber: SerialNumber | null
  /** Why it was given up while it was processing. */
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

/** For how long what is proved serves the orders of the same account, unless CAA records are to be looked at. */
export const validityMs = 30 * dayMs
/** For how long it counts what CAA records have said when a name was proved; public authorities look again as soon. */
export const caaValidityMs = 8 * hourMs

/** What was proved no later than this says nothing any more of CAA records, which are asked for this authority since then. */
export const caaHorizon = (now: Instant, { identitiesChangedAt }: CaaHistory): Instant =>
  Math.max(now - caaValidityMs, identitiesChangedAt - 1)

/** Whether what CAA records said when the name was proved does not count any more. An address has none. */
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
  /** Of the last attempt. */
  readonly error: Problem | null
  /** How many attempts there were. */
  readonly attempts: number
}

/** Once proved, or failed, it stays that; nobody proves anything for one that has expired. */
export function authorizationStatusOf({ state, expiresAt }: Authorization, now: Instant): AuthorizationStatus {
  if (state === "pending") return expiresAt <= now ? "invalid" : "pending"
  return state === "valid" && expiresAt <= now ? "expired" : state
}

/** Of the order and the authorizations it asks for. */
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

/** What whoever answers shows (RFC 8555, section 8.1). */
export const keyAuthorization = (token: string, thumbprint: string): string => `${token}.${thumbprint}`

// From when until when a certificate of an order is valid: what its role and issuer allow, held to `max_ttl` from end to end. A
// client that asks for an instant gets it or is refused (RFC 8555, section 7.4).

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
