// Decides the validity of certificates. Both ends are whole seconds and inclusive (RFC 5280, section 4.1.2.5).
import { formatDuration, formatInstant, type Instant, secondMs } from "../../core/time.ts"
import type { LeafNotAfterBehavior } from "../issuers/issuer.ts"
import type { Violation } from "../policy/violation.ts"
import type { Role } from "../roles/role.ts"

export interface Validity {
  readonly notBefore: Instant
  readonly notAfter: Instant
}

export interface ValidityRequest {
  /** 0: not set. */
  readonly ttlMs: number
  readonly notBefore: Instant | null
  readonly notAfter: Instant | null
}

/** Validity rules of a role. Requests without a role use `rolelessRules`. */
export type ValidityRules = Pick<
  Role,
  "ttlMs" | "maxTtlMs" | "notBeforeDurationMs" | "notBefore" | "notBeforeBound" | "notAfter" | "notAfterBound"
>

/** Rules of endpoints without a role. Their callers are trusted: any expiry is accepted, with a warning above the maximum. */
export const rolelessRules: ValidityRules = {
  ttlMs: 0,
  maxTtlMs: 0,
  notBeforeDurationMs: 30 * secondMs,
  notBefore: null,
  notBeforeBound: "permit",
  notAfter: null,
  notAfterBound: "permit",
}

export interface ValidityTerms {
  readonly rules: ValidityRules
  /** TTLs of the mount, used if the rules have none. */
  readonly mountTtls: { readonly defaultMs: number; readonly maximumMs: number }
  /** Undefined for a self-signed certificate. */
  readonly issuer:
    | {
        readonly notBefore: Instant
        readonly notAfter: Instant
        readonly leafNotAfterBehavior: LeafNotAfterBehavior
      }
    | undefined
  /** Treatment of a certificate that would outlive its issuer. CA certificates and sign-verbatim use `truncate` by default. */
  readonly beyondIssuer: "as-issuer-says" | "truncate"
  readonly now: Instant
}

/** Result of the decision. The validity is meaningful only without violations. */
export interface DecidedValidity {
  readonly validity: Validity
  readonly violations: readonly Violation[]
  readonly warnings: readonly string[]
}

/** 9999-12-31T23:59:59Z: the last instant, which also means "no expiry" (IEEE 802.1AR; RFC 5280, section 4.1.2.5). */
export const lastInstant: Instant = 253_402_300_799_000
/** 1950-01-01T00:00:00Z: the first instant of UTCTime (RFC 5280, section 4.1.2.5.1). */
const firstInstant: Instant = -631_152_000_000

export function decideValidity(request: ValidityRequest, terms: ValidityTerms): DecidedValidity {
  const begin = decideBegin(request, terms)
  const requestedEnd = decideEnd(request, terms)
  const end = boundByIssuer(requestedEnd.value, terms)
  const validity: Validity = { notBefore: begin.value, notAfter: end.value }
  const decisions = [begin, requestedEnd, end]
  const violations = [...requestViolations(request), ...decisions.flatMap(({ violations }) => violations)]
  return {
    validity,
    // If one end was rejected, the order of the ends is not checked.
    violations: violations.length > 0 ? violations : orderViolations(validity, terms.now),
    warnings: decisions.flatMap(({ warnings }) => warnings),
  }
}

/** Decided instant or duration, with its violations and warnings. */
interface Decided {
  readonly value: number
  readonly violations: readonly Violation[]
  readonly warnings: readonly string[]
}

const decided = (value: number, warnings: readonly string[] = []): Decided => ({
  value,
  violations: [],
  warnings,
})

const refused = (rule: string, field: keyof ValidityRequest, name: string, message: string): Decided => ({
  value: 0,
  violations: [{ rule, name, field: [field], message }],
  warnings: [],
})

function requestViolations({ ttlMs, notAfter }: ValidityRequest): readonly Violation[] {
  if (ttlMs < 0) return refused("ttlIsPositive", "ttlMs", `${ttlMs}`, '"ttl" must not be negative').violations
  if (ttlMs === 0 || notAfter === null) return []
  const message = "Either ttl or not_after should be provided. Both should not be provided in the same request."
  return refused("oneEndIsGiven", "notAfter", formatTimestamp(notAfter), message).violations
}

