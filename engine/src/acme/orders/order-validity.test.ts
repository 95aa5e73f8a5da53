import { describe, expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import { dayMs, hourMs, type Instant, minuteMs, secondMs } from "../../core/time.ts"
import { decideValidity } from "../../pki/issuance/validity.ts"
import { roleDefaults } from "../../pki/roles/role.ts"
import {
  type RequestedValidity,
  issuerBoundFor,
  orderValidityRules,
  type OrderValidityTerms,
  rejectOtherValidity,
} from "./order.ts"

const now = Date.UTC(2030, 0, 1)

interface Case extends Partial<RequestedValidity> {
  readonly role?: Partial<OrderValidityTerms["role"]>
  readonly maxTtlMs?: number
  readonly issuer?: Partial<OrderValidityTerms["issuer"]>
}

/** Returns notBefore and notAfter relative to now, or the error text. */
function decided({
  role = {},
  maxTtlMs = 90 * dayMs,
  issuer = {},
  ...given
}: Case): readonly [Instant, Instant] | string {
  const asked: RequestedValidity = { notBefore: null, notAfter: null, ...given }
  const terms: OrderValidityTerms = {
    role: { ...roleDefaults, notAfterBound: "permit", ...role },
    settings: { maxTtlMs },
    mountTtls: { defaultMs: 32 * dayMs, maximumMs: 3_650 * dayMs },
    issuer: {
      notBefore: now - 365 * dayMs,
      notAfter: now + 3_650 * dayMs,
      leafNotAfterBehavior: "err",
      ...issuer,
    },
    now,
  }
  const { notBefore, notAfter } = asked
  const { validity, violations } = decideValidity(
    { ttlMs: 0, notBefore, notAfter },
    {
      ...terms,
      rules: orderValidityRules(asked, terms),
      issuer: issuerBoundFor(asked, terms),
      beyondIssuer: "as-issuer-says",
    },
  )
  const [violation] = violations
  if (violation !== undefined) return String(violation.field?.[0])
  try {
    rejectOtherValidity(asked, validity)
  } catch (error) {
    return isEngineError(error, "invalid") ? "other" : "?"
  }
  return [validity.notBefore - now, validity.notAfter - now]
}

describe("[F-A3] [F-A9] a certificate of an order is valid", () => {
  test.each<readonly [string, Case, readonly [Instant, Instant] | string]>([
    ["for the default lifetime", {}, [-30 * secondMs, 32 * dayMs - secondMs]],
    ["for the role's ttl", { role: { ttlMs: hourMs } }, [-30 * secondMs, hourMs - secondMs]],
    ["for max_ttl from end to end", { role: { ttlMs: 90 * dayMs } }, [-30 * secondMs, 90 * dayMs - 31 * secondMs]],
    [
      "for the role's maximum from end to end",
      { role: { ttlMs: 2 * hourMs, maxTtlMs: hourMs } },
      [-30 * secondMs, hourMs - 31 * secondMs],
    ],
    [
      "for half of a maximum that is shorter than the back-dating",
      { role: { ttlMs: hourMs, notBeforeDurationMs: dayMs }, maxTtlMs: hourMs },
      [-hourMs / 2, hourMs / 2 - secondMs],
    ],
    ["from its issuer's beginning", { issuer: { notBefore: now - 5_000 } }, [-5_000, 32 * dayMs - secondMs]],
    ["not from the role's instant of long ago", { role: { notBefore: 0 } }, [-30 * secondMs, 32 * dayMs - secondMs]],
    ["from the role's instant to come", { role: { notBefore: now + dayMs } }, [dayMs, 32 * dayMs - secondMs]],
    ["until the role's instant", { role: { notAfter: now + dayMs } }, [-30 * secondMs, dayMs]],
    [
      "until max_ttl where the role's instant lies behind it",
      { role: { notAfter: now + 999 * dayMs } },
      [-30 * secondMs, 90 * dayMs - 30 * secondMs],
    ],
    ["from when it asks", { notBefore: now - 20 * secondMs }, [-20 * secondMs, 32 * dayMs - secondMs]],
    ["from when it asks, to come", { notBefore: now + dayMs }, [dayMs, 32 * dayMs - secondMs]],
    ["not from 2015", { notBefore: Date.UTC(2015, 0, 1) }, "notBefore"],
    ["not from beyond the back-dating", { notBefore: now - minuteMs }, "notBefore"],
    [
      "from within the back-dating when it was made",
      { notBefore: now - hourMs, createdAt: now - hourMs },
      [-hourMs, 32 * dayMs - secondMs],
    ],
    ["not from before its issuer", { notBefore: now - 10_000, issuer: { notBefore: now - 5_000 } }, "notBefore"],
    [
      "not from before the bound of the role",
      { notBefore: now - 10_000, role: { notBeforeBound: now - 5_000 } },
      "notBefore",
    ],
    [
      "not from when it asks, where the role forbids that",
      { notBefore: now, role: { notBeforeBound: "forbid" } },
      "notBefore",
    ],
    ["not from when it asks, where the role has an instant", { notBefore: now, role: { notBefore: now } }, "notBefore"],
    ["until when it asks", { notAfter: now + hourMs }, [-30 * secondMs, hourMs]],
    ["until max_ttl from now, without back-dating", { notAfter: now + 90 * dayMs }, [0, 90 * dayMs]],
    ["not beyond max_ttl", { notAfter: now + 90 * dayMs + secondMs }, "notAfter"],
    [
      "not for longer than max_ttl from end to end",
      { notBefore: now - 20_000, notAfter: now + 90 * dayMs },
      "notAfter",
    ],
    [
      "not until when it asks, where the role has an instant",
      { notAfter: now + hourMs, role: { notAfter: now + dayMs } },
      "other",
    ],
    ["not until when it has been over", { notAfter: now - hourMs }, "notAfter"],
    ["until its issuer's end", { issuer: { notAfter: now + dayMs } }, [-30 * secondMs, dayMs]],
    [
      "until its issuer's end with truncate",
      { issuer: { notAfter: now + dayMs, leafNotAfterBehavior: "truncate" } },
      [-30 * secondMs, dayMs],
    ],
    [
      "beyond its issuer, where that is permitted",
      { issuer: { notAfter: now + dayMs, leafNotAfterBehavior: "permit" } },
      [-30 * secondMs, 32 * dayMs - secondMs],
    ],
    [
      "not at all, where its issuer's end must not cut it",
      { issuer: { notAfter: now + dayMs, leafNotAfterBehavior: "always_enforce_err" } },
      "notAfter",
    ],
    ["not at all, where its issuer has ended", { issuer: { notAfter: now - secondMs } }, "notAfter"],
    [
      "not until when it asks, beyond its issuer",
      { notAfter: now + 2 * dayMs, issuer: { notAfter: now + dayMs } },
      "notAfter",
    ],
    [
      "not until when it asks, cut by its issuer",
      { notAfter: now + 2 * dayMs, issuer: { notAfter: now + dayMs, leafNotAfterBehavior: "truncate" } },
      "notAfter",
    ],
  ])("%s", (_how, given, outcome) => {
    expect(decided(given)).toEqual(outcome)
  })
})
