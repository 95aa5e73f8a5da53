import { describe, expect, test } from "vitest"
import * as fc from "fast-check"
import { dayMs, hourMs, type Instant, minuteMs, secondMs } from "../../core/time.ts"
import { leafNotAfterBehaviors } from "../issuers/issuer.ts"
import { roleDefaults } from "../roles/role.ts"
import {
  decideValidity,
  lastInstant,
  rolelessRules,
  type ValidityRequest,
  type ValidityRules,
  type ValidityTerms,
} from "./validity.ts"

const now: Instant = Date.parse("2026-11-21T12:00:00.750Z")
const at = (text: string): Instant => Date.parse(text)

interface Case {
  readonly request?: Partial<ValidityRequest>
  readonly rules?: Partial<ValidityRules>
  readonly terms?: Partial<ValidityTerms>
}

function decide({ request, rules, terms }: Case) {
  const decided = decideValidity(
    { ttlMs: 0, notBefore: null, notAfter: null, ...request },
    {
      rules: { ...roleDefaults, ...rules },
      mountTtls: { defaultMs: 768 * hourMs, maximumMs: 768 * hourMs },
      issuer: undefined,
      beyondIssuer: "as-issuer-says",
      now,
      ...terms,
    },
  )
  const iso = (instant: Instant) => new Date(instant).toISOString().replace(".000Z", "Z")
  return {
    notBefore: iso(decided.validity.notBefore),
    notAfter: iso(decided.validity.notAfter),
    messages: decided.violations.map(({ message }) => message),
    fields: decided.violations.map(({ field }) => field.join(".")),
    warnings: decided.warnings,
  }
}

describe("the lifetime of a certificate", () => {
  test.each<Case & { notAfter: string; why: string }>([
    { notAfter: "2026-12-23T11:59:59Z", why: "the mount's default, including its last second" },
    { request: { ttlMs: hourMs }, notAfter: "2026-11-21T12:59:59Z", why: "the request's ttl" },
    { request: { ttlMs: secondMs }, notAfter: "2026-11-21T12:00:00Z", why: "one second" },
    { rules: { ttlMs: 2 * hourMs }, notAfter: "2026-11-21T13:59:59Z", why: "the role's ttl" },
    {
      request: { ttlMs: hourMs },
      rules: { ttlMs: 2 * hourMs },
      notAfter: "2026-11-21T12:59:59Z",
      why: "the request's ttl has precedence over the role's",
    },
    {
      request: { ttlMs: 2_000 * hourMs },
      rules: { maxTtlMs: 2_000 * hourMs },
      notAfter: "2027-02-12T19:59:59Z",
      why: "the role's max_ttl applies even above the mount's",
    },
    { request: { notAfter: at("2026-12-01T00:00:00Z") }, notAfter: "2026-12-01T00:00:00Z", why: "not_after is exact" },
    {
      request: { notAfter: at("2026-11-22T12:00:00Z") },
      rules: { ttlMs: hourMs, maxTtlMs: 72 * hourMs },
      notAfter: "2026-11-22T12:00:00Z",
      why: "up to the maximum, independent of the default",
    },
    { request: { notAfter: at("2026-12-01T00:00:00.9Z") }, notAfter: "2026-12-01T00:00:00Z", why: "in whole seconds" },
    { rules: { notAfter: at("2030-01-01T00:00:00Z") }, notAfter: "2030-01-01T00:00:00Z", why: "the role's not_after" },
  ])("until $notAfter: $why", ({ notAfter, why: _, ...input }) => {
    expect(decide(input)).toMatchObject({ notAfter, messages: [], warnings: [] })
  })

  test("[P-8-r5] ends at the latest representable second", () => {
    expect(lastInstant).toBe(at("9999-12-31T23:59:59Z"))
    for (const rules of [{ notAfterBound: "permit" } as const, rolelessRules])
      expect(decide({ request: { notAfter: lastInstant }, rules })).toMatchObject({
        notAfter: "9999-12-31T23:59:59Z",
        messages: [],
      })
  })
})