/** Decides `notBefore`. A requested value is raised to the issuer's. A default is not: it only depends on `notBeforeDurationMs`. */
function decideBegin(request: ValidityRequest, terms: ValidityTerms): Decided {
  const { issuer, rules } = terms
  const requested = requestedBegin(request, terms)
  if (request.notBefore === null && rules.notBefore === null) return requested
  // An issuer that is not valid yet cannot sign (`pathViolations`).
  const hasBegun = issuer !== undefined && issuer.notBefore <= terms.now
  if (!hasBegun || requested.violations.length > 0 || requested.value >= issuer.notBefore) return requested
  const [early, earliest] = [formatTimestamp(requested.value), formatTimestamp(issuer.notBefore)]
  const warning = `notBefore of ${early} is before the issuing certificate's, so ${earliest} is being used`
  return decided(issuer.notBefore, [warning])
}

function requestedBegin(request: ValidityRequest, { rules, now }: ValidityTerms): Decided {
  if (rules.notBefore !== null) return decided(wholeSecond(rules.notBefore))
  const backdated = now - rules.notBeforeDurationMs
  if (request.notBefore === null) return decided(wholeSecond(backdated))
  const requested = wholeSecond(request.notBefore)
  const refuse = (message: string) =>
    refused("notBeforeIsWithinBound", "notBefore", formatTimestamp(requested), `not_before_bound is set to ${message}`)
  const isTooEarly = (earliest: Instant) => requested < wholeSecond(earliest)
  const tooEarly = `Cannot satisfy request as it would result in notBefore of ${formatTimestamp(requested)} that is`
  switch (rules.notBeforeBound) {
    case "permit":
      return decided(requested)
    case "forbid":
      return refuse("forbid. not_before cannot be provided.")
    case "duration":
      return isTooEarly(backdated)
        ? refuse(
            `duration. ${tooEarly} older than the allowed not_before_duration of ${formatDuration(rules.notBeforeDurationMs)}`,
          )
        : decided(requested)
    default: {
      const earliest = formatTimestamp(rules.notBeforeBound)
      return isTooEarly(rules.notBeforeBound)
        ? refuse(`${earliest}. ${tooEarly} earlier than the minimum timestamp of ${earliest}`)
        : decided(requested)
    }
  }
}

function decideEnd(request: ValidityRequest, terms: ValidityTerms): Decided {
  const { rules, now } = terms
  const ttl = decideTtl(request, terms)
  const lastOfTtl = lastWithin(ttl.value, now)
  const end = rules.notAfter ?? request.notAfter
  if (end === null) return withinTimestamp(lastOfTtl, "ttlMs", terms, ttl.warnings)
  const notAfter = wholeSecond(end)
  if (rules.notAfter !== null) {
    const isIgnored = request.ttlMs > 0 || request.notAfter !== null
    const warning = `the role is set with "not_after", so the end of validity in the request is ignored`
    return withinTimestamp(notAfter, "notAfter", terms, isIgnored ? [warning] : [])
  }
  const refuse = (message: string) =>
    refused("notAfterIsWithinBound", "notAfter", formatTimestamp(end), `not_after_bound is set to ${message}`)
  if (rules.notAfterBound === "forbid") return refuse("forbid. not_after cannot be provided.")
  const maxTtlMs = maxTtlOf(terms)
  const last = lastWithin(maxTtlMs, now)
  if (typeof rules.notAfterBound === "number" || notAfter <= last)
    return withinTimestamp(notAfter, "notAfter", terms, [])
  const beyond = `notAfter of ${formatTimestamp(notAfter)} is beyond the permitted maxTTL "${formatDuration(maxTtlMs)}"`
  return rules.notAfterBound === "ttl-limited"
    ? decided(last, [`${beyond}, so ${formatTimestamp(last)} is being used`])
    : decided(notAfter, [`${beyond}, which "not_after" may exceed here`])
}

/** Returns the last second of a certificate with this lifetime from now on. */
const lastWithin = (durationMs: number, now: Instant): Instant => wholeSecond(now + durationMs) - secondMs

const maxTtlOf = ({ rules, mountTtls }: Pick<ValidityTerms, "rules" | "mountTtls">): number =>
  rules.maxTtlMs || mountTtls.maximumMs