describe("[P-8-r2] [F-P12] a ttl above the maximum", () => {
  const request = { ttlMs: 100 * hourMs }
  const text = 'TTL "100h" is longer than permitted maxTTL "72h", so maxTTL is being used'

  test.each<readonly [string, Case]>([
    ["of the role", { request, rules: { maxTtlMs: 72 * hourMs } }],
    ["of the mount", { request, terms: { mountTtls: { defaultMs: hourMs, maximumMs: 72 * hourMs } } }],
    [
      "from the role's ttl",
      { rules: { ttlMs: 100 * hourMs }, terms: { mountTtls: { defaultMs: 0, maximumMs: 72 * hourMs } } },
    ],
    ["from the mount's default", { terms: { mountTtls: { defaultMs: 100 * hourMs, maximumMs: 72 * hourMs } } }],
  ])("%s is truncated with a warning", (_, input) => {
    expect(decide(input)).toMatchObject({ notAfter: "2026-11-24T11:59:59Z", messages: [], warnings: [text] })
  })

  test("is not truncated when it equals the maximum", () => {
    expect(decide({ request: { ttlMs: 72 * hourMs }, rules: { maxTtlMs: 72 * hourMs } })).toMatchObject({
      notAfter: "2026-11-24T11:59:59Z",
      messages: [],
      warnings: [],
    })
  })

  test.each([
    { ttlMs: 90 * secondMs, written: "1m30s" },
    { ttlMs: 45 * secondMs, written: "45s" },
    { ttlMs: 2 * hourMs + 5 * secondMs, written: "2h5s" },
    { ttlMs: 30 * dayMs, written: "720h" },
  ])("is formatted as $written", ({ ttlMs, written }) => {
    expect(decide({ request: { ttlMs }, rules: { maxTtlMs: secondMs } }).warnings).toEqual([
      `TTL "${written}" is longer than permitted maxTTL "1s", so maxTTL is being used`,
    ])
  })
})

describe("not_after beyond the maximum ttl", () => {
  const request = { notAfter: at("2030-01-01T00:00:00Z") }
  const beyond = (maximum: string) => `notAfter of 2030-01-01T00:00:00Z is beyond the permitted maxTTL "${maximum}"`

  test.each<{ why: string; rules: Partial<ValidityRules>; maximum: string; notAfter: string }>([
    { why: "of the role", rules: { maxTtlMs: 24 * hourMs }, maximum: "24h", notAfter: "2026-11-22T11:59:59Z" },
    { why: "of the mount alone", rules: {}, maximum: "768h", notAfter: "2026-12-23T11:59:59Z" },
    {
      why: "of the role, independent of its ttl",
      rules: { ttlMs: hourMs, maxTtlMs: 24 * hourMs },
      maximum: "24h",
      notAfter: "2026-11-22T11:59:59Z",
    },
  ])("[F-P1] $why is truncated with a warning by a new role", ({ rules, maximum, notAfter }) => {
    expect(roleDefaults.notAfterBound).toBe("ttl-limited")
    expect(decide({ request, rules })).toMatchObject({
      notAfter,
      messages: [],
      warnings: [`${beyond(maximum)}, so ${notAfter} is being used`],
    })
  })

  test.each<{ why: string; rules: Partial<ValidityRules>; maximum: string }>([
    { why: "with not_after_bound permit", rules: { notAfterBound: "permit", maxTtlMs: 24 * hourMs }, maximum: "24h" },
    { why: "without a role", rules: rolelessRules, maximum: "768h" },
  ])("[F-P1] is accepted with a warning $why", ({ rules, maximum }) => {
    expect(decide({ request, rules })).toMatchObject({
      notAfter: "2030-01-01T00:00:00Z",
      messages: [],
      warnings: [`${beyond(maximum)}, which "not_after" may exceed here`],
    })
  })
})

describe("a rejected end of validity", () => {
  test.each<Case & { message: string; why: string }>([
    {
      request: { ttlMs: hourMs, notAfter: at("2030-01-01T00:00:00Z") },
      message: "Either ttl or not_after should be provided. Both should not be provided in the same request.",
      why: "ttl and not_after",
    },
    { request: { ttlMs: -1 }, message: '"ttl" must not be negative', why: "a negative ttl" },
    {
      request: { notAfter: at("2026-11-21T11:59:59Z") },
      message: "cannot satisfy request, as NotAfter date 2026-11-21T11:59:59Z is in the past",
      why: "an end in the past",
    },
    {
      request: { notAfter: at("2026-11-21T14:00:00Z"), notBefore: at("2026-11-21T15:00:00Z") },
      message: "notAfter of 2026-11-21T14:00:00Z is before notBefore of 2026-11-21T15:00:00Z",
      why: "an end before the beginning",
    },
    {
      request: { ttlMs: 100_000_000 * hourMs },
      rules: { maxTtlMs: 100_000_000 * hourMs },
      message: "notAfter is beyond 9999-12-31T23:59:59Z",
      why: "a year of five digits",
    },
    {
      request: { notAfter: at("2030-01-01T00:00:00Z") },
      rules: { notAfterBound: "forbid" },
      message: "not_after_bound is set to forbid. not_after cannot be provided.",
      why: "the role forbids it",
    },
    {
      request: { notAfter: at("2030-01-01T00:00:01Z") },
      rules: { notAfterBound: at("2030-01-01T00:00:00Z") },
      message:
        "not_after_bound is set to 2030-01-01T00:00:00Z. Cannot satisfy request as that would result in notAfter of 2030-01-01T00:00:01Z that is beyond the maximum timestamp of 2030-01-01T00:00:00Z",
      why: "past the bound",
    },
    {
      request: { ttlMs: hourMs },
      rules: { notAfterBound: at("2026-11-21T12:30:00Z") },
      message:
        "not_after_bound is set to 2026-11-21T12:30:00Z. Cannot satisfy request as that would result in notAfter of 2026-11-21T12:59:59Z that is beyond the maximum timestamp of 2026-11-21T12:30:00Z",
      why: "the bound applies to a ttl as well",
    },
  ])("$message: $why", ({ message, why: _, ...input }) => {
    expect(decide(input).messages).toEqual([message])
  })

  test("values within the bounds of a role are accepted", () => {
    const request = { notAfter: at("2026-11-21T12:59:59Z") }
    expect(decide({ request, rules: { notAfterBound: "ttl-limited", maxTtlMs: hourMs } }).messages).toEqual([])
    expect(decide({ request, rules: { notAfterBound: request.notAfter } }).messages).toEqual([])
    expect(decide({ rules: { notAfterBound: "forbid" } }).messages).toEqual([])
  })

  test("a role's not_after replaces the request's with a warning", () => {
    const rules = { notAfter: at("2027-01-01T00:00:00Z"), notAfterBound: "forbid" } as const
    const warnings = [`the role is set with "not_after", so the end of validity in the request is ignored`]
    for (const request of [{ notAfter: at("2030-01-01T00:00:00Z") }, { ttlMs: hourMs }])
      expect(decide({ request, rules })).toMatchObject({ notAfter: "2027-01-01T00:00:00Z", messages: [], warnings })
  })
})