/**
 * Returns the lifetime in milliseconds of a certificate without `not_after`. A ttl above the maximum is cut with a warning, as in
 * Vault.
 */
function decideTtl(request: ValidityRequest, terms: ValidityTerms): Decided {
  const { rules, mountTtls } = terms
  const ttlMs = request.ttlMs || rules.ttlMs || mountTtls.defaultMs
  const maxTtlMs = maxTtlOf(terms)
  if (ttlMs <= maxTtlMs) return decided(ttlMs)
  const [requested, maxTtl] = [formatDuration(ttlMs), formatDuration(maxTtlMs)]
  return decided(maxTtlMs, [`TTL "${requested}" is longer than permitted maxTTL "${maxTtl}", so maxTTL is being used`])
}

function withinTimestamp(
  notAfter: Instant,
  field: keyof ValidityRequest,
  { rules }: ValidityTerms,
  warnings: readonly string[],
): Decided {
  const bound = rules.notAfterBound
  if (typeof bound !== "number" || notAfter <= bound) return decided(notAfter, warnings)
  const [requested, latest] = [formatTimestamp(notAfter), formatTimestamp(bound)]
  const message = `not_after_bound is set to ${latest}. Cannot satisfy request as that would result in notAfter of ${requested} that is beyond the maximum timestamp of ${latest}`
  return refused("notAfterIsWithinBound", field, requested, message)
}

function boundByIssuer(notAfter: Instant, { issuer, beyondIssuer, now }: ValidityTerms): Decided {
  if (issuer === undefined || notAfter <= issuer.notAfter) return decided(notAfter)
  const [requested, latest] = [formatTimestamp(notAfter), formatTimestamp(issuer.notAfter)]
  switch (behaviorBeyond(issuer.leafNotAfterBehavior, beyondIssuer)) {
    case "permit":
      return decided(notAfter)
    case "truncate":
      return issuer.notAfter < now
        ? refused("notAfterIsAhead", "notAfter", latest, pastMessage(latest))
        : decided(issuer.notAfter, [
            `notAfter of ${requested} is beyond the issuing certificate's, so ${latest} is being used`,
          ])
    default: {
      const message = `cannot satisfy request, as TTL would result in notAfter of ${requested} that is beyond the expiration of the CA certificate at ${latest}`
      return refused("notAfterIsWithinIssuer", "notAfter", requested, message)
    }
  }
}

function behaviorBeyond(
  behavior: LeafNotAfterBehavior,
  beyondIssuer: ValidityTerms["beyondIssuer"],
): LeafNotAfterBehavior {
  return beyondIssuer === "truncate" && behavior !== "always_enforce_err" ? "truncate" : behavior
}

function orderViolations({ notBefore, notAfter }: Validity, now: Instant): readonly Violation[] {
  const refuse = (rule: string, field: keyof ValidityRequest, instant: Instant, message: (text: string) => string) => {
    const text = formatTimestamp(instant)
    return refused(rule, field, text, message(text)).violations
  }
  if (notBefore < firstInstant)
    return refuse(
      "instantsCanBeWritten",
      "notBefore",
      notBefore,
      (text) => `notBefore of ${text} is before the year 1950`,
    )
  if (notAfter > lastInstant)
    return refuse("instantsCanBeWritten", "notAfter", notAfter, (latest) => `notAfter is beyond ${latest}`)
  if (notAfter < wholeSecond(now)) return refuse("notAfterIsAhead", "notAfter", notAfter, pastMessage)
  if (notAfter >= notBefore) return []
  const begin = formatTimestamp(notBefore)
  return refuse("endsAreInOrder", "notAfter", notAfter, (end) => `notAfter of ${end} is before notBefore of ${begin}`)
}

const pastMessage = (notAfter: string): string => `cannot satisfy request, as NotAfter date ${notAfter} is in the past`

const wholeSecond = (instant: Instant): Instant => Math.floor(instant / secondMs) * secondMs

/** Formats an instant. Instants after the year 9999 are shown as its last second. */
const formatTimestamp = (instant: Instant): string =>
  formatInstant(Math.min(wholeSecond(instant), lastInstant)).replace(".000Z", "Z")