describe("the beginning of a certificate", () => {
  test.each<Case & { notBefore: string; why: string }>([
    { notBefore: "2026-11-21T11:59:30Z", why: "thirty seconds ago" },
    { rules: { notBeforeDurationMs: 0 }, notBefore: "2026-11-21T12:00:00Z", why: "now, in whole seconds" },
    { rules: { notBeforeDurationMs: 10 * minuteMs }, notBefore: "2026-11-21T11:50:00Z", why: "as the role says" },
    {
      request: { notBefore: at("2026-11-22T00:00:00Z") },
      notBefore: "2026-11-22T00:00:00Z",
      why: "as the request says",
    },
    {
      request: { notBefore: at("2026-11-22T00:00:00Z") },
      rules: { notBefore: at("2026-01-01T00:00:00Z"), notBeforeBound: "forbid" },
      notBefore: "2026-01-01T00:00:00Z",
      why: "the role's not_before replaces the request's",
    },
    {
      request: { notBefore: at("2026-11-21T11:59:30Z") },
      rules: { notBeforeBound: "duration" },
      notBefore: "2026-11-21T11:59:30Z",
      why: "no earlier than the backdating",
    },
  ])("$notBefore: $why", ({ notBefore, why: _, ...input }) => {
    expect(decide(input)).toMatchObject({ notBefore, messages: [] })
  })

  test.each<Case & { message: string }>([
    {
      request: { notBefore: at("2026-11-21T11:59:30Z") },
      rules: { notBeforeBound: "forbid" },
      message: "not_before_bound is set to forbid. not_before cannot be provided.",
    },
    {
      request: { notBefore: at("2026-11-21T11:59:29Z") },
      rules: { notBeforeBound: "duration" },
      message:
        "not_before_bound is set to duration. Cannot satisfy request as it would result in notBefore of 2026-11-21T11:59:29Z that is older than the allowed not_before_duration of 30s",
    },
    {
      request: { notBefore: at("2025-12-31T23:59:59Z") },
      rules: { notBeforeBound: at("2026-01-01T00:00:00Z") },
      message:
        "not_before_bound is set to 2026-01-01T00:00:00Z. Cannot satisfy request as it would result in notBefore of 2025-12-31T23:59:59Z that is earlier than the minimum timestamp of 2026-01-01T00:00:00Z",
    },
    {
      request: { notBefore: at("1949-12-31T23:59:59Z") },
      rules: { notBeforeBound: "permit" },
      message: "notBefore of 1949-12-31T23:59:59Z is before the year 1950",
    },
  ])("$message", ({ message, ...input }) => {
    expect(decide(input)).toMatchObject({ messages: [message], fields: ["notBefore"] })
  })

  const issuer = { notBefore: at("2026-11-21T11:59:50Z"), notAfter: at("2030-01-01T00:00:00Z") }
  const underIssuer = { terms: { issuer: { ...issuer, leafNotAfterBehavior: "err" } } } as const
  const clamped = (early: string) =>
    `notBefore of ${early} is before the issuing certificate's, so 2026-11-21T11:59:50Z is being used`

  test("the default backdating may begin before the issuer", () => {
    expect(decide(underIssuer)).toMatchObject({ notBefore: "2026-11-21T11:59:30Z", messages: [], warnings: [] })
  })

  test.each<Case & { why: string; notBefore?: string; warnings: readonly string[] }>([
    {
      why: "a request's not_before",
      request: { notBefore: at("2015-01-01T00:00:00Z") },
      rules: { notBeforeBound: "permit" },
      warnings: [clamped("2015-01-01T00:00:00Z")],
    },
    {
      why: "a role's not_before",
      rules: { notBefore: at("2015-01-01T00:00:00Z") },
      warnings: [clamped("2015-01-01T00:00:00Z")],
    },
  ])("[F-P1] $why never begins before the issuer", ({ warnings, ...input }) => {
    expect(decide({ ...underIssuer, ...input })).toMatchObject({
      notBefore: "2026-11-21T11:59:50Z",
      messages: [],
      warnings,
    })
  })

  test("[F-P1] a new role rejects a not_before earlier than its backdating", () => {
    expect(roleDefaults.notBeforeBound).toBe("duration")
    expect(decide({ request: { notBefore: at("2015-01-01T00:00:00Z") } }).fields).toEqual(["notBefore"])
  })

  test("[P-4.8-r14] backdating does not change the end", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: dayMs }),
        fc.integer({ min: secondMs, max: 700 * hourMs }),
        (backdating, ttlMs) => {
          const plain = decide({ request: { ttlMs }, rules: { notBeforeDurationMs: 0 } })
          const backdated = decide({ request: { ttlMs }, rules: { notBeforeDurationMs: backdating } })
          expect(backdated.notAfter).toBe(plain.notAfter)
          expect(Date.parse(backdated.notBefore)).toBe(Math.floor((now - backdating) / secondMs) * secondMs)
        },
      ),
    )
  })
})

describe("a certificate that would outlive its issuer", () => {
  const issuerEnd = "2026-11-30T00:00:00Z"
  const issued = (behavior: (typeof leafNotAfterBehaviors)[number], terms: Partial<ValidityTerms> = {}): Case => ({
    terms: { issuer: { notBefore: 0, notAfter: at(issuerEnd), leafNotAfterBehavior: behavior }, ...terms },
  })
  const refusal =
    "cannot satisfy request, as TTL would result in notAfter of 2026-12-23T11:59:59Z that is beyond the expiration of the CA certificate at 2026-11-30T00:00:00Z"
  const truncation = `notAfter of 2026-12-23T11:59:59Z is beyond the issuing certificate's, so ${issuerEnd} is being used`

  test("of an end entity is handled by leaf_not_after_behavior of the issuer", () => {
    expect(decide(issued("err"))).toMatchObject({ messages: [refusal], fields: ["notAfter"] })
    expect(decide(issued("always_enforce_err")).messages).toEqual([refusal])
    expect(decide(issued("truncate"))).toMatchObject({ notAfter: issuerEnd, messages: [], warnings: [truncation] })
    expect(decide(issued("permit"))).toMatchObject({ notAfter: "2026-12-23T11:59:59Z", messages: [], warnings: [] })
  })

  test("of a CA, or signed verbatim, ends with its issuer unless the issuer always enforces its behavior", () => {
    const terms = { beyondIssuer: "truncate" } as const
    for (const behavior of ["err", "truncate", "permit"] as const)
      expect(decide(issued(behavior, terms))).toMatchObject({
        notAfter: issuerEnd,
        messages: [],
        warnings: [truncation],
      })
    expect(decide(issued("always_enforce_err", terms)).messages).toEqual([refusal])
  })

  test("is not truncated to an end in the past", () => {
    const past = {
      issuer: { notBefore: 0, notAfter: at("2026-11-21T11:00:00Z"), leafNotAfterBehavior: "truncate" },
    } as const
    const message = "cannot satisfy request, as NotAfter date 2026-11-21T11:00:00Z is in the past"
    expect(decide({ terms: past }).messages).toEqual([message])
  })

  test("by less than a second is accepted", () => {
    for (const behavior of leafNotAfterBehaviors)
      expect(decide({ ...issued(behavior), request: { notAfter: at(issuerEnd) } })).toMatchObject({
        notAfter: issuerEnd,
        messages: [],
        warnings: [],
      })
  })
})

test("no certificate lives longer than its ttl, its maximum and its issuer, or begins after it ends", () => {
  const durations = fc.integer({ min: 0, max: 2_000 * hourMs })
  const cases = fc.record({
    now: fc.integer({ min: at("1970-01-01T00:00:00Z"), max: at("2200-01-01T00:00:00Z") }),
    ttlMs: durations,
    rules: fc.record({ ttlMs: durations, maxTtlMs: durations, notBeforeDurationMs: durations }),
    maximumMs: fc.integer({ min: secondMs, max: 2_000 * hourMs }),
    issuerMs: fc.integer({ min: -hourMs, max: 2_000 * hourMs }),
    leafNotAfterBehavior: fc.constantFrom("err", "truncate"),
  })
  fc.assert(
    fc.property(cases, ({ now, ttlMs, rules, maximumMs, issuerMs, leafNotAfterBehavior }) => {
      const issuer = {
        notBefore: -631_152_000_000,
        notAfter: Math.floor((now + issuerMs) / secondMs) * secondMs,
        leafNotAfterBehavior,
      }
      const terms = { now, issuer, mountTtls: { defaultMs: maximumMs, maximumMs } }
      const decided = decideValidity(
        { ttlMs, notBefore: null, notAfter: null },
        { ...terms, rules: { ...roleDefaults, ...rules }, beyondIssuer: "as-issuer-says" },
      )
      const longest = rules.maxTtlMs || maximumMs
      if (decided.violations.length > 0) return
      const { notBefore, notAfter } = decided.validity
      // Validity includes its last second.
      expect(notAfter + secondMs - now).toBeLessThanOrEqual(Math.min(ttlMs || rules.ttlMs || maximumMs, longest))
      expect(notAfter).toBeLessThanOrEqual(issuer.notAfter)
      expect(notBefore).toBeLessThanOrEqual(notAfter)
      expect([notBefore, notAfter].every((instant) => Number.isInteger(instant / secondMs))).toBe(true)
    }),
  )
})
